"""Kind: what one kind of file holds. The five kinds are this, filled in.

A kind of subjects says how a row finds its record, which fields it gives, and with which actions they are written; all
else (batches, comparing, refusals, the gate) is here, once. Next in the flow: `conflicts/gate.py`.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conflicts import actions, actors, gate
from conflicts.actors import Actor
from conflicts.exceptions import BadParams
from conflicts.models import Conflict, VersionedModel
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.imports import changes
from crm.imports.columns import Column, Layout, check_required
from crm.imports.options import Options
from crm.imports.origin import source_of
from crm.imports.problems import BadCell, FileProblem
from crm.imports.report import Fate, Refusal, Report
from crm.models import User


@dataclass(slots=True)
class Row:
    line: int
    values: dict[str, Any]
    """Target -> value, of the cells that are not empty."""
    record: Any = None
    """The record it is about, as it was just read; None for a new one."""

    @property
    def made_at(self) -> int | None:
        """The version of its record that the row was made from, where the file says so."""
        return self.values.get("version")


@dataclass(frozen=True, slots=True)
class Step:
    """One proposal that a row asks for, and which column it comes from (empty: several)."""

    row: Row
    proposal: Proposal
    column: str = ""

    @property
    def is_question(self) -> bool:
        """Both the file and people have changed this field: the gate refuses it, and a person chooses."""
        return bool(self.proposal.key)

    def on_version(self, version: int) -> "Step":
        if self.is_question:
            return self  # rests on the version it is about
        read = self.proposal.basis[0]
        return replace(self, proposal=replace(self.proposal, basis=(replace(read, version=version),)))

    def as_question(self, version: int, name: str) -> "Step":
        read = replace(self.proposal.basis[0], version=version)
        asked = replace(self.proposal, basis=(read,))
        # The same clash tomorrow is the same question, not another one.
        return replace(self, proposal=replace(asked, key=f"import:{read.subject}:{name}:{asked.fingerprint[:24]}"))


class Kind:
    """One import of one file."""

    name: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]
    """In the order in which they are looked for."""

    def __init__(self, *, options: Options, report: Report, layout: Layout) -> None:
        self.options = options
        self.report = report
        self.layout = layout
        self.seen: dict[Hashable, tuple[int, int]] = {}
        """Key -> line and fingerprint of the row that had it first."""
        check_required(layout, self.columns)
        self.begin()

    def begin(self) -> None:
        """Once per file, before the first row."""

    def key(self, row: Row) -> Hashable:
        """What makes two rows speak of the same thing. Raises BadCell: it cannot be told."""
        raise NotImplementedError

    def handle(self, rows: Sequence[Row]) -> None:
        """Write these rows and tell the report."""
        raise NotImplementedError

    def finish(self) -> None:
        """Once per file, after the last row."""

    def is_new(self, row: Row) -> bool:
        """False for a row whose twin stood further up; one that says something else there is refused."""
        key = self.key(row)
        content = hash(repr(sorted(row.values.items())))
        line, before = self.seen.setdefault(key, (row.line, content))
        if line == row.line:
            return True
        if before != content:
            raise BadCell(
                _("line %(line)s says something else of the same record; the first one counts.") % {"line": line}
            )
        return False

    def refuse(self, row: Row, error: BadCell) -> None:
        self.report.refuse(row.line, error.reason, column=self.layout.header_of(error.column) if error.column else "")

    def leave_open(self, target: str, name: str) -> None:
        self.report.leave_open(self.layout.header_of(target), name)


class SubjectKind(Kind):
    """Rows that are subjects, written through the gate."""

    model: ClassVar[type[VersionedModel]]
    create: ClassVar[str]
    edit: ClassVar[str]

    def begin(self) -> None:
        self.by = author(self.options)
        if self.options.by:
            person = actors.person(User.objects.get(username=self.options.by))
            if forbidden := actions.get(self.create).permits(person, None):
                raise FileProblem(str(forbidden))

    own_actions: ClassVar[dict[str, str]] = {}
    """Field -> the action that writes it, where that is not `edit`."""

    def find(self, rows: Sequence[Row]) -> None:
        """Set `record` of each row that has one, and look up what the rows name, in few queries for all of them."""
        raise NotImplementedError

    def fields(self, row: Row) -> dict[str, Any]:
        """What the row gives, as the params of create and edit. Raises BadCell."""
        raise NotImplementedError

    def only_new(self, row: Row, params: dict[str, Any]) -> dict[str, Any]:
        """What a new record gets beyond `fields`. Raises BadCell."""
        return {}

    def compared(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Which of `params` are compared with the record that is here already."""
        return dict(params)

    def further(self, row: Row) -> Iterable[tuple[str, dict[str, Any], str]]:
        """What the row adds inside its record (an address): action, params, target of the column."""
        return ()

    def own_params(self, row: Row, action: str, values: dict[str, Any]) -> dict[str, Any]:
        """The params by which `action` writes these fields."""
        return values

    def handle(self, rows: Sequence[Row]) -> None:
        self.find(rows)
        new: list[Step] = []
        known: list[tuple[Row, dict[str, Any]]] = []
        for row in rows:
            try:
                self._check_version(row)
                params = self.fields(row)
                if row.record is None:
                    new.append(self._step(row, self.create, params | self.only_new(row, params)))
                else:
                    known.append((row, self.differing(row, self.compared(row, params))))
            except BadCell as error:
                self.refuse(row, error)
        self._create(new)
        self.change(known)

    @staticmethod
    def differing(row: Row, wanted: Mapping[str, Any]) -> dict[str, Any]:
        return changes.differing(row.record, wanted, exact=row.made_at is not None)

    def _check_version(self, row: Row) -> None:
        """A row that was made from a record is never a new one, nor from a version that has not been."""
        if row.made_at is None:
            return
        if row.record is None:
            reason = _("Made from v%(version)s of a record that is not here under this name or number.")
            raise BadCell(reason % {"version": row.made_at}, column="version")
        if row.made_at > row.record.version:
            reason = _("Made from v%(version)s, but the record is at v%(now)s here.")
            raise BadCell(reason % {"version": row.made_at, "now": row.record.version}, column="version")

    def _create(self, steps: Sequence[Step]) -> None:
        more: list[Step] = []
        for step, outcome in zip(steps, self._commit(steps), strict=True):
            row = step.row
            if outcome is None:
                self.report.mark(row.line, Fate.CREATED)
            elif outcome.written and outcome.subject and outcome.version:
                self.report.mark(row.line, Fate.CREATED)
                row.record = self.model(version=outcome.version)
                row.record.pk = outcome.subject.pk
                more += self._further(row)
            else:
                self.report.refuse(row.line, str(outcome.sentence))
        self._in_rounds(more)

    def change(self, known: Sequence[tuple[Row, dict[str, Any]]]) -> None:
        """Write what differs in these records. `known`: row, and the fields in which it differs."""
        moved = [(row, wanted) for row, wanted in known if wanted]
        fields = {name for _row, wanted in moved for name in wanted}
        said = changes.said_before(
            self.model, [row.record.pk for row, _wanted in moved if row.made_at is None], fields
        ) | changes.said_at(
            self.model, {row.record.pk: row.made_at for row, _wanted in moved if row.made_at is not None}, fields
        )
        steps: list[Step] = []
        for row, wanted in known:
            self.report.mark(row.line, Fate.UNCHANGED)
            difference = changes.weigh(row.record, wanted, said.get(row.record.pk, {}), exact=row.made_at is not None)
            for name in difference.kept:
                self.report.kept[self.layout.header_of(name)] += 1
            try:
                steps += [*self._steps(row, difference), *self._further(row)]
            except BadCell as error:
                self.refuse(row, error)
        self._in_rounds(steps)

    def _in_rounds(self, steps: Sequence[Step]) -> None:
        """One action per record and round, each on the version that the round before has left."""
        while steps:
            first: dict[int, Step] = {}
            later: list[Step] = []
            for step in steps:
                if first.setdefault(step.row.line, step) is not step:
                    later.append(step)  # noqa: PERF401 - two lists from one look
            now = list(first.values())
            outcomes = self._commit(now)
            waiting = _waiting(outcomes)
            for step, outcome in zip(now, outcomes, strict=True):
                self._note(step, outcome, waiting)
                if outcome is not None and outcome.written and outcome.version:
                    step.row.record.version = outcome.version
            steps = [step.on_version(step.row.record.version) for step in later]

    def _steps(self, row: Row, difference: changes.Difference) -> list[Step]:
        by_action: dict[str, dict[str, Any]] = {}
        for name, value in difference.fresh.items():
            by_action.setdefault(self.own_actions.get(name, self.edit), {})[name] = value
        found = [self._step(row, action, self.own_params(row, action, values)) for action, values in by_action.items()]
        for name, (value, version) in difference.clashing.items():
            action = self.own_actions.get(name, self.edit)
            step = self._step(row, action, self.own_params(row, action, {name: value}), target=name)
            found.append(step.as_question(version, name))
        return found

    def _further(self, row: Row) -> list[Step]:
        found: list[Step] = []
        for action, params, target in self.further(row):
            try:
                found.append(self._step(row, action, params, target=target))
            except BadCell as error:
                self.report.point_out(row.line, error.reason, column=self.layout.header_of(target))
        return found

    def _step(self, row: Row, action: str, params: dict[str, Any], *, target: str = "") -> Step:
        """Raises BadCell for what the action itself would not take."""
        try:
            actions.validate(actions.get(action), params)
        except BadParams as error:
            field, lines = next(iter(error.errors.items()))
            raise BadCell(" ".join(lines), column=target or field) from None
        basis = (Read(subject=Ref.of(row.record), version=row.record.version),) if row.record is not None else ()
        source = source_of(self.report.file, row.line)
        proposal = Proposal(action=action, by=self.by, params=params, basis=basis, source=source)
        return Step(row, proposal, self.layout.header_of(target) if target else "")

    def _commit(self, steps: Sequence[Step]) -> Sequence[Outcome | None]:
        """None for each in a dry run: it would be asked."""
        if self.options.dry_run:
            return [None] * len(steps)
        return gate.commit_many([step.proposal for step in steps])

    def _note(self, step: Step, outcome: Outcome | None, waiting: Collection[int]) -> None:
        line = step.row.line
        if outcome is None:
            if step.is_question:
                self.report.refuse(line, _("People have changed it meanwhile."), column=step.column)
            else:
                self.report.mark(line, Fate.CHANGED)
        elif outcome.written:
            self.report.mark(line, Fate.CHANGED)
            if outcome.result is Result.MERGED:
                self.report.together.append(Refusal(line, step.column, str(outcome.sentence)))
        elif not outcome.done:
            answer = outcome.settled
            if outcome.result is Result.DUPLICATE and step.is_question and answer.record not in waiting:
                self.report.kept[step.column] += 1  # a person has chosen since
                return
            record = answer.record if answer.record in waiting else None
            self.report.refuse(line, str(answer.sentence), column=step.column, record=record)


def _waiting(outcomes: Sequence[Outcome | None]) -> frozenset[int]:
    """Those conflicts of them that a person has still to settle."""
    found = {outcome.settled.record for outcome in outcomes if outcome is not None and not outcome.done}
    records = [record for record in found if record]
    return (
        frozenset(Conflict.objects.waiting().filter(pk__in=records).values_list("pk", flat=True)) if records else _NONE
    )


_NONE: frozenset[int] = frozenset()


NAMELESS = actors.integration(changes.ACTOR_KEY, "Import", words=gettext_lazy("Import"))


def author(options: Options) -> Actor:
    """An integration, since a file is no person; the name says who answers for it. Raises FileProblem."""
    if not options.by:
        return NAMELESS
    user = User.objects.filter(username=options.by).first()
    if user is None or not user.is_active:
        raise FileProblem(_("There is no active user “%(name)s”.") % {"name": options.by})
    return actors.integration(changes.ACTOR_KEY, _("Import by %(name)s") % {"name": user})
