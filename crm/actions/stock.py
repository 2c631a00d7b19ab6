"""What can be done to a stock item: count it, promise units of it, hand them out or give them back.

Guarantees that no unit is promised twice: what is free is looked up on the locked item, and the database refuses more
(crm/models/stock.py); that a promise ends once; and that one which a person made is not ended by an agent. When a
promise runs out is a row of its own, written with it: a job (crm/expiries.py), which is the next in the flow.
"""

import datetime as dt
from collections.abc import Iterator
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import AwareDatetime, Field, model_validator

from conflicts.actions import Action, register
from conflicts.actors import Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.refs import Ref
from conflicts.sentences import Sentence, actor, choice
from conflicts.work import Work
from crm import naming
from crm.actions.companies import Named
from crm.actions.fields import Key, Line, Params, RequiredKey, ShortLine, Tags, Text
from crm.models import Contract, Opportunity, Reservation, StockItem
from crm.models.contract import ContractState
from crm.models.opportunity import Status
from crm.models.stock import ReservationState
from crm.permissions import permits_deal, permits_of_team, permits_record
from crm.sentences_governed import said

NOT_CHANGED = Sentence("stock_not_changed")
EXPIRE = "stock.expire"
"""The action, and the kind of job that carries it out."""

LONGEST = dt.timedelta(days=366)

Units = Annotated[int, Field(ge=0, le=2_147_483_647)]
SomeUnits = Annotated[int, Field(ge=1, le=2_147_483_647)]
Number = Annotated[ShortLine, Field(max_length=60)]
Unit = Annotated[ShortLine, Field(max_length=40)]


class Create(Params):
    name: Named
    sku: Number = ""
    product: Key = None
    location: ShortLine = ""
    unit: Unit = ""
    on_hand: Units = 0
    note: Text = ""
    tags: Tags = []


class Edit(Params):
    """The count has an action of its own: two counts are added up, two names are not."""

    name: Named = ""
    sku: Number = ""
    product: Key = None
    location: ShortLine = ""
    unit: Unit = ""
    note: Text = ""
    tags: Tags = []


class Count(Params):
    on_hand: Units
    """What is there. Against the count that was read it says a difference, and two differences are added up."""


class Reserve(Params):
    quantity: SomeUnits
    opportunity: Key = None
    contract: Key = None
    until: AwareDatetime
    note: Line = ""

    @model_validator(mode="after")
    def _is_for_something(self) -> "Reserve":
        if not (self.opportunity or self.contract):
            raise ValueError(str(_("Say what it is for: a deal or a contract.")))
        return self


class OneReservation(Params):
    reservation: RequiredKey


class Extend(OneReservation):
    until: AwareDatetime


class Nothing(Params):
    pass


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_new(work: Work) -> None:
    # The unique key has the last word; this only says it in words before.
    if StockItem.objects.filter(name_key=naming.key(work.params.name)).exists():
        raise RuleBroken("stock_item_exists")


def _check_edit(work: Work) -> None:
    name = work.writes.get("name")
    if name and StockItem.objects.filter(name_key=naming.key(name)).exclude(pk=work.subject.pk).exists():
        raise RuleBroken("stock_item_exists")


def _check_count(work: Work) -> None:
    counted = work.writes.get("on_hand", work.subject.on_hand)
    if counted < work.subject.held:
        raise RuleBroken("count_below_promised", counted=counted, held=work.subject.held)


def check_until(work: Work, until: dt.datetime) -> None:
    if not work.now < until <= work.now + LONGEST:
        raise RuleBroken("until_is_no_time")


def _check_contract(work: Work, contract: Contract) -> None:
    """A promise for a contract is a change of it: by whoever may change it, while it may come to something."""
    if refusal := permits_of_team(work.by, contract):
        raise RuleBroken(refusal.code, **refusal.facts)
    if contract.state in (ContractState.CANCELLED, ContractState.DECLINED):
        status = choice("crm.contract", "state", contract.state)
        raise RuleBroken("contract_ended_nothing_promised", state="terminal_state_found", status=status)


def _check_reserve(work: Work) -> None:
    item, p = work.subject, work.params
    check_until(work, p.until)
    deal = Opportunity.objects.select_related("team").filter(pk=p.opportunity or 0).first()
    contract = Contract.objects.select_related("team", "opportunity__team").filter(pk=p.contract or 0).first()
    if contract:
        _check_contract(work, contract)
        deal = deal or contract.opportunity
    if deal and (refusal := permits_deal(work.by, deal)):
        raise RuleBroken(refusal.code, **refusal.facts)
    if deal and deal.status == Status.LOST:
        raise RuleBroken("deal_lost_nothing_promised", state="terminal_state_found")
    if p.quantity > item.free:
        theirs = [c for c in work.moved if c.aspect == Reservation.aspect]
        code = "promised_meanwhile" if theirs else "not_enough_free"
        state = "version_conflict" if theirs else ""
        raise RuleBroken(
            code, state=state, free=item.free, wanted=p.quantity, who=actor(theirs[-1].by) if theirs else "-"
        )


def _reservation(work: Work, wanted: ReservationState | None = None) -> Reservation:
    """The promise the params name, still held. Raises RuleBroken, GoalMet: it ended, or it is a person's."""
    found = Reservation.objects.filter(pk=work.params.reservation, item=work.subject).first()
    if found is None:
        raise RuleBroken("reservation_gone")
    if found.state != ReservationState.HELD:
        verdict = GoalMet if found.state == wanted else RuleBroken
        raise verdict(
            "reservation_ended",
            state="terminal_state_found",
            who=actor(found.author),
            status=said(found),
        )
    if found.maker.is_person and work.by.kind is not Kind.PERSON:
        raise RuleBroken("reservation_of_person", state="manual_action_detected", who=actor(found.maker))
    return found


def _check_release(work: Work) -> None:
    _reservation(work, ReservationState.RELEASED)


def _check_consume(work: Work) -> None:
    _reservation(work, ReservationState.CONSUMED)


def _check_extend(work: Work) -> None:
    check_until(work, work.params.until)
    found = _reservation(work)
    # Fields of a promise are not merged: whoever moves its end must have seen it as it is.
    theirs = [c for c in work.moved if c.aspect == Reservation.aspect and c.old == found.pk]
    if theirs:
        raise Clash("reservation_changed", who=actor(theirs[-1].by))


def _run_out(work: Work) -> list[Reservation]:
    held = Reservation.objects.filter(item=work.subject, state=ReservationState.HELD)
    return list(held.filter(until__lte=work.now).order_by("pk"))


def _check_expire(work: Work) -> None:
    if not _run_out(work):
        raise GoalMet("nothing_runs_out")


def _alone(params: Params) -> Iterator[Ref]:
    return iter(())


def _promised_to(p: Reserve) -> Iterator[Ref]:
    """Whoever ends the deal or the contract is before the promise or after it, never in the middle of it."""
    if p.opportunity:
        yield Ref(Opportunity._meta.label_lower, p.opportunity)
    if p.contract:
        yield Ref(Contract._meta.label_lower, p.contract)


# --- what is written --------------------------------------------------------------------------------------------------


def _create(work: Work) -> None:
    values = work.params.model_dump()
    product = values.pop("product")
    work.new(StockItem(**values, product_id=product, name_key=naming.key(work.params.name)))


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "name" in work.writes:
        work.set(name_key=naming.key(work.writes["name"]))


def _reserve(work: Work) -> None:
    p: Reserve = work.params
    item: StockItem = work.subject
    work.set(held=item.held + p.quantity)
    work.add(
        Reservation(
            item=item,
            opportunity_id=p.opportunity,
            contract_id=p.contract,
            quantity=p.quantity,
            made_by=str(work.by),
            until=p.until,
            note=p.note,
        )
    )
    _wait_until(work, p.until)


def _wait_until(work: Work, until: dt.datetime) -> None:
    # The number of a new promise is not known yet; the item's next version names this very act.
    work.later(EXPIRE, {}, key=f"{EXPIRE}:{work.subject.pk}:{work.subject.version + 1}", due_at=until)


def _end(work: Work, state: ReservationState) -> None:
    found, item = _reservation(work), work.subject
    work.change(found, state=state.value, ended_at=work.now)
    work.set(held=item.held - found.quantity)
    if state is ReservationState.CONSUMED:
        work.set(on_hand=item.on_hand - found.quantity)


def _extend(work: Work) -> None:
    work.change(_reservation(work), until=work.params.until)
    _wait_until(work, work.params.until)


def _expire(work: Work) -> None:
    found = _run_out(work)
    for reservation in found:
        work.change(reservation, state=ReservationState.EXPIRED.value, ended_at=work.now)
    work.set(held=work.subject.held - sum(reservation.quantity for reservation in found))


register(
    Action(
        name="stock.create",
        subject=StockItem,
        params=Create,
        words=_("Add a stock item"),
        check=_check_new,
        apply=_create,
        permits=permits_record,
        creates=True,
    )
)
register(
    Action(
        name="stock.edit",
        subject=StockItem,
        params=Edit,
        words=_("Change the stock item"),
        check=_check_edit,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_record,
        avoided=NOT_CHANGED,
    )
)
register(
    Action(
        name="stock.count",
        subject=StockItem,
        params=Count,
        words=_("Count the stock"),
        check=_check_count,
        apply=lambda work: work.set(**work.writes),
        writes=lambda p: {"on_hand": p.on_hand},
        permits=permits_record,
        avoided=NOT_CHANGED,
    )
)
for name, params, words, check, apply in (
    ("reserve", Reserve, _("Reserve units"), _check_reserve, _reserve),
    ("extend", Extend, _("Hold a reservation longer"), _check_extend, _extend),
    (
        "release",
        OneReservation,
        _("Give a reservation back"),
        _check_release,
        lambda work: _end(work, ReservationState.RELEASED),
    ),
    (
        "consume",
        OneReservation,
        _("Hand reserved units out"),
        _check_consume,
        lambda work: _end(work, ReservationState.CONSUMED),
    ),
    ("expire", Nothing, _("End what has run out"), _check_expire, _expire),
):
    register(
        Action(
            name=f"stock.{name}",
            subject=StockItem,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({Reservation.aspect}),
            permits=permits_record,
            stands_on=_promised_to if params is Reserve else _alone,
            avoided=NOT_CHANGED,
        )
    )
