"""What can be done to a contract: what it offers (name, lines, terms). What is said to it: `contract_moves.py`.

Guarantees that a change of what was offered makes the next document and voids an approval, that nobody makes such a
change without having seen that the contract was approved, signed or ended meanwhile, and that lines which two people
add at once are both there.
"""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from pydantic import BeforeValidator, Field

from conflicts import history
from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.refs import Ref
from conflicts.sentences import Sentence, actor
from conflicts.work import Work
from crm import naming
from crm.actions.companies import Named
from crm.actions.fields import MAX_AMOUNT, Currency, Key, Line, Params, RequiredKey, Tags, Text
from crm.documents import follow, load_lines
from crm.models import Company, Contract, ContractLine, Opportunity, Product, User
from crm.models.contract import CONTENT, TRANSITIONS, ContractState
from crm.permissions import permits_of_team

NOT_CHANGED = Sentence("contract_not_changed")
LINES = (load_lines, related("company"))
MOST_LINES = 100

Quantity = Annotated[Decimal, Field(gt=0, le=9_999_999, max_digits=10, decimal_places=2)]
Price = Annotated[Decimal, Field(ge=0, le=MAX_AMOUNT, max_digits=14, decimal_places=2)]
Discount = Annotated[
    Decimal, BeforeValidator(lambda value: 0 if value in ("", None) else value), Field(ge=0, le=100, decimal_places=2)
]


class LineOf(Params):
    product: RequiredKey
    description: Line = ""
    quantity: Quantity = Decimal(1)
    unit_price: Price


class OneLine(Params):
    line: RequiredKey


class ChangeLine(OneLine):
    quantity: Quantity
    unit_price: Price
    description: Line = ""


class Terms(Params):
    opportunity: Key = None
    owner: Key = None
    discount: Discount = Decimal(0)
    text: Text = ""
    valid_until: dt.date | None = None
    tags: Tags = []
    note: Text = ""


class Create(Terms):
    name: Named
    company: RequiredKey
    currency: Currency = settings.VIGENTE_CURRENCY
    lines: Annotated[list[LineOf], Field(max_length=MOST_LINES)] = []


class Edit(Terms):
    name: Named = ""
    currency: Currency = settings.VIGENTE_CURRENCY


# --------------------------------------------------------------------------------------------- the state in force


def check_same_state(work: Work) -> None:
    """Raises Clash: the contract went on to another state after it was read. Whoever acts now acts on another thing."""
    states = [c for c in work.moved if c.aspect == "state" and c.subject == work.proposal.subject]
    if states and states[0].old != work.subject.state:
        raise Clash(is_now(work.subject), state=_kind_of_end(work.subject), who=actor(states[-1].by))


def check_can_become(work: Work, target: ContractState) -> None:
    """The one table, asked before the write. Raises GoalMet, Clash, RuleBroken."""
    contract: Contract = work.subject
    if contract.state == target:
        raise GoalMet(is_now(contract), who=actor(_who_moved(contract)))
    check_same_state(work)
    if target not in TRANSITIONS[ContractState(contract.state)]:
        raise RuleBroken(is_now(contract), state=_kind_of_end(contract), who=actor(_who_moved(contract)))


def is_now(contract: Contract) -> str:
    """The sentence that says in which state the contract is."""
    return f"contract_{contract.state}_now"


def _kind_of_end(contract: Contract) -> str:
    return "terminal_state_found" if contract.is_over else ""


def _who_moved(contract: Contract) -> str:
    moves = [c for c in history.changes_since(Ref.of(contract), 1) if c.aspect == "state"]
    return moves[-1].by if moves else contract.changed_by


def check_content(work: Work) -> None:
    """May what is offered be changed? Raises Clash, RuleBroken."""
    check_same_state(work)
    contract: Contract = work.subject
    if contract.is_over:
        raise RuleBroken(is_now(contract), state="terminal_state_found", who=actor(_who_moved(contract)))
    if work.by.kind is Kind.AGENT and contract.state != ContractState.DRAFT:
        raise RuleBroken("agent_only_drafts")


# --------------------------------------------------------------------------------------------------- create and edit


def team_of(work: Work, *, owner: int | None, opportunity: int | None) -> int | None:
    """Its owner's team, else that of the deal it is for."""
    if owner:
        return work.once(
            ("team", owner), lambda: User.objects.filter(pk=owner).values_list("team_id", flat=True).first()
        )
    if opportunity:
        deals = Opportunity.objects.filter(pk=opportunity)
        return work.once(("team of deal", opportunity), lambda: deals.values_list("team_id", flat=True).first())
    return None


def _known_products(work: Work, keys: Sequence[int]) -> dict[int, Product]:
    found = Product.objects.in_bulk(keys)
    if len(found) != len(set(keys)):
        raise RuleBroken("names_nothing")
    return found


def _check_new(work: Work) -> None:
    if not Company.objects.filter(pk=work.params.company).exists():
        raise RuleBroken("names_nothing")
    _known_products(work, [line.product for line in work.params.lines])


def _create(work: Work) -> None:
    p: Create = work.params
    contract = Contract(
        **p.model_dump(exclude={"lines", "company", "opportunity", "owner"}),
        name_key=naming.key(p.name),
        company_id=p.company,
        opportunity_id=p.opportunity,
        owner_id=p.owner,
        team_id=team_of(work, owner=p.owner, opportunity=p.opportunity),
    )
    work.new(contract)
    products = _known_products(work, [line.product for line in p.lines])
    lines = [_line(contract, line, products[line.product]) for line in p.lines]
    for line in lines:
        work.add(line)
    follow(work, lines)


def _line(contract: Contract, said: LineOf, product: Product) -> ContractLine:
    return ContractLine(
        contract=contract,
        product=product,
        description=said.description,
        quantity=said.quantity,
        unit_price=said.unit_price,
    )


def _check_edit(work: Work) -> None:
    if set(CONTENT) & set(work.writes):
        check_content(work)
    elif work.by.kind is Kind.AGENT and work.subject.is_over:
        raise RuleBroken(is_now(work.subject), state="terminal_state_found", who=actor(_who_moved(work.subject)))


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "name" in work.writes:
        work.set(name_key=naming.key(work.writes["name"]))
    if "owner" in work.writes:
        work.set(team=team_of(work, owner=work.writes["owner"], opportunity=work.subject.opportunity_id))
    if set(CONTENT) & set(work.writes):
        follow(work, work.subject.lines_in_use)


# --------------------------------------------------------------------------------------------------------- the lines


def _check_add_line(work: Work) -> None:
    check_content(work)
    if len(work.subject.lines_in_use) >= MOST_LINES:
        raise RuleBroken("too_many_lines", most=MOST_LINES)
    _known_products(work, [work.params.product])


def _add_line(work: Work) -> None:
    line = _line(work.subject, work.params, Product.objects.get(pk=work.params.product))
    work.add(line)
    follow(work, [*work.subject.lines_in_use, line])


def _own_line(work: Work) -> ContractLine:
    """The line in use that the params name. Raises GoalMet, RuleBroken: somebody took it out, or it was never here."""
    known = next((line for line in work.subject.lines_in_use if line.pk == work.params.line), None)
    if known is not None:
        return known
    gone = ContractLine.objects.filter(pk=work.params.line, contract=work.subject).first()
    if gone is None:
        raise RuleBroken("line_gone")
    raise GoalMet("line_removed", who=actor(gone.author))


def _check_line(work: Work) -> None:
    check_content(work)
    _own_line(work)
    # Fields of a line are not merged: whoever changes one, or takes it out, must have seen it as it is.
    theirs = [c for c in work.moved if c.aspect == ContractLine.aspect and c.old == work.params.line]
    if theirs:
        raise Clash("line_changed", who=actor(theirs[-1].by))


def _change_line(work: Work) -> None:
    p: ChangeLine = work.params
    line = _own_line(work)
    work.change(line, quantity=p.quantity, unit_price=p.unit_price, description=p.description)
    follow(work, work.subject.lines_in_use)


def _remove_line(work: Work) -> None:
    line = _own_line(work)
    work.change(line, removed=True)
    follow(work, [other for other in work.subject.lines_in_use if other is not line])


register(
    Action(
        name="contract.create",
        subject=Contract,
        params=Create,
        words=_("Add a contract"),
        check=_check_new,
        apply=_create,
        permits=permits_of_team,
        creates=True,
    )
)
register(
    Action(
        name="contract.edit",
        subject=Contract,
        params=Edit,
        words=_("Change the contract"),
        check=_check_edit,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_of_team,
        avoided=NOT_CHANGED,
        loads=LINES,
    )
)
_ON_LINES: tuple[tuple[str, type[Params], Any, Any, Any], ...] = (
    ("add_line", LineOf, _("Add a line"), _check_add_line, _add_line),
    ("change_line", ChangeLine, _("Change a line"), _check_line, _change_line),
    ("remove_line", OneLine, _("Take a line out"), _check_line, _remove_line),
)
for name, params, words, check, apply in _ON_LINES:
    register(
        Action(
            name=f"contract.{name}",
            subject=Contract,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({"lines"}),
            permits=permits_of_team,
            avoided=NOT_CHANGED,
            loads=LINES,
        )
    )
