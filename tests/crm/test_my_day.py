"""My day: what is due for me, settled where it stands."""

import datetime as dt

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.crypto import get_random_string

from crm.models import Opportunity, Task, User
from tests import cast
from tests.crm.boards import HTMX, at, text, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_sees(client: Client) -> Client:
    client.force_login(cast.alice())
    return client


def plan(deal: Opportunity, title: str, *, days: int, owner: User | None = None) -> Task:
    deal.refresh_from_db()
    day = timezone.localdate() + dt.timedelta(days=days)
    outcome = cast.propose(
        "opportunity.plan_task", deal, by=cast.alice(), title=title, due_on=day, owner=(owner or cast.alice()).pk
    )
    assert outcome.written, outcome
    deal.refresh_from_db()
    return Task.objects.get(pk=outcome.created["crm.task"])


def press(client: Client, task: Task, do: str, *, version: int | None, headers=HTMX, **more):
    data = {"task": task.pk, "do": do, "key": get_random_string(20), **more}
    return client.post("/day/task/", data | ({"version": version} if version else {}), headers=headers)


def test_what_is_late_and_what_is_due_today_stands_there_the_latest_first(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    plan(deal, "Call Rui", days=0)
    plan(deal, "Send the offer", days=-5)
    plan(deal, "Visit them", days=1)

    page = words(text(alice_sees.get("/")))

    assert page.index("Send the offer") < page.index("5 days late") < page.index("Call Rui")
    assert "Visit them" not in page
    assert "Due 2" in page


def test_the_day_is_told_in_the_viewers_zone_and_language(client: Client) -> None:
    cast.pipeline()
    tokyo = cast.bob()
    tokyo.time_zone = "Asia/Tokyo"
    tokyo.save()

    with time_machine.travel(dt.datetime(2031, 6, 10, 2, 30, tzinfo=dt.UTC), tick=False):
        client.force_login(cast.alice())
        assert "Monday 9 June" in text(client.get("/"))
        client.force_login(tokyo)
        assert "Tuesday 10 June" in text(client.get("/"))


def test_tasks_of_others_are_theirs(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    plan(deal, "Bob's task", days=0, owner=cast.bob())

    assert "Bob&#x27;s task" not in text(alice_sees.get("/"))


def test_a_task_that_a_colleague_took_over_is_on_the_colleagues_day(client: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)
    assert cast.propose("opportunity.claim_task", deal, by=cast.bob(), task=task.pk).written

    client.force_login(cast.alice())
    assert "Call Rui" not in text(client.get("/"))
    client.force_login(cast.bob())
    assert "Call Rui" in text(client.get("/"))


def test_a_task_on_a_deal_that_went_to_another_team_is_out_of_sight(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)
    assert cast.propose("opportunity.edit", deal, by=cast.alice(), owner=cast.charlie().pk).written

    assert "Call Rui" not in text(alice_sees.get("/"))
    assert press(alice_sees, task, "done", version=3).status_code == 404


def test_a_tick_completes_the_task_in_place(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)

    response = press(alice_sees, task, "done", version=deal.version)

    assert response.status_code == 200
    assert "<html" not in text(response)
    assert "checked" in text(response)
    assert "Done. This deal has no next step now." in words(text(response))
    task.refresh_from_db()
    assert task.state == "done"


def test_taking_the_tick_back_opens_the_task_again(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)
    press(alice_sees, task, "done", version=deal.version)

    response = press(alice_sees, task, "reopen", version=deal.version + 1)

    assert response.status_code == 200
    task.refresh_from_db()
    assert task.state == "open"


def test_put_off_moves_the_day(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=-1)

    response = press(alice_sees, task, "later", version=deal.version, due_on="2031-06-10")

    assert "Moved to Tue 10 Jun 2031." in words(text(response))
    deal.refresh_from_db()
    assert str(deal.next_step_on) == "2031-06-10"


@pytest.mark.parametrize("day", ["", "2031-02-30", "soon"])
def test_put_off_needs_a_day_of_the_calendar(alice_sees: Client, day: str) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)

    response = press(alice_sees, task, "later", version=deal.version, due_on=day)

    assert response.status_code == 422
    assert "Choose the new day." in words(text(response))
    assert Opportunity.objects.get(pk=deal.pk).version == deal.version


def test_a_task_that_a_colleague_has_just_moved_is_not_moved_over(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)
    seen = deal.version
    moved = cast.propose("opportunity.reschedule_task", deal, by=cast.bob(), task=task.pk, due_on=cast.MONDAY)
    assert moved.written

    response = press(alice_sees, task, "later", version=seen, due_on="2031-12-24")

    assert response.status_code == 409
    assert "Bob Borges changed this task meanwhile. Nothing was written." in words(text(response))
    task.refresh_from_db()
    assert task.due_on == cast.MONDAY


def test_another_task_of_the_deal_does_not_hold_this_one_up(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    first, second = plan(deal, "Call Rui", days=-1), plan(deal, "Send the offer", days=0)
    seen = deal.version
    press(alice_sees, first, "done", version=seen)

    response = press(alice_sees, second, "later", version=seen, due_on="2031-06-10")

    assert response.status_code == 200
    second.refresh_from_db()
    assert str(second.due_on) == "2031-06-10"


def test_a_task_that_a_colleague_completed_says_who_did(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)
    seen = deal.version
    assert cast.propose("opportunity.complete_task", deal, by=cast.bob(), task=task.pk).written

    response = press(alice_sees, task, "done", version=seen)

    assert response.status_code == 409
    assert "Bob Borges settled this task already." in words(text(response))


def test_a_tick_without_a_version_is_refused(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)

    assert press(alice_sees, task, "done", version=None).status_code == 428
    task.refresh_from_db()
    assert task.state == "open"


def test_without_a_script_the_tick_leads_back_to_the_day(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)

    response = press(alice_sees, task, "done", version=deal.version, headers=None)

    assert response.status_code == 302
    assert response.headers["Location"] == "/"


def test_without_a_script_a_refusal_is_the_day_with_the_reason_on_its_row(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)
    seen = deal.version
    assert cast.propose("opportunity.complete_task", deal, by=cast.bob(), task=task.pk).written

    response = press(alice_sees, task, "done", version=seen, headers=None)

    assert response.status_code == 409
    assert "<html" in text(response)
    assert "Bob Borges settled this task already." in words(text(response))


@pytest.mark.parametrize("do", ["", "delete"])
def test_an_unknown_wish_is_not_found(alice_sees: Client, do: str) -> None:
    deal = at("New", "Ice boxes")
    task = plan(deal, "Call Rui", days=0)

    assert press(alice_sees, task, do, version=deal.version).status_code == 404


def test_my_deals_without_a_next_step_are_named_the_largest_first(alice_sees: Client) -> None:
    at("New", "Small", amount="10", currency="USD")
    at("New", "Large", amount="900", currency="USD")
    at("New", "Bob's", owner=cast.bob())
    at("Won", "Closed")
    plan(at("New", "Planned"), "Call Rui", days=4)

    page = words(text(alice_sees.get("/")))

    assert page.index("Without a next step 2") < page.index("Large") < page.index("Small")
    assert not any(name in page for name in ("Bob's", "Closed", "Planned"))


def test_an_empty_day_says_what_to_do(alice_sees: Client) -> None:
    at("New", "Ice boxes")

    page = words(text(alice_sees.get("/")))

    assert "Nothing is due today" in page
    assert "One of your deals has no next step." in page


def test_a_long_day_costs_as_many_queries_as_a_short_one(alice_sees: Client) -> None:
    for number in range(3):
        plan(at("New", f"Deal {number}"), "Call Rui", days=0)
    alice_sees.get("/")
    with CaptureQueriesContext(connection) as short:
        alice_sees.get("/")
    for number in range(12):
        plan(at("New", f"More {number}"), "Call Rui", days=-number)
        at("New", f"Bare {number}")

    with CaptureQueriesContext(connection) as long:
        alice_sees.get("/")

    assert len(long) <= 15
    assert len(long) <= len(short) + 2  # the counts of what did not fit
