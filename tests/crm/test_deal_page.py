"""The deal page shows what is in force, with the version, to those who may see it, in few queries."""

import datetime as dt

import pytest
from django.test import Client

from conflicts import actors, gate
from conflicts.models import Conflict
from conflicts.proposals import Proposal, Read
from tests import cast
from tests.crm.deal_pages import HTMX, form, forms, signed_in, text, url, words

pytestmark = pytest.mark.django_db


def test_the_page_shows_the_deal_with_its_version_and_who_changed_it() -> None:
    deal = cast.deal(amount="48000", currency="BRL", tags=["cold rooms"], decision="Partners decide on Friday")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="45500")
    page = signed_in(cast.alice()).get(url("deal", deal))
    assert page.status_code == 200
    read = words(page)
    assert "Sensors for 14 cold rooms" in read
    assert "R$ 45,500" in read
    assert "v2 changed by Bob Borges" in read
    assert "Bob Borges changed the amount: R$ 48,000 → R$ 45,500" in read
    assert "Partners decide on Friday" in read


def test_a_deal_of_another_team_is_not_there() -> None:
    deal = cast.deal()
    charlie = signed_in(cast.charlie())
    for address in ("deal", "deal_parts"):
        assert charlie.get(url(address, deal)).status_code == 404
    for address in ("deal_edit", "deal_stage", "deal_plan", "deal_log"):
        assert charlie.post(url(address, deal), {"version": "1"}).status_code == 404
    deal.refresh_from_db()
    assert deal.version == 1


def test_html_in_a_name_is_only_ever_text() -> None:
    deal = cast.deal("<script>alert(1)</script><b>x")
    page = text(signed_in(cast.alice()).get(url("deal", deal)))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_deal_with_a_long_story_takes_at_most_fifteen_queries(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    deal = cast.deal(amount="10", owner=cast.alice())
    for number in range(12):
        cast.propose("opportunity.edit", deal, by=cast.bob(), amount=str(100 + number))
        deal.refresh_from_db()
        cast.propose("opportunity.plan_task", deal, by=cast.alice(), title=f"Task {number}", due_on=cast.TUESDAY)
        deal.refresh_from_db()
    cast.propose("opportunity.edit", deal, by=cast.bob(), owner=cast.bob().pk, company=None)
    client = signed_in(cast.alice())
    client.get(url("deal", deal))
    with django_assert_max_num_queries(15):
        page = client.get(url("deal", deal))
    assert page.status_code == 200


def test_older_pages_of_the_timeline_neither_repeat_nor_miss_a_version() -> None:
    deal = cast.at_version(cast.deal(), 50)
    client = signed_in(cast.alice())
    seen: list[int] = []
    before = ""
    for _ in range(4):
        page = client.get(f"{url('deal', deal)}{before}", headers=HTMX if before else {})
        told = page.context["story"]
        seen += [entry.version for entry in told.entries if entry.version]
        if told.before is None:
            break
        before = f"?before={told.before}"
    assert seen == list(range(50, 0, -1))


def test_the_timeline_tells_people_and_agents_apart() -> None:
    deal = cast.deal()
    cast.propose("opportunity.follow_up", deal, by=cast.AGENT, title="Call Rui", due_on=cast.MONDAY)
    deal.refresh_from_db()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="Talked with Rui")
    client = signed_in(cast.alice())
    everything = client.get(url("deal", deal))
    assert 'data-actor="agent"' in text(everything)
    agents = words(client.get(f"{url('deal', deal)}?who=agents"))
    assert "Follow-up agent set the next step: Call Rui" in agents
    assert "Talked with Rui" not in agents
    people = words(client.get(f"{url('deal', deal)}?who=people"))
    assert "You logged a call Talked with Rui" in people
    assert "Follow-up agent set" not in people


def test_what_an_agent_was_overtaken_in_is_told_with_what_did_not_happen() -> None:
    deal = cast.at_version(cast.deal(), 31)
    cast.propose(
        "opportunity.log", deal, by=cast.alice(), kind="call", text="He agreed", next_title="Visit", next_on=cast.MONDAY
    )
    late = cast.propose("opportunity.follow_up", deal, by=cast.AGENT, title="Call Rui", due_on=cast.TUESDAY)
    assert late.result == "superseded"
    read = words(signed_in(cast.bob()).get(url("deal", deal)))
    assert "overtaken wanted: Plan a follow-up “Call Rui”, having read v31" in read
    assert "Alice Amaral set the next step first: Visit" in read
    assert read.count("nobody was contacted") == 1, "the verdict says it, so it is not said again"
    assert Conflict.objects.get().not_done is not None, "it stays in the evidence"


def test_nobody_reads_their_own_name_in_the_third_person() -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call Rui")
    for _ in range(2):
        deal.refresh_from_db()
        cast.propose("opportunity.complete_task", deal, by=cast.alice(), task=deal.tasks.get().pk)
    mine = words(signed_in(cast.alice()).get(url("deal", deal)))
    theirs = words(signed_in(cast.bob()).get(url("deal", deal)))
    assert "You settled this task already." in mine
    assert "Alice Amaral settled this task already." in theirs


def test_a_form_sent_twice_with_other_content_is_evidence_but_no_story_of_the_deal() -> None:
    deal = cast.deal()
    for title in ("Call Rui", "Call Vera"):
        by, basis = actors.person(cast.alice()), (Read.of(deal),)
        wish = Proposal(action="opportunity.plan_task", by=by, basis=basis, key="form:1", params={"title": title})
        gate.commit(wish)
    assert Conflict.objects.get().rule == "key_reused"
    read = words(signed_in(cast.bob()).get(url("deal", deal)))
    assert "Call Rui" in read
    assert "Call Vera" not in read
    assert "sent before with other content" not in read


def test_evidence_between_two_pages_of_the_timeline_is_on_exactly_one_of_them() -> None:
    deal = cast.at_version(cast.deal(), 21)
    stale = type(deal).objects.get(pk=deal.pk)
    cast.propose(
        "opportunity.log", deal, by=cast.alice(), kind="note", text="Last", next_title="A", next_on=cast.MONDAY
    )
    cast.propose("opportunity.follow_up", stale, by=cast.AGENT, title="Late one", due_on=cast.TUESDAY)
    deal = cast.at_version(type(deal).objects.get(pk=deal.pk), 60)
    assert Conflict.objects.count() == 1
    client = signed_in(cast.alice())
    told, before = 0, ""
    while True:
        page = client.get(f"{url('deal', deal)}{before}", headers=HTMX if before else {})
        told += text(page).count("Late one")
        if page.context["story"].before is None:
            break
        before = f"?before={page.context['story'].before}"
    assert told == 1


def test_every_form_of_the_page_carries_the_version_shown_and_a_key_of_its_own() -> None:
    deal = cast.deal(amount="5")
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.MONDAY)
    page = signed_in(cast.alice()).get(url("deal", deal))
    mine = [f for f in forms(page) if f["action"].startswith(f"/deals/{deal.pk}/")]
    assert len(mine) >= 8
    assert {f["fields"]["version"] for f in mine} == {"2"}
    assert len({f["fields"]["key"] for f in mine}) == len(mine)


def test_an_open_edit_is_in_the_page_without_javascript() -> None:
    deal = cast.deal(amount="48000")
    page = signed_in(cast.alice()).get(f"{url('deal', deal)}?edit=amount")
    fields = form(page, url("deal_edit", deal))
    assert fields["amount"] == "48000"
    assert fields["version"] == "1"


def test_htmx_gets_only_the_row_it_opens() -> None:
    deal = cast.deal(amount="48000")
    row = text(signed_in(cast.alice()).get(f"{url('deal', deal)}?edit=amount", headers=HTMX))
    assert row.strip().startswith('<div class="editing" id="fact-amount"')
    assert "<html" not in row


def test_dates_money_and_times_follow_the_reader() -> None:
    deal = cast.deal(amount="48000.5", currency="BRL", expected_close=dt.date(2031, 10, 31))
    bob = cast.bob()
    bob.language = "pt-br"
    bob.save()
    read = words(signed_in(bob).get(url("deal", deal)))
    assert "R$ 48.000,50" in read


def test_someone_who_is_not_signed_in_is_sent_to_the_door() -> None:
    deal = cast.deal()
    answer = Client().get(url("deal", deal))
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/sign-in/?next=/deals/{deal.pk}/"


def test_parts_say_in_one_sentence_what_others_changed_since() -> None:
    deal = cast.deal(amount="48000")
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk)
    alice = signed_in(cast.alice())
    parts = alice.get(f"{url('deal_parts', deal)}?since=1&editing=amount", headers=HTMX)
    read = words(parts)
    assert "Bob Borges changed stage" in read
    assert "New → Proposal" in read
    assert "The amount you are editing is untouched." in read
    assert 'hx-swap-oob="true"' in text(parts)
    touching = words(alice.get(f"{url('deal_parts', deal)}?since=1&editing=stage", headers=HTMX))
    assert "You are editing stage too: when you save, you choose." in touching


def test_parts_say_nothing_of_what_the_reader_did_alone() -> None:
    deal = cast.deal(amount="48000")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="1")
    parts = signed_in(cast.alice()).get(f"{url('deal_parts', deal)}?since=1", headers=HTMX)
    assert parts.context.get("news") is None


def test_a_person_who_left_is_still_named_by_what_they_wrote() -> None:
    deal = cast.deal(amount="3")
    bob = cast.bob()
    cast.propose("opportunity.edit", deal, by=bob, amount="4")
    assert str(actors.person(bob)).endswith("Bob Borges")
    bob.first_name, bob.is_active = "Roberto", False
    bob.save()
    assert "Bob Borges changed the amount" in words(signed_in(cast.alice()).get(url("deal", deal)))
