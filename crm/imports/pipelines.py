"""The pipeline that a file of deals goes into, and what its stages are called there."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from conflicts import guard
from conflicts.actors import Actor
from crm import naming
from crm.imports.problems import FileProblem
from crm.models import Pipeline, Stage
from crm.models.pipeline import StageKind

_WON = {"won", "closedwon", "win", "ganho", "ganha", "ganhou", "fechadoganho", "fechadaganha", "vendido"}
_LOST = {"lost", "closedlost", "loss", "perdido", "perdida", "perdeu", "fechadoperdido", "fechadaperdida"}


def kind_of(name: str) -> StageKind:
    """Whether a stage of that name ends a deal."""
    key = naming.key(name)
    return StageKind.WON if key in _WON else StageKind.LOST if key in _LOST else StageKind.OPEN


class Stages:
    """The stages of one pipeline by name; "Won" and "Lost" find the ends, whatever they are called here."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.all = list(pipeline.stages.order_by("position"))
        self._by_key = {naming.key(stage.name): stage for stage in self.all}

    def get(self, name: str) -> Stage | None:
        if found := self._by_key.get(naming.key(name)):
            return found
        kind = kind_of(name)
        ends = [stage for stage in self.all if stage.kind == kind != StageKind.OPEN]
        return ends[0] if len(ends) == 1 else None

    @property
    def first(self) -> Stage:
        return self.all[0]


def find(name: str) -> Pipeline | None:
    """The pipeline of that name, or the default one for no name."""
    if not name:
        return Pipeline.objects.filter(is_default=True).first()
    return next((known for known in Pipeline.objects.all() if naming.key(known.name) == naming.key(name)), None)


def open_stages(name: str, stages: Sequence[str], *, by: Actor, dry_run: bool) -> tuple[Stages, list[str]]:
    """The pipeline with the stages that were asked for, those that are missing made, and what was made.

    Of a dry run they are made too, so that the rows have stages to be looked at with; its transaction is taken back.
    Raises FileProblem: there is no such pipeline, or it has no stages.
    """
    pipeline = find(name)
    if pipeline is None and not stages:
        raise FileProblem(
            _('There is no pipeline “%(name)s”. --stages makes it, for example --stages "New, Proposal, Won, Lost".')
            % {"name": name}
            if name
            else _('There is no pipeline yet. --pipeline NAME with --stages "New, Proposal, Won, Lost" makes one.')
        )
    known = {naming.key(stage.name) for stage in pipeline.stages.all()} if pipeline else set()
    missing = [stage for stage in dict.fromkeys(stages) if naming.key(stage) not in known]
    made: list[str] = []
    if pipeline is None or missing:
        pipeline = _make(pipeline, name or _("Sales"), missing, by=by)
        words = (
            _("Would make in pipeline %(name)s: %(stages)s.")
            if dry_run
            else _("Made in pipeline %(name)s: %(stages)s.")
        )
        made = [words % {"name": pipeline.name, "stages": ", ".join(missing)}]
    found = Stages(pipeline)
    if not found.all:
        raise FileProblem(_("The pipeline “%(name)s” has no stages; --stages makes them.") % {"name": pipeline.name})
    return found, made


def _make(pipeline: Pipeline | None, name: str, missing: Sequence[str], *, by: Actor) -> Pipeline:
    with transaction.atomic():
        guard.sign(by)
        if pipeline is None:
            is_default = not Pipeline.objects.filter(is_default=True).exists()
            pipeline = Pipeline.objects.create(name=name, is_default=is_default)
        else:
            pipeline.save()  # a stage is part of its pipeline: its version rises with it
        last = pipeline.stages.aggregate(last=Max("position"))["last"]
        start = 0 if last is None else last + 1
        for position, stage in enumerate(missing, start=start):
            Stage.objects.create(pipeline=pipeline, name=stage, position=position, kind=kind_of(stage))
    return pipeline
