"""Back-pressure: an agent proposes no faster than people decide, says so, and goes on by itself."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents import recommendations, sweeps
from agents.models import AutonomyPolicy, Mode, Recommendation, Verdict
from agents.states import State
from conflicts import actors
from crm.models import Opportunity, Task, User
from tests import cast
from tests.agents.suggested import NOW

pytestmark = pytest.mark.django_db
WAITS = "The agent waits: 2 suggestions are waiting for you. Decide some and it goes on."


@pytest.fixture(autouse=True)
def _two_at_most(settings: Any) -> None:
    settings.VIGENTE_WAITING_PER_PERSON = 2


def deals(count: int, **params: Any) -> list[Opportunity]:
    return [cast.deal(f"Deal {number}", **params) for number in range(count)]


def nobodys(count: int) -> None:
    cast.pipeline()
    by = actors.integration("import", "Import")
    for number in range(count):
        assert cast.propose("opportunity.create", by=by, name=f"Nobody's {number}").written


def decline(one: Recommendation) -> None:
    told = recommendations.decline(one, by=actors.person(cast.alice()), now=NOW, reason="wrong_step")
    assert told.done


def page(user: User, name: str, **query: str) -> str:
    client = Client()
    client.force_login(user)
    return str(client.get(reverse(name), query).content.decode())


def test_no_more_than_the_limit_wait_and_each_other_deal_gets_the_reason() -> None:
    deals(5)

    run = sweeps.sweep(now=NOW)

    assert (run.looked_at, run.proposed, run.passed) == (5, 2, {"Q": 3})
    assert Recommendation.objects.open().count() == 2
    told = {str(verdict.told) for verdict in Verdict.objects.filter(code="Q")}
    [words] = told
    assert words.startswith("Suggestions that wait for Alice")
    assert ": 2. The agent goes on as soon as some of them are decided." in words


def test_the_most_urgent_are_proposed_first() -> None:
    deals(3)
    [late] = deals(1, amount="90000")

    sweeps.sweep(now=NOW)

    assert Recommendation.objects.open().filter(opportunity=late).exists()


def test_it_waits_in_peace_and_goes_on_with_the_first_sweep_after_a_decision() -> None:
    deals(4)
    sweeps.sweep(now=NOW)
    assert sweeps.sweep(now=NOW).looked_at == 0, "nobody has decided anything"

    decline(Recommendation.objects.open().first())  # type: ignore[arg-type]
    run = sweeps.sweep(now=NOW)

    assert (run.proposed, run.passed) == (1, {"G8": 1, "Q": 1})
    assert Recommendation.objects.open().count() == 2


def test_what_was_put_off_does_not_count() -> None:
    deals(3)
    sweeps.sweep(now=NOW)
    one = Recommendation.objects.open().first()
    assert one is not None
    assert recommendations.snooze(one, by=actors.person(cast.alice()), now=NOW, until=cast.TUESDAY).done

    assert sweeps.sweep(now=NOW).proposed == 1


def test_one_persons_full_queue_holds_up_nobody_else() -> None:
    deals(3)
    sweeps.sweep(now=NOW)
    of_bob = deals(1, owner=cast.bob())

    assert sweeps.sweep(now=NOW).proposed == 1
    assert Recommendation.objects.open().filter(opportunity__in=of_bob).count() == 1


def test_deals_without_an_owner_share_a_queue_of_their_own() -> None:
    nobodys(3)
    deals(1)

    run = sweeps.sweep(now=NOW)

    assert (run.proposed, run.passed) == (3, {"Q": 1})
    assert str(Verdict.objects.get().told).startswith("Suggestions that wait on deals without an owner: 2.")
    assert sweeps.sweep(now=NOW).looked_at == 0
    assert "2 suggestions are to be decided by whoever takes them" in page(cast.alice(), "suggestions")


def test_what_the_agent_may_do_by_itself_is_held_up_by_nobody() -> None:
    AutonomyPolicy.objects.create(action="opportunity.follow_up", mode=Mode.ACT)
    deals(5)

    run = sweeps.sweep(now=NOW)

    assert (run.acted, run.passed) == (5, {})
    assert Task.objects.count() == 5


def test_zero_is_no_limit(settings: Any) -> None:
    settings.VIGENTE_WAITING_PER_PERSON = 0
    deals(5)

    assert sweeps.sweep(now=NOW).proposed == 5
    assert "The agent waits" not in page(cast.alice(), "suggestions")


def test_the_limit_holds_over_pages_and_a_changed_deal_stays_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "PAGE", 2)
    made = deals(5)

    assert sweeps.sweep(now=NOW).passed == {"Q": 3}
    held = Opportunity.objects.filter(pk__in=[deal.pk for deal in made], verdict__code="Q").first()
    cast.propose("opportunity.edit", held, by=cast.alice(), amount="7")

    run = sweeps.sweep(now=NOW)
    assert (run.looked_at, run.passed) == (1, {"Q": 1})


def test_it_is_said_on_suggestions_on_my_day_and_on_the_deal() -> None:
    deals(3)
    sweeps.sweep()

    assert WAITS in page(cast.alice(), "suggestions")
    assert WAITS in page(cast.alice(), "my_day")
    assert WAITS not in page(cast.bob(), "suggestions")
    assert "The agent goes on as soon as some" in page(cast.alice(), "suggestions", tab="left-alone")

    decline(Recommendation.objects.open().first())  # type: ignore[arg-type]
    assert "The agent waits" not in page(cast.alice(), "suggestions")
    assert "The agent waits" not in page(cast.alice(), "my_day")


def test_the_queries_do_not_grow_with_deals_and_owners(django_assert_max_num_queries: Any) -> None:
    for owner in (cast.alice(), cast.bob(), cast.charlie()):
        deals(6, owner=owner)
    nobodys(6)

    with django_assert_max_num_queries(32):
        run = sweeps.sweep(now=NOW)
    assert run.passed == {"Q": 16}


def test_declined_and_overtaken_make_room() -> None:
    made = deals(3)
    sweeps.sweep(now=NOW)
    one = Recommendation.objects.open().first()
    assert one is not None
    deal = Opportunity.objects.get(pk=one.opportunity_id)
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.TUESDAY)

    assert sweeps.sweep(now=NOW).proposed == 1
    assert Recommendation.objects.filter(state=State.SUPERSEDED).count() == 1
    assert len(made) == 3
