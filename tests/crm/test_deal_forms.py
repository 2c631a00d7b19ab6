"""The forms of the deal page: each does one thing once, needs its version, and says what is wrong beside its field."""

import datetime as dt

import pytest

from crm.models import Activity, Company, Opportunity, Task
from tests import cast
from tests.crm.deal_pages import HTMX, form, opened, signed_in, text, url, words

pytestmark = pytest.mark.django_db


def reload(deal: Opportunity) -> Opportunity:
    return Opportunity.objects.get(pk=deal.pk)


def test_an_edit_without_javascript_saves_and_leads_back_to_the_deal() -> None:
    deal = cast.deal(amount="48000", currency="BRL")
    alice = signed_in(cast.alice())
    fields = opened(alice, deal, edit="amount")
    answer = alice.post(url("deal_edit", deal), {**fields, "amount": "45,500"}, follow=True)
    assert answer.redirect_chain == [(url("deal", deal), 302)]
    assert "Amount saved." in words(answer)
    assert reload(deal).amount == 45500
    assert reload(deal).version == 2


def test_saving_twice_in_a_row_works() -> None:
    deal = cast.deal(amount="1", currency="BRL")
    alice = signed_in(cast.alice())
    for amount in ("2", "3"):
        fields = opened(alice, deal, edit="amount")
        assert alice.post(url("deal_edit", deal), {**fields, "amount": amount}).status_code == 302
    assert (reload(deal).amount, reload(deal).version) == (3, 3)


def test_a_double_click_does_it_once() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    page = alice.get(url("deal", deal))
    fields = {**form(page, url("deal_plan", deal)), "title": "Call Rui", "due_on": "2031-06-09"}
    first, second = (alice.post(url("deal_plan", deal), fields) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert Task.objects.filter(opportunity=deal).count() == 1
    assert reload(deal).version == 2


def test_the_same_key_with_other_content_is_refused_and_told() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    fields = {**form(alice.get(url("deal", deal)), url("deal_plan", deal)), "due_on": "2031-06-09"}
    alice.post(url("deal_plan", deal), {**fields, "title": "Call Rui"})
    answer = alice.post(url("deal_plan", deal), {**fields, "title": "Something else"})
    assert answer.status_code == 409
    assert "This request was sent before with other content" in words(answer)
    assert Task.objects.get(opportunity=deal).title == "Call Rui"


def test_all_facts_are_saved_in_one_version() -> None:
    deal = cast.deal(amount="48000", currency="BRL")
    assert cast.propose("company.create", by=cast.alice(), name="Quillmere Hotels").written
    alice = signed_in(cast.alice())
    fields = opened(alice, deal)
    changed = {"name": "Sensors for 16 rooms", "company": "quillmere hotels", "tags": "hotel, cold", "decision": "Fri"}
    answer = alice.post(url("deal_edit", deal), {**fields, **changed, "expected_close": "2031-10-31"})
    assert answer.status_code == 302
    now = reload(deal)
    assert (now.name, now.company, now.tags) == ("Sensors for 16 rooms", Company.objects.get(), ["hotel", "cold"])
    assert now.expected_close == dt.date(2031, 10, 31)
    assert now.version == 2


@pytest.mark.parametrize(
    ("field", "typed", "told"),
    [
        ("amount", "57.3OO", "“57.3OO” has letters in it. Write 57300 or 57,300."),
        ("amount", "-5", "An amount cannot be below zero."),
        ("amount", "9" * 30, "This is more than a deal can hold."),
        ("amount", "1.005", "At most two places after the point."),
        ("amount", "1e400", "This is more than a deal can hold."),
        ("expected_close", "2031-02-30", "There is no day “2031-02-30”."),
        ("expected_close", "9999-01-01", "The year 9999 is too far away."),
        ("owner", "99999999999999999999", "Choose one from the list."),
        ("company", "Nobody Inc", "Nobody is called “Nobody Inc” here yet."),
        ("decision", "x" * 301, "At most 300 letters; this has 301."),
        ("tags", "x" * 61, "A tag has at most 60 letters."),
    ],
)
def test_a_fault_is_said_beside_its_field_and_what_was_typed_stays(field: str, typed: str, told: str) -> None:
    deal = cast.deal(amount="48000", currency="BRL")
    alice = signed_in(cast.alice())
    fields = opened(alice, deal, edit=field)
    for headers in ({}, HTMX):
        answer = alice.post(url("deal_edit", deal), {**fields, field: typed}, headers=headers)
        assert answer.status_code == 422
        assert told in words(answer)
        assert field == "owner" or typed in text(answer)
        again = form(answer, url("deal_edit", deal), version="1")
        assert again[field] == ("" if field == "owner" else typed)
        assert again["key"] != fields["key"]
    assert reload(deal).version == 1


def test_an_empty_name_is_a_fault() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    answer = alice.post(url("deal_edit", deal), {**opened(alice, deal), "name": "  "})
    assert answer.status_code == 422
    assert "This cannot be empty." in words(answer)


@pytest.mark.parametrize("name", ["deal_edit", "deal_stage", "deal_plan", "deal_log"])
def test_a_form_without_its_version_is_answered_428(name: str) -> None:
    deal = cast.deal()
    answer = signed_in(cast.alice()).post(url(name, deal), {"amount": "1", "title": "x", "kind": "call"})
    assert answer.status_code == 428
    assert "does not say which version it saw" in words(answer)


@pytest.mark.parametrize("version", ["0", "-1", "x", "1.5", "9" * 5000, "١"])
def test_a_version_that_is_none_is_answered_400(version: str) -> None:
    deal = cast.deal()
    answer = signed_in(cast.alice()).post(url("deal_edit", deal), {"amount": "1", "version": version})
    assert answer.status_code == 400
    assert reload(deal).version == 1


def test_the_version_may_come_as_a_weak_etag() -> None:
    deal = cast.deal(amount="1")
    answer = signed_in(cast.alice()).post(url("deal_edit", deal), {"amount": "2"}, headers={"if-match": 'W/"1"'})
    assert answer.status_code == 302
    assert reload(deal).amount == 2


def test_a_move_along_the_path_and_a_lost_deal_with_its_reason() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    fields = form(alice.get(url("deal", deal)), url("deal_stage", deal))
    moved = alice.post(url("deal_stage", deal), {**fields, "stage": str(cast.stage("Proposal").pk)})
    assert moved.status_code == 302
    fields = form(alice.get(url("deal", deal)), url("deal_stage", deal), stage=str(cast.stage("Lost").pk))
    silent = alice.post(url("deal_stage", deal), {**fields, "reason": ""})
    assert silent.status_code == 422
    assert "Say why it was lost." in words(silent)
    assert alice.post(url("deal_stage", deal), {**fields, "reason": "Price"}).status_code == 302
    now = reload(deal)
    assert (now.status, now.lost_reason, now.stage.name) == ("lost", "Price", "Lost")


def test_a_stage_of_nowhere_is_a_fault() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    for stage in ("999999", "x", ""):
        answer = alice.post(url("deal_stage", deal), {"version": "1", "stage": stage})
        assert answer.status_code == 422, stage
    assert reload(deal).version == 1


def test_a_logged_call_sets_the_next_step_in_the_same_version() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    fields = form(alice.get(url("deal", deal)), url("deal_log", deal))
    answer = alice.post(
        url("deal_log", deal),
        {**fields, "kind": "call", "text": "He agreed", "next_title": "Visit", "next_on": "2031-06-09"},
        headers=HTMX,
    )
    assert answer.status_code == 200
    assert "Logged." in words(answer)
    now = reload(deal)
    assert (now.version, now.next_step, now.next_step_on) == (2, "Visit", cast.MONDAY)
    assert Activity.objects.get(opportunity=deal).text == "He agreed"


def test_a_call_that_has_not_happened_yet_is_a_fault() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    answer = alice.post(url("deal_log", deal), {"version": "1", "kind": "call", "text": "Hm", "at": "2099-01-01T10:00"})
    assert answer.status_code == 422
    assert "This has not happened yet; plan it as the next step." in words(answer)
    assert ">Hm</textarea>" in text(answer)


def test_a_task_is_added_moved_taken_completed_and_opened_again() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())

    def post(name: str, *more: object, **fields: str) -> None:
        version = str(reload(deal).version)
        assert alice.post(url(name, deal, *more), {"version": version, **fields}).status_code == 302

    post("deal_plan", form="task", title="Find the plan")
    task = Task.objects.get(opportunity=deal)
    assert (task.due_on, task.owner) == (None, cast.alice())
    post("deal_task", task.pk, "put-off", due_on="2031-06-09")
    assert reload(deal).next_step_on == cast.MONDAY
    post("deal_task", task.pk, "take")
    task.refresh_from_db()
    assert task.claimed_by == cast.alice()
    post("deal_task", task.pk, "complete")
    assert reload(deal).next_step_on is None
    post("deal_task", task.pk, "reopen")
    assert reload(deal).next_step_on == cast.MONDAY
    post("deal_task", task.pk, "cancel")
    task.refresh_from_db()
    assert task.state == "cancelled"


def test_a_task_that_a_colleague_completed_first_is_told_and_not_an_error() -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call Rui", due_on=cast.MONDAY)
    task = Task.objects.get(opportunity=deal)
    alice = signed_in(cast.alice())
    seen = str(reload(deal).version)
    cast.propose("opportunity.complete_task", reload(deal), by=cast.bob(), task=task.pk)
    answer = alice.post(url("deal_task", deal, task.pk, "complete"), {"version": seen}, follow=True)
    assert answer.status_code == 200
    assert "Bob Borges settled this task already." in words(answer)


def test_nothing_is_planned_on_a_closed_deal_and_what_was_typed_can_be_read() -> None:
    deal = cast.deal()
    seen = str(deal.version)
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Won").pk)
    answer = signed_in(cast.alice()).post(
        url("deal_plan", deal), {"version": seen, "title": "Call Rui about rooms", "due_on": "2031-06-09"}
    )
    assert answer.status_code == 409
    read = words(answer)
    assert "The deal is won now. Nothing was added." in read
    assert "Title Call Rui about rooms" in read
    assert "Due on Mon 9 Jun 2031" in read
    assert "Due_on" not in read
    assert "2031-06-09" not in read
    assert not Task.objects.filter(opportunity=deal).exists()


@pytest.mark.parametrize("where", ["path", "query", "body"])
def test_a_nul_byte_is_answered_400_and_never_reaches_the_database(where: str) -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    if where == "path":
        answer = alice.get("/deals/%00/")
    elif where == "query":
        answer = alice.get("/search/?q=a%00b")
    else:
        answer = alice.post(url("deal_plan", deal), {"version": "1", "title": "a\0b", "due_on": "2031-06-09"})
    assert answer.status_code in ((400, 404) if where == "path" else (400,))
    assert reload(deal).version == 1


@pytest.mark.parametrize("body", [b"\xff\xfe=1", b"version=1&title=%ff%fe&due_on=2031-06-09", b"a" * 100])
def test_a_body_in_a_broken_encoding_is_no_crash(body: bytes) -> None:
    deal = cast.deal()
    answer = signed_in(cast.alice()).post(
        url("deal_plan", deal), body, content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code in (302, 400, 422, 428)


def test_a_get_on_a_form_s_address_is_answered_405() -> None:
    deal = cast.deal()
    assert signed_in(cast.alice()).get(url("deal_edit", deal)).status_code == 405


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("deal_log", {"kind": "note", "text": "Asked again", "next_title": "Call", "next_on": "2026-02-30"}),
        ("deal_plan", {"title": "Call", "due_on": "2026-02-30"}),
        ("deal_plan", {"title": "Call", "due_on": "2026-02-30", "form": "task"}),
        ("deal_stage", {"stage": "lost", "reason": ""}),
    ],
)
def test_a_form_that_comes_back_with_a_fault_keeps_the_version_it_was_shown_with(name: str, sent: dict) -> None:
    deal = cast.deal()
    assert cast.propose("opportunity.edit", deal, by=cast.bob(), decision="Partners").written
    if "stage" in sent:
        sent = {**sent, "stage": str(cast.stage("Lost").pk)}
    answer = signed_in(cast.alice()).post(url(name, deal), {**sent, "version": "1"}, headers=HTMX)
    assert answer.status_code == 422
    assert 'name="version" value="1"' in text(answer)
