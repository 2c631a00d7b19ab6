"""The board: what of a pipeline a person sees, column by column, as few statements as the page needs.

Guarantees that a column's number and sum speak of every deal the filters let through and the person may see, not of the
cards shown; and that the cards come in keyset pages, so that a column of ten thousand costs what one of thirty costs.
Next in the flow: `crm/figures.py` for the sums, `crm/views/board.py` for the page.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.utils.formats import number_format
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from crm import figures
from crm.actions.fields import clean_text
from crm.models import Opportunity, Pipeline, Stage, User
from crm.models.opportunity import NextStep, OpportunityQuerySet, Status
from crm.models.pipeline import StageKind

PAGE = 20
"""Cards of a column at a time: what two screens hold."""
SHOWN = (
    *(column.name for column in Opportunity._meta.concrete_fields),
    *("company__version", "company__name", "product__version", "product__name"),
    *("owner__username", "owner__first_name", "owner__last_name"),
)
"""All of the deal, and of what it points at only the names."""
MINE = "me"
YEAR = 365


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the form above the board says. Whatever it cannot read it leaves out: a filter never breaks a page."""

    pipeline: str = ""
    owner: str = ""
    """`me`, the key of a person, or empty for everyone."""
    next: str = ""
    product: str = ""
    text: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Filters":
        owner, step = query.get("owner", ""), query.get("next", "")
        return cls(
            pipeline=_key(query.get("pipeline", "")),
            owner=owner if owner == MINE else _key(owner),
            next=step if step in NextStep.values else "",
            product=_key(query.get("product", "")),
            text=str(clean_text(query.get("q", "")[:100])),
        )

    @property
    def given(self) -> dict[str, str]:
        said = {
            "pipeline": self.pipeline,
            "owner": self.owner,
            "next": self.next,
            "product": self.product,
            "q": self.text,
        }
        return {name: value for name, value in said.items() if value}

    @property
    def narrows(self) -> bool:
        return bool(self.given.keys() - {"pipeline"})

    @property
    def query(self) -> str:
        """As the end of an address."""
        return urlencode(self.given)

    @property
    def address(self) -> str:
        """What follows the board's path to come back to what is shown now."""
        return f"?{self.query}" if self.given else ""

    @property
    def to_everyone(self) -> str:
        return replace(self, owner="").address

    @property
    def to_mine(self) -> str:
        return replace(self, owner=MINE).address

    @property
    def to_pipeline(self) -> str:
        """All deals of this pipeline."""
        return Filters(pipeline=self.pipeline).address

    def narrow(self, deals: OpportunityQuerySet, *, user: User) -> OpportunityQuerySet:
        """All but the next step, which needs to know the day."""
        if self.owner:
            deals = deals.filter(owner=user.pk if self.owner == MINE else int(self.owner))
        if self.product:
            deals = deals.filter(product=int(self.product))
        if self.text:
            deals = deals.filter(Q(name__icontains=self.text) | Q(company__name__icontains=self.text))
        return deals


def _key(text: str) -> str:
    """A primary key as text, or nothing."""
    return text if text.isascii() and text.isdigit() and len(text) < 19 else ""


@dataclass(kw_only=True)
class Card:
    deal: Opportunity
    today: dt.date
    mark: Any = None
    """What an agent has to say about the deal, if anything."""
    just: Any = None
    """`crm.views.board.Just`: who changed it a moment ago."""
    back: Any = None
    """`crm.views.board_move.Back`: why a move was refused."""

    @property
    def title(self) -> str:
        """The company; a deal without one goes by its own name."""
        return self.deal.company.name if self.deal.company else self.deal.name

    @property
    def what(self) -> str:
        if self.deal.company and self.deal.name != self.deal.company.name:
            return self.deal.name
        return self.deal.product.name if self.deal.product else ""

    @property
    def stuck_words(self) -> str:
        days = self.stuck_days or 0
        if days < 2 * YEAR:
            return _("%(n)d d") % {"n": days}
        return _("%(n)d y") % {"n": days // YEAR}

    @property
    def stuck_days(self) -> int | None:
        return self.deal.days_in_stage(today=self.today) if self.deal.is_stuck(today=self.today) else None


@dataclass(kw_only=True)
class Column:
    stage: Stage
    tallied: list[figures.Tally] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    after: str = ""
    """Where the next page of cards begins; empty on the last page."""
    resumed: bool = False
    """The cards are a later page, not the first."""

    @property
    def deals(self) -> int:
        return sum(tally.deals for tally in self.tallied)

    @property
    def number(self) -> str:
        return number_format(self.deals, force_grouping=True)

    @property
    def sums(self) -> list[figures.Money]:
        return figures.sums(self.tallied)


@dataclass(kw_only=True)
class Board:
    """One pipeline, as one person sees it on one day."""

    pipelines: Sequence[Pipeline]
    """All there are, to choose from."""
    pipeline: Pipeline
    user: User
    today: dt.date
    filters: Filters = field(default_factory=Filters)

    @cached_property
    def stages(self) -> list[Stage]:
        return sorted(self.pipeline.stages.all(), key=lambda stage: stage.position)

    @cached_property
    def tallied(self) -> list[figures.Tally]:
        deals = Opportunity.objects.filter(pipeline=self.pipeline).visible_to(self.user)
        return figures.tallies(self.filters.narrow(deals, user=self.user), today=self.today, step=self.filters.next)

    @cached_property
    def columns(self) -> list[Column]:
        """With their sums, still without cards."""
        by_stage = defaultdict(list)
        for tally in self.tallied:
            by_stage[tally.stage].append(tally)
        return [Column(stage=stage, tallied=by_stage[stage.pk]) for stage in self.stages]

    @property
    def open_sums(self) -> list[figures.Money]:
        return figures.sums(tally for column in self._open for tally in column.tallied)

    @property
    def open_deals(self) -> int:
        return sum(column.deals for column in self._open)

    @property
    def open_number(self) -> str:
        return number_format(self.open_deals, force_grouping=True)

    @property
    def _open(self) -> list[Column]:
        return [column for column in self.columns if not column.stage.is_terminal]

    @cached_property
    def next_steps(self) -> dict[str, int]:
        """How many open deals per state of their next step, among those the other filters let through."""
        return {state.value: sum(tally.next_steps[state.value] for tally in self.tallied) for state in NextStep}

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        """State, words and number, for the four filters."""
        words = {
            NextStep.OVERDUE: _("Overdue"),
            NextStep.TODAY: _("Today"),
            NextStep.LATER: _("Later"),
            NextStep.NONE: _("No next step"),
        }
        return [
            (state.value, said, number_format(self.next_steps[state.value], force_grouping=True))
            for state, said in words.items()
        ]

    @property
    def any(self) -> bool:
        return any(column.deals for column in self.columns)

    @property
    def lost_stages(self) -> list[Stage]:
        return [stage for stage in self.stages if stage.kind == StageKind.LOST]

    def everything(self) -> "Board":
        """The same board without filters: whoever has moved a card sees it, whatever is filtered."""
        return replace(self, filters=Filters(pipeline=self.filters.pipeline))

    def shown(self) -> OpportunityQuerySet:
        """The deals of the board: of the pipeline, visible to the person, and let through by the filters."""
        found = Opportunity.objects.filter(pipeline=self.pipeline).visible_to(self.user)
        found = self.filters.narrow(found, user=self.user)
        if self.filters.next:
            found = found.filter(figures.next_step_is(self.filters.next, today=self.today))
        return found

    def deals(self, keys: Iterable[int]) -> list[Opportunity]:
        """Those of the board's deals, with what a card shows, in the order of `keys`."""
        found = self.shown().filter(pk__in=keys).select_related("company", "owner", "product").only(*SHOWN)
        by_key = {deal.pk: deal for deal in found}
        return [by_key[key] for key in keys if key in by_key]

    def fill(self, *, stage: int | None = None, after: str = "") -> list[Column]:
        """The columns with the first page of their cards; `stage` begins at `after` instead.

        First only the keys, straight from the index, of all columns at once; then the deals themselves, once.
        """
        keys = [self._keys(s, after=after if s.pk == stage else "") for s in self.stages]
        first, *others = keys or [Opportunity.objects.none().values_list("pk", flat=True)]
        by_stage = defaultdict(list)
        for deal in self.deals(list(first.union(*others, all=True) if others else first)):
            by_stage[deal.stage_id].append(deal)
        for column in self.columns:
            self._put(column, by_stage[column.stage.pk])
            column.resumed = bool(after) and column.stage.pk == stage
        return self.columns

    def _keys(self, stage: Stage, *, after: str) -> "QuerySet[Opportunity, int]":
        """One more than a page holds: whether there is another page."""
        return page_of(self.shown(), stage, after=after).values_list("pk", flat=True)[: PAGE + 1]

    def page(self, stage: Stage, *, after: str) -> Column:
        """One further page of one column."""
        column = Column(stage=stage, resumed=bool(after))
        self._put(column, self.deals(list(self._keys(stage, after=after))))
        return column

    def cards(self, deals: Iterable[Opportunity]) -> list[Card]:
        stages = {stage.pk: stage for stage in self.stages}
        made = []
        for deal in deals:
            deal.stage = stages.get(deal.stage_id) or deal.stage
            made.append(Card(deal=deal, today=self.today))
        return made

    def _put(self, column: Column, deals: list[Opportunity]) -> None:
        column.cards = self.cards(deals[:PAGE])
        if len(deals) > PAGE:
            column.after = cursor(deals[PAGE - 1], column.stage)


def page_of(deals: OpportunityQuerySet, stage: Stage, *, after: str = "") -> OpportunityQuerySet:
    """A column in its order: open deals by their latest change, closed ones by the day they were closed."""
    name, tie = ("closed_on", "-pk") if stage.is_terminal else ("changed_at", "pk")
    deals = deals.filter(stage=stage).order_by(f"-{name}", tie)
    if stage.is_terminal:
        deals = deals.exclude(status=Status.OPEN)  # always so, and what the index of the closed ones is made for
    start = _position(after, stage)
    if start is None:
        return deals
    value, pk = start
    beside = Q(pk__lt=pk) if stage.is_terminal else Q(pk__gt=pk)
    # The first condition is implied by the second; it is what the index can start from.
    return deals.filter(Q(**{f"{name}__lte": value}), Q(**{f"{name}__lt": value}) | beside)


def cursor(deal: Opportunity, stage: Stage) -> str:
    """The place of a card in its column, as text for an address."""
    value = deal.closed_on if stage.is_terminal else deal.changed_at
    return f"{value.isoformat()}~{deal.pk}" if value else ""


def _position(after: str, stage: Stage) -> tuple[dt.date, int] | None:
    """What `cursor` wrote; None for none and for what it never wrote."""
    text, _, pk = after.partition("~")
    try:
        value = dt.date.fromisoformat(text) if stage.is_terminal else dt.datetime.fromisoformat(text)
        if not stage.is_terminal and value.tzinfo is None:  # type: ignore[attr-defined]
            return None
        return value, int(_key(pk))
    except ValueError:
        return None


def board_of(
    user: User, *, today: dt.date, filters: Filters | None = None, pipeline: int | None = None
) -> Board | None:
    """The board of that pipeline, else of the one the filters name, else of the default one. None for no pipeline."""
    filters = filters or Filters()
    known = list(Pipeline.objects.prefetch_related("stages").order_by("-is_default", "name"))
    wanted = str(pipeline or filters.pipeline)
    chosen = next((p for p in known if str(p.pk) == wanted), known[0] if known else None)
    return Board(pipelines=known, pipeline=chosen, user=user, today=today, filters=filters) if chosen else None
