"""Invoices: installments that add up, payments that land once, and nothing that was paid going to collection."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conflicts import actors
from conflicts.exceptions import BadParams
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from crm.actions import payments
from crm.models import Installment, Invoice, Payment
from tests import cast, papers

pytestmark = pytest.mark.django_db

BANK = actors.integration("bank", "The bank")


def pay(invoice: Invoice, amount: str, *, key: str = "tx-1", by: Any = BANK, **more: Any) -> Outcome:
    return payments.record(invoice, provider="bank", payment=key, amount=Decimal(amount), by=by, **more)


def on(verb: str, invoice: Invoice, number: int = 1, *, by: Any = None, **more: Any) -> Outcome:
    """An act on one installment, on the invoice as it is in memory."""
    one = papers.part(invoice, number)
    return cast.propose(f"invoice.{verb}", invoice, by=by or cast.alice(), installment=one.pk, **more)


def states(invoice: Invoice) -> list[str]:
    return list(Installment.objects.filter(invoice=invoice, replaced=False).values_list("state", flat=True))


def test_installments_that_do_not_add_up_make_no_invoice() -> None:
    with pytest.raises(BadParams, match="do not add up"):
        papers.invoice("600", "400", amount="999.99")
    assert not Invoice.objects.exists()


def test_a_number_is_given_once_however_it_is_written() -> None:
    papers.invoice(number="2031-001")
    company = papers.company()
    parts = [{"due_on": papers.DUE, "amount": "1"}]
    outcome = cast.propose(
        "invoice.create", by=cast.bob(), name="2031/001", company=company.pk, amount="1", installments=parts
    )
    assert outcome.result is Result.REFUSED
    assert "already" in str(outcome.sentence)


def test_what_is_owed_follows_from_the_installments() -> None:
    invoice = papers.invoice("600", "400")
    assert (str(invoice.owed), invoice.due_on, invoice.state) == ("1000.00", papers.DUE, "open")
    pay(invoice, "600")
    invoice = papers.again(invoice)
    assert (str(invoice.owed), invoice.due_on, invoice.state) == ("400.00", papers.DUE + dt.timedelta(days=30), "open")
    pay(invoice, "400", key="tx-2")
    invoice = papers.again(invoice)
    assert (str(invoice.owed), invoice.due_on, invoice.state) == ("0.00", None, "paid")


# --- payments --------------------------------------------------------------------------------------------------------


def test_a_payment_told_twice_has_one_effect_and_one_answer() -> None:
    invoice = papers.invoice()
    at = dt.datetime(2031, 1, 1, tzinfo=dt.UTC)
    first = pay(invoice, "600", at=at)
    cast.propose("invoice.edit", papers.again(invoice), by=cast.alice(), note="The record has moved on meanwhile")
    second = pay(invoice, "600", at=at)
    assert (first.result, second.result) == (Result.APPLIED, Result.DUPLICATE)
    assert second.first is not None
    assert second.first.created == first.created
    assert Payment.objects.count() == 1
    assert states(invoice) == ["paid", "open"]


def test_the_same_payment_with_another_amount_is_refused_and_recorded() -> None:
    invoice = papers.invoice()
    assert pay(invoice, "600").written
    other = pay(invoice, "400")
    assert (other.result, other.sentence.code) == (Result.REFUSED, "key_reused")  # type: ignore[union-attr]
    assert states(invoice) == ["paid", "open"]
    assert Conflict.objects.filter(pk=other.record).exists()


def test_a_payment_that_a_person_typed_and_the_bank_tells_is_one() -> None:
    invoice = papers.invoice()
    typed = {"provider": "bank", "payment": "tx-1", "amount": "600"}
    assert cast.propose("invoice.record_payment", invoice, by=cast.alice(), **typed).written
    told = pay(invoice, "600")
    assert (told.result, Payment.objects.count()) == (Result.SUPERSEDED, 1)
    assert "Alice Amaral recorded this payment" in str(told.sentence)


def test_a_payment_of_another_invoice_is_not_counted_again() -> None:
    first, second = papers.invoice(number="1"), papers.invoice(number="2")
    typed = {"provider": "bank", "payment": "tx-1", "amount": "600"}
    assert cast.propose("invoice.record_payment", first, by=cast.alice(), **typed).written
    assert cast.propose("invoice.record_payment", second, by=cast.alice(), **typed).result is Result.REFUSED
    assert states(second) == ["open", "open"]


@pytest.mark.parametrize(
    ("amount", "before", "doubt"),
    [("601", "", "amount"), ("600", "paid", "settled"), ("600", "cancelled", "cancelled")],
)
def test_money_that_fits_nowhere_is_kept_and_waits_for_a_person(amount: str, before: str, doubt: str) -> None:
    invoice = papers.invoice("600", "400")
    if before == "paid":
        pay(invoice, "600", key="tx-0")
    if before == "cancelled":
        cast.propose("invoice.cancel", invoice, by=cast.alice(), reason="Sent twice")
    was = states(invoice)

    assert pay(invoice, amount).written

    payment = Payment.objects.get(provider_key="tx-1")
    assert (payment.state, payment.doubt, states(invoice)) == ("in_review", doubt, was)
    assert papers.again(invoice).to_review == 1


def test_a_reviewer_counts_a_payment_or_sends_it_back() -> None:
    invoice = papers.invoice("600", "400")
    pay(invoice, "601", key="tx-1")
    pay(invoice, "5", key="tx-2")
    first, second = Payment.objects.order_by("provider_key")
    one = papers.part(invoice).pk

    def review(payment: Payment, **said: Any) -> Outcome:
        found = papers.again(invoice)
        return cast.propose("invoice.review_payment", found, payment=payment.pk, reason="One too many", **said)

    assert review(first, by=cast.alice(), decision="count", installment=one).result is Result.REFUSED
    assert review(first, by=cast.AGENT, decision="count", installment=one).result is Result.REFUSED
    assert review(first, by=cast.manager(), decision="count").result is Result.REFUSED
    assert review(first, by=cast.manager(), decision="count", installment=one).written
    assert review(second, by=cast.manager(), decision="return").written
    assert review(second, by=cast.manager(), decision="return").result is Result.SUPERSEDED
    assert list(Payment.objects.order_by("provider_key").values_list("state", flat=True)) == ["counted", "returned"]
    assert states(invoice) == ["paid", "open"]


# --- collection ------------------------------------------------------------------------------------------------------


def test_collection_that_a_payment_overtook_is_superseded_with_the_payment_as_evidence() -> None:
    prepared = papers.invoice()
    assert pay(prepared, "600").written

    late = on("start_collection", prepared, by=cast.AGENT)

    assert late.result is Result.SUPERSEDED
    assert "Installment 1 was paid" in str(late.sentence)
    assert "nobody was contacted" in str(late.sentence)
    record = Conflict.objects.get(pk=late.record)
    assert record.closed_at is not None
    assert {"payments", "installments"} <= {change["aspect"] for change in record.moved}
    assert record.overtaken_by is not None
    assert record.overtaken_by.name == "The bank"
    assert states(prepared) == ["paid", "open"]


def test_a_payment_ends_a_collection_that_has_begun() -> None:
    invoice = papers.invoice()
    assert on("start_collection", invoice, by=cast.AGENT).written
    assert pay(invoice, "600").written
    assert states(invoice) == ["paid", "open"]
    back = on("resume", papers.again(invoice))
    assert back.result is Result.SUPERSEDED
    assert states(invoice) == ["paid", "open"]


def test_nothing_is_collected_before_it_is_due_while_disputed_or_while_money_waits() -> None:
    far = dt.date(2131, 1, 1)
    early = papers.invoice(number="1", installments=[{"due_on": far, "amount": "1000"}])
    assert on("start_collection", early, by=cast.AGENT).result is Result.REFUSED
    disputed = papers.invoice(number="2")
    assert on("dispute", disputed, reason="Half was broken").written
    assert on("start_collection", papers.again(disputed), by=cast.AGENT).result is Result.REFUSED
    waiting = papers.invoice(number="3")
    pay(waiting, "601")
    assert on("start_collection", papers.again(waiting), by=cast.AGENT).result is Result.REFUSED
    assert Installment.objects.filter(state="in_collection").count() == 0


def test_the_database_itself_refuses_collection_of_what_is_paid() -> None:
    invoice = papers.invoice()
    pay(invoice, "600")
    invoice = papers.again(invoice)
    one = papers.part(invoice)
    one.state = "in_collection"
    invoice.save()  # the version is raised: only the table of moves is left
    with pytest.raises(DatabaseError), transaction.atomic():
        one.save()
    assert states(invoice) == ["paid", "open"]


@pytest.mark.parametrize("by", ["agent", "integration", "salesperson"])
@pytest.mark.parametrize("verb", ["reopen_installment", "refund"])
def test_what_was_paid_is_opened_by_nobody_without_the_authority(verb: str, by: str) -> None:
    invoice = papers.invoice()
    pay(invoice, "600")
    who = {"agent": cast.AGENT, "integration": BANK, "salesperson": cast.alice()}[by]
    outcome = on(verb, papers.again(invoice), by=who, reason="The bank took it back")
    assert (outcome.result, outcome.state) == (Result.REFUSED, "needs_human_decision")
    assert Conflict.objects.filter(
        pk=outcome.record, actor=str(who if by != "salesperson" else actors.person(who))
    ).exists()
    assert states(invoice) == ["paid", "open"]


def test_a_manager_opens_again_what_was_paid_and_says_why() -> None:
    invoice = papers.invoice("600")
    pay(invoice, "600")
    with pytest.raises(BadParams):
        on("reopen_installment", papers.again(invoice), by=cast.manager(), reason="")
    assert on("reopen_installment", papers.again(invoice), by=cast.manager(), reason="The bank took it back").written
    invoice = papers.again(invoice)
    assert (states(invoice), invoice.state, invoice.to_review) == (["open"], "open", 1)
    assert papers.part(invoice).reason == "The bank took it back"


# --- dividing, moving, cancelling -------------------------------------------------------------------------------------


def test_what_is_open_is_divided_anew_and_still_adds_up() -> None:
    invoice = papers.invoice("600", "400")
    pay(invoice, "400")
    parts = [{"due_on": dt.date(2031, 1, 1), "amount": "250"}, {"due_on": dt.date(2031, 2, 1), "amount": "350"}]
    assert cast.propose("invoice.divide", papers.again(invoice), by=cast.alice(), installments=parts).written
    assert papers.adds_up(invoice)
    assert states(invoice) == ["paid", "open", "open"]
    short = [{"due_on": dt.date(2031, 1, 1), "amount": "599"}]
    assert (
        cast.propose("invoice.divide", papers.again(invoice), by=cast.alice(), installments=short).result
        is Result.REFUSED
    )


def test_dividing_what_was_paid_meanwhile_is_a_conflict() -> None:
    shown = papers.invoice("600", "400")
    pay(shown, "600")
    parts = [{"due_on": dt.date(2031, 1, 1), "amount": "1000"}]
    late = cast.propose("invoice.divide", shown, by=cast.alice(), installments=parts)
    assert late.result is Result.CONFLICT
    assert papers.adds_up(shown)


def test_an_invoice_that_was_paid_in_part_is_not_cancelled() -> None:
    shown = papers.invoice()
    pay(shown, "600")
    unseen = cast.propose("invoice.cancel", shown, by=cast.alice(), reason="Sent twice")
    seen = cast.propose("invoice.cancel", papers.again(shown), by=cast.alice(), reason="Sent twice")
    assert (unseen.result, seen.result) == (Result.CONFLICT, Result.REFUSED)
    assert papers.again(shown).state == "open"


def test_moving_an_installment_that_somebody_moved_asks() -> None:
    shown = papers.invoice()
    assert on("reschedule", papers.again(shown), by=cast.bob(), due_on="2031-01-01").written
    assert on("reschedule", shown, due_on="2031-02-01").result is Result.CONFLICT
    assert str(papers.part(shown).due_on) == "2031-01-01"


def test_tags_and_notes_of_two_people_are_both_kept() -> None:
    shown = papers.invoice(tags=["north"])
    cast.propose("invoice.edit", papers.again(shown), by=cast.bob(), tags=["north", "late"])
    assert cast.propose("invoice.edit", shown, by=cast.alice(), tags=["north", "key"]).result is Result.MERGED
    assert sorted(papers.again(shown).tags) == ["key", "late", "north"]


# --- whatever happens -------------------------------------------------------------------------------------------------

DEED = st.tuples(
    st.sampled_from(
        [
            "pay",
            "start_collection",
            "resume",
            "dispute",
            "reopen_installment",
            "refund",
            "reschedule",
            "divide",
            "cancel",
        ]
    ),
    st.integers(1, 4),
    st.booleans(),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(DEED, max_size=9))
def test_whatever_is_done_the_installments_add_up_and_nothing_paid_is_collected(deeds: list[Any]) -> None:
    with transaction.atomic():
        number = str(Invoice.objects.count())
        invoice = shown = papers.invoice("500", "300", "200", number=number)
        paid: set[int] = set()
        for index, (verb, which, fresh) in enumerate(deeds):
            invoice = papers.again(shown)
            read = invoice if fresh else shown
            rows = list(Installment.objects.filter(invoice=invoice))
            one = rows[which % len(rows)]
            if verb == "pay":
                pay(invoice, str(one.amount), key=f"{number}-{index}", installment=one.pk)
            elif verb == "divide":
                parts = [{"due_on": "2031-01-01", "amount": str(invoice.owed or 1)}]
                cast.propose("invoice.divide", read, by=cast.manager(), installments=parts)
            elif verb == "cancel":
                cast.propose("invoice.cancel", read, by=cast.manager(), reason="x")
            else:
                more = {"due_on": "2031-01-01"} if verb == "reschedule" else {}
                more |= {"reason": "x"} if verb in ("dispute", "reopen_installment", "refund") else {}
                cast.propose(f"invoice.{verb}", read, by=cast.manager(), installment=one.pk, **more)
            assert papers.adds_up(invoice)
            now = {row.pk: row.state for row in Installment.objects.filter(invoice=invoice)}
            assert all(now[pk] != "in_collection" for pk in paid)
            paid = {pk for pk, state in now.items() if state == "paid"}
            counted = Payment.objects.filter(invoice=invoice, state="counted").values_list("installment", flat=True)
            assert sorted(counted) == sorted(paid)
        transaction.set_rollback(True)
