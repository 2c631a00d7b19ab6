"""A clash comes back as a choice: base, mine, theirs for the clashing fields only; nothing typed is lost."""

import pytest
from django.test import Client

from conflicts.models import Conflict
from crm.models import Opportunity
from tests import cast
from tests.crm.deal_pages import HTMX, form, opened, signed_in, text, url, words

pytestmark = pytest.mark.django_db


def reload(deal: Opportunity) -> Opportunity:
    return Opportunity.objects.get(pk=deal.pk)


def deal_seen_by_alice() -> tuple[Opportunity, Client, dict[str, str]]:
    """Alice has the whole form open at version 1."""
    deal = cast.deal(amount="48000", currency="BRL", decision="Partners meet", tags=["hotel"])
    alice = signed_in(cast.alice())
    return deal, alice, opened(alice, deal)


def by_bob(deal: Opportunity, **fields: object) -> None:
    assert cast.propose("opportunity.edit", reload(deal), by=cast.bob(), **fields).written


def clashed(deal: Opportunity, alice: Client, fields: dict[str, str], **typed: str) -> object:
    answer = alice.post(url("deal_edit", deal), {**fields, **typed})
    assert answer.status_code == 409, words(answer)
    return answer


def test_changes_in_other_fields_are_put_together_and_listed_after_saving() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, decision="Partners meet on Friday")
    answer = alice.post(url("deal_edit", deal), {**fields, "amount": "45500"}, follow=True)
    assert answer.status_code == 200
    assert "Together with what changed meanwhile: decision (Bob)." in words(answer)
    now = reload(deal)
    assert (now.amount, now.decision, now.version) == (45500, "Partners meet on Friday", 3)


def test_tags_of_both_are_kept_without_a_question() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, tags=["hotel", "watches price"])
    alice.post(url("deal_edit", deal), {**fields, "tags": "hotel, cold rooms"})
    assert reload(deal).tags == ["hotel", "watches price", "cold rooms"]


def test_a_clash_shows_base_mine_and_theirs_for_that_field_only() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000", decision="Partners meet on 17 October")
    answer = clashed(deal, alice, fields, amount="45500", expected_close="2031-11-14")
    read = words(answer)
    assert "Bob saved this while you were editing it" in read
    assert "One field to settle" in read
    assert "It was R$ 48,000" in read
    assert "Yours v1 R$ 45,500" in read
    assert "Bob’s, in force v2" in read
    assert "R$ 51,000" in read
    assert "Already together" in read
    assert "Closes" in read
    assert "Partners meet on 17 October" in read
    assert 'name="pick-decision"' not in text(answer)
    assert reload(deal).version == 2


def test_the_value_in_force_is_chosen_already_and_stays() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    answer = clashed(deal, alice, fields, amount="45500", decision="Partners meet, one price per room")
    settle = form(answer, "/settle/")
    assert settle["pick-amount"] == "theirs"
    assert settle["version"] == "2"
    done = alice.post("/settle/", settle, follow=True)
    assert done.redirect_chain == [(url("deal", deal), 302)]
    now = reload(deal)
    assert (now.amount, now.decision) == (51000, "Partners meet, one price per room")
    record = Conflict.objects.get(differences__0__field="amount")
    assert record.resolution == "settled"
    assert record.closed_at is not None


def test_mine_is_written_on_the_version_that_was_found() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    alice.post("/settle/", {**settle, "pick-amount": "mine"})
    assert (reload(deal).amount, reload(deal).version) == (45500, 3)


def test_something_else_is_written_and_a_fault_in_it_comes_back_in_the_same_form() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    wrong = alice.post("/settle/", {**settle, "pick-amount": "other", "other-amount": "48.OOO"})
    assert wrong.status_code == 422
    assert "has letters in it" in words(wrong)
    again = form(wrong, "/settle/")
    assert (again["pick-amount"], again["other-amount"]) == ("other", "48.OOO")
    alice.post("/settle/", {**again, "other-amount": "47,000"})
    assert reload(deal).amount == 47000


def test_a_further_clash_comes_back_again_and_the_first_record_is_closed() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    by_bob(deal, amount="52000")
    again = alice.post("/settle/", {**settle, "pick-amount": "mine"})
    assert again.status_code == 409
    read = words(again)
    assert "It was R$ 51,000" in read
    assert "R$ 45,500" in read
    assert "R$ 52,000" in read
    second = form(again, "/settle/")
    assert second["record"] != settle["record"]
    alice.post("/settle/", {**second, "pick-amount": "mine"})
    assert reload(deal).amount == 45500
    assert not Conflict.objects.waiting().exists()


def test_leaving_theirs_while_it_moves_on_once_more_writes_nothing_over_it() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    by_bob(deal, amount="52000")
    assert alice.post("/settle/", settle).status_code == 302
    assert reload(deal).amount == 52000
    assert not Conflict.objects.waiting().exists()


def test_what_the_person_did_not_touch_is_never_written_over_what_others_wrote() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000", decision="Partners meet on 17 October", tags=["hotel", "new"])
    settle = form(clashed(deal, alice, fields, amount="45500", tags="hotel, cold"), "/settle/")
    alice.post("/settle/", {**settle, "pick-amount": "mine"})
    now = reload(deal)
    assert (now.amount, now.decision) == (45500, "Partners meet on 17 October")
    assert now.tags == ["hotel", "new", "cold"]


def test_what_was_not_chosen_stays_on_the_timeline() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    alice.post("/settle/", settle)
    assert "Amount, as it was meant: R$ 45,500." in words(alice.get(url("deal", deal)))


def test_keep_editing_opens_the_form_with_what_was_typed_on_the_newer_version() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000", decision="Partners meet on 17 October")
    settle = form(clashed(deal, alice, fields, amount="45500", name="Sensors for 16 rooms"), "/settle/")
    page = alice.post("/settle/", {**settle, "keep": "1"}, follow=True)
    again = form(page, url("deal_edit", deal))
    assert (again["amount"], again["name"]) == ("45500", "Sensors for 16 rooms")
    assert again["decision"] == "Partners meet on 17 October"
    assert again["version"] == "2"


def test_a_move_that_clashes_is_a_choice_between_two_stages() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Negotiation").pk)
    answer = alice.post(url("deal_stage", deal), {"version": "1", "stage": str(cast.stage("Proposal").pk)})
    assert answer.status_code == 409
    read = words(answer)
    assert "It was New" in read
    assert "Proposal" in read
    assert "Negotiation" in read
    settle = form(answer, "/settle/")
    alice.post("/settle/", {**settle, "pick-stage": "mine"})
    assert reload(deal).stage.name == "Proposal"


def test_leaving_a_move_where_it_is_writes_nothing_and_closes_the_record() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Lost").pk, reason="Price")
    answer = alice.post(url("deal_stage", deal), {"version": "1", "stage": str(cast.stage("Proposal").pk)})
    assert answer.status_code == 409
    assert alice.post("/settle/", form(answer, "/settle/")).status_code == 302
    assert (reload(deal).stage.name, reload(deal).version) == ("Lost", 2)
    assert not Conflict.objects.waiting().exists()


def test_won_and_lost_at_the_same_moment_waits_for_a_decision_and_can_be_made() -> None:
    deal = cast.deal()
    alice = signed_in(cast.alice())
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Lost").pk, reason="Price")
    answer = alice.post(url("deal_stage", deal), {"version": "1", "stage": str(cast.stage("Won").pk)})
    assert answer.status_code == 409
    assert "Two ends exclude each other" in words(answer) or "One field to settle" in words(answer)
    assert reload(deal).status == "lost"


def test_htmx_gets_the_choice_beside_the_page_and_not_over_it() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    answer = alice.post(url("deal_edit", deal), {**fields, "amount": "45500"}, headers=HTMX)
    assert answer.status_code == 409
    assert answer.headers["HX-Retarget"] == "#settle"
    assert "<html" not in text(answer)
    done = alice.post("/settle/", form(answer, "/settle/"), headers=HTMX)
    assert (done.status_code, done.headers["HX-Trigger-After-Swap"]) == (200, "vigente:settled")


def test_only_who_meant_the_change_can_settle_it_here() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    for other in (cast.bob(), cast.charlie()):
        assert signed_in(other).post("/settle/", settle).status_code == 404
    assert reload(deal).amount == 51000


@pytest.mark.parametrize("record", ["", "x", "0", "9" * 40, "999999"])
def test_a_record_that_is_none_is_not_there(record: str) -> None:
    assert signed_in(cast.alice()).post("/settle/", {"record": record, "version": "1"}).status_code == 404


def test_a_choice_without_its_version_is_answered_428() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    del settle["version"]
    assert alice.post("/settle/", settle).status_code == 428


def test_settling_never_leads_to_another_site() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    answer = alice.post("/settle/", {**settle, "next": "https://example.org/"})
    assert answer.headers["Location"] == "/"


def test_a_settled_record_says_so_and_changes_nothing() -> None:
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    settle = form(clashed(deal, alice, fields, amount="45500"), "/settle/")
    alice.post("/settle/", settle)
    again = alice.post("/settle/", {**settle, "key": "another", "pick-amount": "mine"}, follow=True)
    assert "This is settled already." in words(again)
    assert reload(deal).amount == 51000


def test_two_windows_of_one_person_are_two_writers() -> None:
    deal, alice, fields = deal_seen_by_alice()
    other = opened(alice, deal)
    assert alice.post(url("deal_edit", deal), {**other, "amount": "51000"}).status_code == 302
    read = words(clashed(deal, alice, fields, amount="45500"))
    assert "Yours from another window, in force" in read


def test_a_choice_on_a_page_of_its_own_is_answered_with_a_page() -> None:
    """Sent by htmx it would put the next page into this one, and a reload would send the first form again."""
    deal, alice, fields = deal_seen_by_alice()
    by_bob(deal, amount="51000")
    assert (
        "hx-post"
        not in text(clashed(deal, alice, fields, amount="45500")).split("data-settle")[0].rsplit("<form", 1)[1]
    )
    beside = alice.post(url("deal_edit", deal), {**fields, "amount": "45501", "key": "another"}, headers=HTMX)
    assert "hx-post" in text(beside).split("data-settle")[0].rsplit("<form", 1)[1]
