"""Limits: counted in Redis; with Redis away agents wait and people work."""

import pytest
import redis

from conflicts import limits
from tests import cast
from tests.races.threads import together

CONTACT = "contact:1"


@pytest.fixture(autouse=True)
def _rates(settings):  # type: ignore[no-untyped-def]
    settings.VIGENTE_LIMITS = {"channel": "1000/hour", "channel:whatsapp": "3/hour", "model": "2/minute"}
    client = limits._storage().storage
    for key in client.scan_iter(f"{limits.PREFIX}*"):
        client.delete(key)


def whatsapp(who: str = CONTACT) -> limits.Allowance:
    return limits.take("channel:whatsapp", who, by=cast.AGENT)


def test_what_fits_is_allowed_and_the_next_is_told_when_to_come_again() -> None:
    assert [bool(whatsapp()) for _ in range(4)] == [True, True, True, False]
    assert 0 < whatsapp().retry_after <= 3600


def test_each_contact_has_a_count_of_its_own() -> None:
    for _ in range(3):
        whatsapp()
    assert whatsapp("contact:2")


def test_the_longest_name_counts() -> None:
    assert limits.rate("channel:whatsapp").amount == 3  # type: ignore[union-attr]
    assert limits.rate("channel:sms").amount == 1000  # type: ignore[union-attr]
    assert limits.rate("api:other") is None
    assert limits.take("api:other", by=cast.AGENT)


def test_a_name_is_met_by_whole_words() -> None:
    assert limits.rate("channel:whatsapp:brazil").amount == 3  # type: ignore[union-attr]
    assert limits.rate("channel:whatsapp2").amount == 1000  # type: ignore[union-attr]
    assert limits.rate("models") is None


def test_each_of_what_is_limited_has_its_own_name() -> None:
    for _ in range(2):
        assert limits.of_model("gpt", by=cast.AGENT)
    assert not limits.of_model("gpt", by=cast.AGENT)
    assert limits.of_model("other", by=cast.AGENT)
    for _ in range(3):
        assert limits.of_contact("whatsapp", CONTACT, by=cast.AGENT)
    assert not limits.of_contact("whatsapp", CONTACT, by=cast.AGENT)
    assert limits.of_contact("sms", CONTACT, by=cast.AGENT)
    assert limits.of_destination("mailer", by=cast.AGENT)


def test_a_cost_that_does_not_fit_counts_nothing() -> None:
    assert limits.take("model", by=cast.AGENT)
    assert not limits.take("model", by=cast.AGENT, cost=2)
    assert limits.take("model", by=cast.AGENT)


def test_twenty_at_once_get_exactly_what_there_is() -> None:
    assert sum(bool(answer) for answer in together(*[whatsapp] * 20)) == 3


def test_the_count_expires_by_itself() -> None:
    whatsapp()
    client = limits._storage().storage
    keys = list(client.scan_iter(f"{limits.PREFIX}*"))
    assert keys
    assert all(client.pttl(key) > 0 for key in keys)


@pytest.mark.django_db
class TestWithRedisAway:
    @pytest.fixture(autouse=True)
    def _away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pool = limits._storage().storage.connection_pool
        monkeypatch.setattr(pool, "get_connection", _refuse)

    def test_an_agent_waits(self) -> None:
        answer = whatsapp()
        assert not answer
        assert answer.retry_after > 0
        assert not answer.counted

    def test_a_person_works_and_it_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        answer = limits.take("channel:whatsapp", CONTACT, by=cast.actors.person(cast.alice()))
        assert answer
        assert not answer.counted
        assert "not counted" in caplog.text


def _refuse(*args: object, **kwargs: object) -> None:
    raise redis.ConnectionError("there is nobody")
