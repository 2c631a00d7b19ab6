"""Undo takes one's own last change back as a new version, and leaves alone what somebody changed since."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from conflicts import actors
from crm.models import Contact, Opportunity, Task, User
from crm.undo import CannotUndo, last_own
from tests import cast
from tests.crm.deal_pages import HTMX, form, signed_in, url, words

pytestmark = pytest.mark.django_db


def reload(deal: Opportunity) -> Opportunity:
    return Opportunity.objects.get(pk=deal.pk)


def undo(deal: Any, *, by: User, version: int | None = None, **more: Any) -> str:
    fields = {"subject": f"{deal._meta.label_lower}:{deal.pk}", **({"version": str(version)} if version else {})}
    answer = signed_in(by).post("/undo/", fields, headers=HTMX, **more)
    assert answer.status_code == 200, words(answer)
    return words(answer)


def test_an_edit_is_taken_back_as_a_new_version() -> None:
    deal = cast.deal(amount="48000", decision="Fri")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="45500")
    assert "Taken back: v2. Now v3." in undo(deal, by=cast.alice(), version=2)
    assert (reload(deal).amount, reload(deal).version) == (48000, 3)


def test_without_a_version_it_is_the_newest_own_change() -> None:
    deal = cast.deal(amount="1", decision="a")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="2")
    cast.propose("opportunity.edit", reload(deal), by=cast.bob(), decision="b")
    undo(deal, by=cast.alice())
    assert (reload(deal).amount, reload(deal).decision) == (1, "b")


def test_without_a_version_a_change_of_yesterday_stays() -> None:
    deal = cast.deal(amount="1")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="2")
    with pytest.raises(CannotUndo, match="nothing here in the last hour"):
        last_own(deal, by=actors.person(cast.alice()), now=timezone.now() + dt.timedelta(days=1))
    assert last_own(deal, by=actors.person(cast.alice()), now=timezone.now()) == 2


def test_a_field_that_somebody_changed_since_stays_and_is_told() -> None:
    deal = cast.deal(amount="1")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="2")
    cast.propose("opportunity.edit", reload(deal), by=cast.bob(), amount="3")
    assert "Bob Borges has changed the same since: amount. It stays as it is." in undo(deal, by=cast.alice(), version=2)
    assert (reload(deal).amount, reload(deal).version) == (3, 3)


def test_ones_own_later_change_is_told_as_ones_own() -> None:
    deal = cast.deal(amount="1")
    for amount in "23":
        cast.propose("opportunity.edit", reload(deal), by=cast.alice(), amount=amount)
    assert "You have changed the same since: amount. It stays as it is." in undo(deal, by=cast.alice(), version=2)
    assert reload(deal).amount == 3


def test_nobody_takes_back_what_another_wrote() -> None:
    deal = cast.deal(amount="1")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="2")
    assert "Only whoever made a change can take it back here." in undo(deal, by=cast.alice(), version=2)
    assert reload(deal).amount == 2


def test_a_deal_marked_as_lost_is_open_again() -> None:
    deal = cast.deal()
    cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Lost").pk, reason="Price")
    undo(deal, by=cast.alice(), version=2)
    assert (reload(deal).status, reload(deal).stage.name, reload(deal).lost_reason) == ("open", "New", "")


def test_a_completed_task_is_open_again_and_a_planned_one_is_cancelled() -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.MONDAY)
    task = Task.objects.get()
    cast.propose("opportunity.complete_task", reload(deal), by=cast.alice(), task=task.pk)
    undo(deal, by=cast.alice(), version=3)
    assert reload(deal).next_step == "Call"
    cast.propose("opportunity.reschedule_task", reload(deal), by=cast.alice(), task=task.pk, due_on=cast.TUESDAY)
    undo(deal, by=cast.alice(), version=5)
    assert reload(deal).next_step_on == cast.MONDAY


def test_a_task_that_a_colleague_moved_since_stays() -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.MONDAY)
    task = Task.objects.get()
    cast.propose("opportunity.reschedule_task", reload(deal), by=cast.bob(), task=task.pk, due_on=cast.TUESDAY)
    assert "Bob Borges has changed the same since: Call." in undo(deal, by=cast.alice(), version=2)
    assert reload(deal).next_step_on == cast.TUESDAY


def test_somebody_added_is_taken_out_again_and_somebody_taken_out_comes_back_with_the_role() -> None:
    deal, rui = cast.deal(), cast.contact("Rui Amaro")
    cast.propose("opportunity.add_participant", deal, by=cast.alice(), contact=rui.pk, role="buyer")
    assert "Taken back: v2. Now v3." in undo(deal, by=cast.alice(), version=2)
    assert deal.participants.get().removed
    cast.propose("opportunity.add_participant", reload(deal), by=cast.alice(), contact=rui.pk, role="buyer")
    one = deal.participants.get()
    cast.propose("opportunity.remove_participant", reload(deal), by=cast.alice(), participant=one.pk)
    undo(deal, by=cast.alice(), version=5)
    one.refresh_from_db()
    assert (one.removed, one.role) == (False, "buyer")


def test_what_was_logged_stays_and_why_is_said() -> None:
    deal = cast.deal()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="Hello")
    assert "What was logged stays in the history" in undo(deal, by=cast.alice(), version=2)


def test_the_beginning_of_a_record_cannot_be_taken_back() -> None:
    deal = cast.deal()
    assert "this is where the record begins" in undo(deal, by=cast.alice())


def test_an_address_of_a_contact_comes_back() -> None:
    contact = cast.contact(addresses=[{"kind": "email", "value": "rui@example.com"}])
    point = contact.points.get()
    cast.propose("contact.remove_address", contact, by=cast.alice(), point=point.pk)
    undo(contact, by=cast.alice(), version=2)
    assert [p.value for p in Contact.objects.get().points.filter(removed=False)] == ["rui@example.com"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"subject": "crm.opportunity:999999"}, 404),
        ({"subject": "crm.user:1"}, 400),
        ({"subject": "nonsense"}, 400),
        ({"subject": "crm.opportunity:x"}, 400),
        ({"subject": ""}, 200),
    ],
)
def test_a_subject_that_is_none_is_answered_in_words(fields: dict[str, str], status: int) -> None:
    assert signed_in(cast.alice()).post("/undo/", fields, headers=HTMX).status_code == status


def test_nobody_of_another_team_takes_anything_back() -> None:
    deal = cast.deal(amount="1")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="2")
    fields = {"subject": f"crm.opportunity:{deal.pk}", "version": "2"}
    assert signed_in(cast.charlie()).post("/undo/", fields).status_code == 404


def test_after_saving_the_way_back_is_in_the_page_as_a_form() -> None:
    deal = cast.deal(amount="1")
    alice = signed_in(cast.alice())
    page = alice.post(url("deal_edit", deal), {"version": "1", "amount": "2"}, follow=True)
    fields = form(page, "/undo/")
    assert fields["version"] == "2"
    back = alice.post("/undo/", fields, headers={"referer": f"http://testserver{url('deal', deal)}"}, follow=True)
    assert back.redirect_chain == [(f"http://testserver{url('deal', deal)}", 302)]
    assert reload(deal).amount == 1


def test_in_a_list_the_last_act_is_taken_back_if_it_ticked_a_task() -> None:
    deal = cast.deal("Ice boxes")
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.MONDAY)
    cast.propose("opportunity.complete_task", reload(deal), by=cast.alice(), task=Task.objects.get().pk)
    alice = signed_in(cast.alice())
    answer = alice.post("/undo/", {"subject": ""}, headers=HTMX)
    assert answer["HX-Refresh"] == "true"
    assert Task.objects.get().state == "open"
    assert "Ice boxes: Taken back: v3. Now v4." in words(alice.get("/"))


def test_in_a_list_any_other_last_act_is_named_and_stays() -> None:
    deal = cast.deal("Ice boxes", amount="1")
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.MONDAY)
    cast.propose("opportunity.complete_task", reload(deal), by=cast.alice(), task=Task.objects.get().pk)
    cast.propose("opportunity.edit", reload(deal), by=cast.alice(), amount="2")
    answer = signed_in(cast.alice()).post("/undo/", headers=HTMX)
    assert "Your last change was to “Ice boxes”. Open it, and take the change back there." in words(answer)
    cast.contact("Rui Amaro")
    answer = signed_in(cast.alice()).post("/undo/", headers=HTMX)
    assert "Your last change was to “Rui Amaro”." in words(answer)
    assert (reload(deal).amount, reload(deal).version, Task.objects.get().state) == (2, 4, "done")
    nothing = signed_in(cast.charlie()).post("/undo/", headers=HTMX)
    assert "You have changed nothing in the last hour" in words(nothing)
