"""Contracts: what is offered, what is said to it, and what each of the two does to the other."""

import datetime as dt
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from conflicts.models import Conflict
from conflicts.outcomes import Result
from crm.documents import fingerprint
from crm.models import Contract, ContractDecision, Document
from crm.models.contract import TRANSITIONS, ContractState
from tests import cast, papers

pytestmark = pytest.mark.django_db


def add_line(contract: Contract, *, by: Any = None, price: str = "50") -> Any:
    return cast.propose(
        "contract.add_line", contract, by=by or cast.alice(), product=papers.product("PT-2000").pk, unit_price=price
    )


def test_a_contract_counts_up_its_lines_less_the_discount() -> None:
    contract = papers.contract(quantity="3", price="33.33", discount="10")
    assert str(contract.amount) == "89.99"
    assert (contract.state, contract.document, Document.objects.count()) == ("draft", 0, 0)


def test_an_offer_is_a_document_that_says_exactly_what_was_offered() -> None:
    contract = papers.offered(text="Delivered in 30 days", discount="5")
    [kept] = contract.documents.all()
    assert (contract.state, contract.document, kept.number) == ("offered", 1, 1)
    assert kept.content["lines"][0]["name"] == "PT-1000"
    assert (kept.content["subtotal"], kept.content["total"]) == ("200.00", "190.00")
    assert kept.content["text"] == "Delivered in 30 days"
    assert kept.fingerprint == contract.fingerprint == fingerprint(kept.content)


def test_a_draft_changes_without_making_documents() -> None:
    contract = papers.contract()
    assert add_line(contract).written
    contract = papers.again(contract)
    assert (str(contract.amount), contract.document, Document.objects.count()) == ("250.00", 0, 0)


@pytest.mark.parametrize("change", ["add", "change", "remove", "discount", "text", "valid_until"])
def test_changing_what_was_offered_makes_the_next_document_and_voids_the_approval(change: str) -> None:
    contract = papers.approved()
    if change == "remove":
        assert add_line(contract).written  # so that one stays
        contract = papers.again(contract)
        assert papers.say("approve", contract).written
        contract = papers.again(contract)
    was, line = contract.document, contract.lines.latest("pk")
    match change:
        case "add":
            outcome = add_line(contract)
        case "change":
            outcome = cast.propose(
                "contract.change_line", contract, by=cast.alice(), line=line.pk, quantity="9", unit_price="1"
            )
        case "remove":
            outcome = cast.propose("contract.remove_line", contract, by=cast.alice(), line=line.pk)
        case _:
            value = {"discount": "7.5", "text": "Other terms", "valid_until": dt.date(2031, 1, 1)}[change]
            outcome = cast.propose("contract.edit", contract, by=cast.alice(), **{change: value})

    assert outcome.written, outcome
    contract = papers.again(contract)
    assert (contract.state, contract.document, contract.approved) == ("offered", was + 1, None)
    said = contract.decisions.first()
    assert said is not None
    assert (said.verdict, said.number) == ("voided", was)


def test_what_is_no_part_of_the_offer_leaves_the_approval_in_force() -> None:
    contract = papers.approved()
    outcome = cast.propose("contract.edit", contract, by=cast.alice(), tags=["cold"], note="Called", name="Other name")
    assert outcome.written
    contract = papers.again(contract)
    assert (contract.state, contract.approved, contract.document) == ("approved", 1, 1)


def test_the_approved_version_stays_readable_for_ever() -> None:
    contract = papers.approved(text="First terms")
    first = contract.documents.get(number=1)
    for terms in ("Second terms", "Third terms"):
        assert cast.propose("contract.edit", papers.again(contract), by=cast.alice(), text=terms).written
    assert cast.propose("contract.cancel", papers.again(contract), by=cast.alice(), reason="No money").written

    kept = Document.objects.get(pk=first.pk)
    assert kept.content == first.content
    assert kept.content["text"] == "First terms"
    assert ContractDecision.objects.filter(number=1, verdict="approved", fingerprint=kept.fingerprint).count() == 1


def test_the_database_refuses_to_rewrite_a_document_even_with_its_contract() -> None:
    contract = papers.offered()
    kept = contract.documents.get()
    contract.save()  # the version is raised: only the document's own guard is left
    kept.content = {**kept.content, "total": "1.00"}
    with pytest.raises(DatabaseError), transaction.atomic():
        kept.save()
    assert contract.documents.get().content["total"] == "200.00"


@pytest.mark.parametrize(("old", "new"), [("cancelled", "approved"), ("draft", "approved"), ("signed", "offered")])
def test_the_database_refuses_a_move_that_the_table_does_not_hold(old: str, new: str) -> None:
    contract = papers.approved() if old != "draft" else papers.contract()
    if old == "cancelled":
        cast.propose("contract.cancel", contract, by=cast.alice(), reason="No money")
    if old == "signed":
        papers.say("sign", contract)
    contract = papers.again(contract)
    assert contract.state == old
    contract.state = new
    contract.approved = contract.document
    with pytest.raises(DatabaseError), transaction.atomic():
        contract.save()
    assert papers.again(contract).state == old


def test_the_database_refuses_an_approval_of_another_document_than_the_one_in_force() -> None:
    contract = papers.approved()
    contract.approved = None
    with pytest.raises(IntegrityError), transaction.atomic():
        contract.save()


def test_every_move_of_the_table_is_made_by_some_action_and_no_other_is() -> None:
    """The table, walked: from each state each action, applied exactly where the table has a line."""
    verbs = {"offer": "offered", "approve": "approved", "decline": "declined", "sign": "signed", "cancel": "cancelled"}
    made: set[tuple[str, str]] = set()
    for state in ContractState:
        for verb, target in verbs.items():
            contract = in_state(state)
            more: dict[str, Any] = {"reason": "Because"} if verb in ("decline", "cancel") else {}
            said = {"document": max(contract.document, 1), "fingerprint": contract.fingerprint}
            said = {} if verb == "cancel" else {"fingerprint": contract.fingerprint} if verb == "offer" else said
            outcome = cast.propose(f"contract.{verb}", contract, by=cast.manager(), **said, **more)
            assert papers.again(contract).state in (state, target)
            if outcome.written:
                made.add((state.value, target))
    by_content = {("approved", "offered")}  # only a new document leads back, never somebody's word
    assert made | by_content == {(old.value, new.value) for old, after in TRANSITIONS.items() for new in after}


def in_state(state: ContractState) -> Contract:
    if state == ContractState.DRAFT:
        return papers.contract()
    if state in (ContractState.APPROVED, ContractState.SIGNED):
        contract = papers.approved()
        return papers.again(contract) if state == "approved" or papers.say("sign", contract).written else contract
    contract = papers.offered()
    if state == ContractState.DECLINED:
        papers.say("decline", contract, reason="Too dear")
    if state == ContractState.CANCELLED:
        cast.propose("contract.cancel", contract, by=cast.alice(), reason="No money")
    return papers.again(contract)


# --- a page that is old ----------------------------------------------------------------------------------------------


def test_a_cancelled_contract_cannot_be_approved_also_not_from_an_old_page() -> None:
    shown = papers.offered()
    cast.propose("contract.cancel", papers.again(shown), by=cast.bob(), reason="No money")

    from_old_page = papers.say("approve", shown)
    from_new_page = papers.say("approve", papers.again(shown))

    assert (from_old_page.result, from_old_page.state) == (Result.CONFLICT, "terminal_state_found")
    assert "Bob Borges cancelled this contract" in str(from_old_page.sentence)
    assert from_new_page.result is Result.REFUSED
    assert papers.again(shown).state == "cancelled"
    waiting = Conflict.objects.waiting().get()
    assert waiting.pk == from_old_page.record
    assert waiting.version_read == shown.version


def test_a_yes_is_to_the_document_that_was_shown() -> None:
    shown = papers.offered()
    assert add_line(papers.again(shown), by=cast.bob()).written

    late = papers.say("approve", shown)

    assert (late.result, late.state) == (Result.CONFLICT, "changed_during_approval")
    assert "version 2 is in force" in str(late.sentence)
    assert papers.again(shown).state == "offered"


def test_a_contract_that_ends_leaves_no_word_to_a_former_document_waiting() -> None:
    shown = papers.offered()
    assert add_line(papers.again(shown), by=cast.bob()).written
    late = papers.say("approve", shown)
    assert Conflict.objects.waiting().get().pk == late.record
    assert cast.propose("contract.cancel", papers.again(shown), by=cast.bob(), reason="No money").written
    assert not Conflict.objects.waiting().exists()
    assert Conflict.objects.get(pk=late.record).resolution == "superseded"


def test_a_yes_stands_where_only_unrelated_fields_moved() -> None:
    shown = papers.offered()
    cast.propose("contract.edit", papers.again(shown), by=cast.bob(), tags=["cold"], note="Called them")
    assert papers.say("approve", shown).result is Result.REBASED
    assert papers.again(shown).approved == 1


@pytest.mark.parametrize("forged", [{"document": 7}, {"fingerprint": "0" * 64}])
def test_a_yes_to_something_that_never_was_is_refused(forged: dict[str, Any]) -> None:
    contract = papers.offered()
    outcome = papers.say("approve", contract, **forged)
    assert outcome.result is Result.REFUSED
    assert papers.again(contract).state == "offered"


def test_an_approval_that_was_given_meanwhile_is_not_voided_unseen() -> None:
    shown = papers.offered()
    assert papers.say("approve", papers.again(shown)).written

    late = add_line(shown)

    assert late.result is Result.CONFLICT
    assert "has approved this contract" in str(late.sentence)
    assert (papers.again(shown).state, papers.again(shown).document) == ("approved", 1)


def test_nobody_offers_a_line_that_was_put_in_unseen() -> None:
    shown = papers.contract()
    assert add_line(papers.again(shown), by=cast.bob()).written
    late = cast.propose("contract.offer", shown, by=cast.alice(), fingerprint=shown.fingerprint)
    assert late.result is Result.CONFLICT
    assert papers.again(shown).state == "draft"


def test_lines_that_two_people_add_are_both_there() -> None:
    shown = papers.offered()
    assert add_line(papers.again(shown), by=cast.bob(), price="10").written
    assert add_line(shown, price="20").result is Result.REBASED
    contract = papers.again(shown)
    assert str(contract.amount) == "230.00"
    assert [kept.content["total"] for kept in contract.documents.order_by("number")] == ["200.00", "210.00", "230.00"]


def test_of_two_who_change_one_line_the_second_is_told() -> None:
    shown = papers.contract()
    line = {"line": shown.lines.get().pk, "unit_price": "1"}
    assert cast.propose("contract.change_line", papers.again(shown), by=cast.bob(), quantity="5", **line).written
    late = cast.propose("contract.change_line", shown, by=cast.alice(), quantity="6", **line)
    assert late.result is Result.CONFLICT
    assert str(papers.again(shown).lines.get().quantity) == "5.00"


# --- who may ---------------------------------------------------------------------------------------------------------


def test_a_discount_above_the_approvers_level_names_who_can() -> None:
    cast.manager()
    contract = papers.offered(discount="15")
    outcome = papers.say("approve", contract, by=cast.alice())
    assert outcome.result is Result.REFUSED
    assert "Manuela Moraes" in str(outcome.sentence)
    assert papers.say("approve", contract, by=cast.manager()).written


def test_terms_of_its_own_are_approved_with_legal_authority_only_and_the_sentence_names_who_has_it() -> None:
    cast.administrator()
    contract = papers.offered(text="The customer may leave at any time.")
    outcome = papers.say("approve", contract, by=cast.manager())
    assert outcome.result is Result.REFUSED
    assert str(outcome.sentence).startswith("This is about legal terms. Ada Alves can decide it.")
    assert papers.say("approve", contract, by=cast.administrator()).written


def test_nobody_approves_an_amount_above_their_own_level_least_of_all_their_own() -> None:
    cast.manager()
    contract = papers.offered(price="90000")
    assert papers.say("approve", contract, by=cast.alice()).result is Result.REFUSED
    assert papers.again(contract).state == "offered"


@pytest.mark.parametrize("verb", ["offer", "approve", "decline", "sign", "cancel"])
def test_agents_decide_nothing_about_contracts(verb: str) -> None:
    contract = papers.contract() if verb == "offer" else papers.approved() if verb == "sign" else papers.offered()
    said: dict[str, Any] = {"document": contract.document, "fingerprint": contract.fingerprint}
    said = {"fingerprint": contract.fingerprint} if verb == "offer" else {} if verb == "cancel" else said
    more = {"reason": "Because"} if verb in ("decline", "cancel") else {}
    outcome = cast.propose(f"contract.{verb}", contract, by=cast.AGENT, **said, **more)
    assert outcome.result is Result.REFUSED
    assert papers.again(contract).version == contract.version
    assert Conflict.objects.filter(subject_model="crm.contract", actor=str(cast.AGENT)).exists()


def test_an_agent_prepares_a_draft_and_leaves_alone_what_was_offered() -> None:
    assert add_line(papers.contract(), by=cast.AGENT).written
    contract = papers.offered()
    assert add_line(contract, by=cast.AGENT).result is Result.REFUSED
    assert papers.again(contract).document == 1


def test_charlie_of_another_team_changes_nothing() -> None:
    contract = papers.offered()
    assert papers.say("approve", contract, by=cast.charlie()).result is Result.REFUSED
    assert not Contract.objects.visible_to(cast.charlie()).exists()


# --- bad input -------------------------------------------------------------------------------------------------------


def test_a_contract_without_a_line_is_not_offered() -> None:
    contract = papers.contract(lines=[])
    outcome = cast.propose("contract.offer", contract, by=cast.alice(), fingerprint=contract.fingerprint)
    assert outcome.result is Result.REFUSED


@pytest.mark.parametrize("what", ["company", "product"])
def test_what_names_nothing_is_refused_in_words(what: str) -> None:
    line = {"product": 999_999 if what == "product" else papers.product().pk, "unit_price": "1"}
    outcome = cast.propose(
        "contract.create",
        by=cast.alice(),
        name="x",
        company=999_999 if what == "company" else papers.company().pk,
        lines=[line],
    )
    assert outcome.result is Result.REFUSED
    assert not Contract.objects.exists()


def test_an_offer_that_ran_out_is_not_approved() -> None:
    contract = papers.offered(valid_until=dt.date(2020, 1, 1))
    assert papers.say("approve", contract).result is Result.REFUSED
