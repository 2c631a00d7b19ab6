"""The merge policies as they are declared: each model's rules as a table, its states as a picture and as a list.

Guarantees that every model under version control stands on the page by itself: it is read from the code, as the gate
reads it. Nothing can be changed here; a rule changes with a release, by whoever owns the process.
Next in the flow: `conflicts/policies.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.text import capfirst, get_text_list
from django.utils.translation import gettext as _

from conflicts.admin import diagram
from conflicts.models import VersionedModel
from conflicts.policies import Rule
from conflicts.sentences import aspect_label


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One field or aspect, and what a change of it means."""

    label: str
    slug: str
    merges: str
    voids: bool
    rereads: bool
    authority: str


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    label: str
    slug: str
    after: str
    terminal: bool
    exclusive: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    slug: str
    name: str
    owner: str
    version: int
    mark: str
    lines: tuple[Line, ...]
    states: tuple[State, ...]
    picture: diagram.Diagram | None
    state_name: str = ""


def models() -> list[type[VersionedModel]]:
    """Every model under version control, by the name people know it by."""
    found = [model for model in apps.get_models() if issubclass(model, VersionedModel)]
    return sorted(found, key=lambda model: str(model._meta.verbose_name_plural).lower())


def page(request: HttpRequest) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": _("Rules for changes that meet"),
        "policies": [shown(model) for model in models()],
    }
    return TemplateResponse(request, "admin/conflicts/policies.html", context)


def shown(model: type[VersionedModel]) -> Shown:
    states = tuple(_states(model))
    return Shown(
        slug=model._meta.label_lower.replace(".", "-"),
        name=capfirst(str(model._meta.verbose_name_plural)),
        owner=_(model.policy.owner) if model.policy.owner else "",
        version=model.policy.version,
        mark=model.policy.mark,
        lines=tuple(_lines(model)),
        states=states,
        picture=_picture(model) if states else None,
        state_name=_label(model, model.state_field) if model.state_field else "",
    )


def _lines(model: type[VersionedModel]) -> Iterator[Line]:
    policy = model.policy
    known = [name for name in model.content_fields() if name in policy.names]
    for name in [*known, *sorted(policy.names - set(known))]:
        if name in policy.derived:
            sources = get_text_list([_label(model, source) for source in sorted(policy.derived[name])], _("and"))
            merges = _("recalculated from %(what)s") % {"what": sources}
        elif name in model.content_fields():
            merges = str(policy.rule(name).words)
        else:
            merges = _("additions stand side by side")
        yield Line(
            label=capfirst(_label(model, name)),
            slug=name,
            merges=merges,
            voids=name in policy.voids_approval,
            rereads=name in policy.demands_reread,
            authority=str(policy.authority[name].words) if name in policy.authority else "",
        )
    everything_else = str(Rule.REFUSE.words)
    yield Line(label=_("Everything else"), slug="", merges=everything_else, voids=False, rereads=False, authority="")


def _states(model: type[VersionedModel]) -> Iterator[State]:
    if not model.transitions:
        return
    labels = _labels(model)
    ends = model.terminal_states()
    for state, after in model.transitions.items():
        targets = [labels[slug] for slug in labels if slug in {str(one) for one in after}]
        yield State(
            label=capfirst(labels[str(state)]),
            slug=str(state),
            after=get_text_list(targets, _("or")) if targets else "",
            terminal=str(state) in ends,
            exclusive=str(state) in model.policy.exclusive,
        )


def _picture(model: type[VersionedModel]) -> diagram.Diagram:
    labels = _labels(model)
    moves = {
        str(state): [slug for slug in labels if slug in {str(one) for one in after}]
        for state, after in model.transitions.items()
    }
    default = model._meta.get_field(model.state_field).get_default()  # type: ignore[union-attr]
    first = str(default) if str(default) in moves else next(iter(moves))
    return diagram.draw(moves, labels=labels, first=first, terminal=model.terminal_states())


def _labels(model: type[VersionedModel]) -> dict[str, str]:
    field: Any = model._meta.get_field(model.state_field)
    return {str(value): str(words) for value, words in field.flatchoices}


def _label(model: type[VersionedModel], name: str) -> str:
    return aspect_label(model._meta.label_lower, name)
