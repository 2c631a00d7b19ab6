"""Leases in the admin: who holds what and since when; a manager takes one away, and only the one that was looked at."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conflicts import leases
from conflicts.leases import Grant
from conflicts.models import Lease, LeaseEvent
from conflicts.refs import Ref
from tests import cast
from tests.admin.conftest import signed_in

pytestmark = pytest.mark.django_db

LIST = "admin:conflicts_lease_changelist"


def held(key: str = "crm.import:1", *, unit: str = "import 31") -> Grant:
    grant = leases.acquire(key, by=cast.AGENT, unit=unit, reason="reading a file", seconds=300)
    assert isinstance(grant, Grant)
    return grant


def row(key: str = "crm.import:1") -> Lease:
    return Lease.objects.get(key=key)


def runs_out(key: str = "crm.import:1") -> None:
    Lease.objects.filter(key=key).update(expires_at="2000-01-01T00:00Z")


def page(client: Client, name: str = "change", key: str = "crm.import:1", **said: Any) -> Any:
    return client.get(reverse(f"admin:conflicts_lease_{name}", args=[row(key).pk]), said)


def press(client: Client, key: str = "crm.import:1", **said: Any) -> Any:
    """The confirmation, sent; with the token of the lease as it is unless another is said."""
    sent = {"seen": row(key).fence, "why": "It hangs"} | said
    address = reverse("admin:conflicts_lease_decide", args=[row(key).pk])
    return client.post(address, {name: value for name, value in sent.items() if value is not None})


def in_force(grant: Grant) -> bool:
    return leases.in_force([grant.claim]) == {grant.claim}


def test_it_is_seen_who_holds_what_and_why(manuela: Client) -> None:
    held()
    for answer in (manuela.get(reverse(LIST)), page(manuela)):
        text = answer.content.decode()
        for words in ("Follow-up agent", "crm.import:1", "import 31", "reading a file", "in force"):
            assert words in text, words


def test_a_lease_that_was_taken_over_says_from_what(ada: Client) -> None:
    held()
    runs_out()
    held(unit="import 32")
    assert "taken over from import 31" in ada.get(reverse(LIST)).content.decode()
    text = page(ada).content.decode()
    assert "import 31, which had gone silent (token 1)" in text
    assert "Taken over after expiry" in text


@pytest.mark.parametrize(
    ("query", "found"),
    [({}, {"a", "b", "c"}), ({"force": "held"}, {"a"}), ({"force": "ended"}, {"b", "c"}), ({"force": "x"}, {*"abc"})],
)
def test_filter_in_force_or_ended(ada: Client, query: dict[str, str], found: set[str]) -> None:
    held("a")
    leases.release(held("b"))
    held("c")
    runs_out("c")
    assert {lease.key for lease in ada.get(reverse(LIST), query).context["cl"].result_list} == found


def test_a_manager_breaks_a_lease_and_that_is_kept(manuela: Client) -> None:
    grant = held()
    assert "Break lease" in page(manuela).content.decode()
    asked = page(manuela, "decide").content.decode()
    assert "Take crm.import:1 away from Follow-up agent" in asked
    assert in_force(grant), "looking breaks nothing"

    answer = press(manuela)

    assert answer.status_code == 302
    assert not in_force(grant)
    event = LeaseEvent.objects.get(kind="broken")
    assert (event.by.split(":")[2], event.detail["why"], event.fence) == ("Manuela Moraes", "It hangs", 1)
    after = page(manuela).content.decode()
    assert "Break lease" not in after
    assert "Broken by a manager" in after
    assert "It hangs" in after


def test_the_second_press_is_told_who_was_first(manuela: Client, ada: Client) -> None:
    held()
    shown = row().fence
    press(manuela, seen=shown)
    answer = press(ada, seen=shown)
    assert answer.status_code == 409
    assert "Manuela Moraes has broken this lease already" in answer.content.decode()
    assert LeaseEvent.objects.filter(kind="broken").count() == 1


def test_who_took_it_up_meanwhile_keeps_it(manuela: Client) -> None:
    first = held()
    shown = row().fence
    leases.release(first)
    second = held(unit="import 32")

    answer = press(manuela, seen=shown)

    assert answer.status_code == 409
    assert "the work was taken up anew" in answer.content.decode()
    assert in_force(second)
    assert not LeaseEvent.objects.filter(kind="broken").exists()


def test_what_ran_out_meanwhile_is_not_broken(manuela: Client) -> None:
    held()
    runs_out()
    answer = press(manuela)
    assert answer.status_code == 409
    assert "has ended by itself" in answer.content.decode()
    assert "Break lease" not in page(manuela, "decide").content.decode()


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"why": ""}, 422),
        ({"why": " "}, 422),
        ({"why": "x" * 201}, 422),
        ({"why": "a\x00b"}, 400),
        ({"seen": None}, 428),
    ],
)
def test_without_a_reason_or_a_token_nothing_is_broken(manuela: Client, said: dict[str, Any], status: int) -> None:
    grant = held()
    assert press(manuela, **said).status_code == status
    assert in_force(grant)


@pytest.mark.parametrize("token", ["2", "-1", "²", "x", "9" * 40])
def test_a_token_that_is_none_breaks_nothing(manuela: Client, token: str) -> None:
    grant = held()
    assert press(manuela, seen=token).status_code == 409
    assert in_force(grant)


def test_others_meet_a_403(ada: Client) -> None:
    grant = held()
    staff = cast.bob()
    staff.is_staff = True  # may look, and is no manager
    staff.save()
    for person in (cast.alice(), staff):
        assert press(signed_in(person)).status_code == 403
    assert "Break lease" not in page(signed_in(staff)).content.decode()
    assert press(Client()).status_code == 401
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(cast.administrator())
    assert press(strict).status_code == 403
    assert in_force(grant)


def test_a_manager_does_not_meet_the_work_on_another_teams_deal(manuela: Client, ada: Client) -> None:
    theirs = f"work:{Ref.of(cast.deal('Theirs', owner=cast.charlie()))}"
    ours = f"work:{Ref.of(cast.deal('Ours'))}"
    grant = held(theirs)
    held(ours)
    assert {lease.key for lease in manuela.get(reverse(LIST)).context["cl"].result_list} == {ours}
    assert page(manuela, key=theirs).status_code == 404
    assert press(manuela, key=theirs).status_code == 404
    assert in_force(grant)
    assert page(ada, key=theirs).status_code == 200


def test_nothing_else_writes(ada: Client) -> None:
    held()
    before = Lease.objects.values().get()
    address = reverse("admin:conflicts_lease_change", args=[row().pk])
    assert ada.post(address, {"holder": ""}).status_code == 403
    assert ada.post(reverse("admin:conflicts_lease_delete", args=[row().pk]), {"post": "yes"}).status_code == 403
    assert ada.post(reverse("admin:conflicts_lease_add"), {}).status_code == 403
    assert Lease.objects.values().get() == before


def test_a_holders_key_is_never_shown_whole_and_of_a_reviewers_claim_nothing(manuela: Client) -> None:
    for key, start in (("crm.import:1", True), ("conflict:77", False)):
        holder = held(key).claim.holder
        shown = page(manuela, key=key).content.decode()
        assert holder not in shown
        assert (f"{holder[:4]}…" in shown) is start
