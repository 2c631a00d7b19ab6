"""System checks: the process refuses to start if a guarantee of the kernel is not in place.

E001-E003 and E010-E013 look at the models, E005-E009 at the times that work takes and claims last, E014 at the limits;
E004 looks into the database (`check --database default`, and before `run` serves).
"""

from collections.abc import Sequence
from typing import Any

from celery import current_app
from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import FieldDoesNotExist
from django.core.management.base import SystemCheckError
from django.db import connections, models
from django.db.migrations.executor import MigrationExecutor

from conflicts import guard, heartbeat, history, jobs, leases, limits, tasks
from conflicts.models.versioned import ChildModel, VersionedModel


def refuse_to_start() -> None:
    """For what serves without a command of Django's, which would ask: the web server (config/asgi.py) and the workers
    (config/celery.py; Celery looks at the checks and goes on). Raises SystemCheckError.
    """
    if found := [message for message in run_checks(tags=[Tags.models]) if message.is_serious()]:
        raise SystemCheckError("\n".join(str(message) for message in found))


def guarded_models() -> list[type[models.Model]]:
    """Every table that the guard must hold: subjects and their children."""
    return [model for model in apps.get_models() if issubclass(model, VersionedModel | ChildModel)]


@register(Tags.models)
def models_are_protected(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    found: list[CheckMessage] = []
    for model in guarded_models():
        if not any(isinstance(t, guard.SubjectGuard | guard.ChildGuard) for t in guard.triggers(model)):
            found.append(Error("This table has no guard trigger.", obj=model, id="conflicts.E001"))
        try:
            history.events_of(model)
        except LookupError:
            found.append(
                Error(
                    "No history is kept.",
                    hint="Decorate it with history.tracked.",
                    obj=model,
                    id="conflicts.E002",
                )
            )
        if issubclass(model, VersionedModel):
            found += _policy_names_what_is_there(model)
            found += _table_of_moves_is_whole(model)
    return found


def _policy_names_what_is_there(model: type[VersionedModel]) -> list[CheckMessage]:
    known = {*model.content_fields(), *(child.aspect for child in history.children_of(model))}
    states = {str(state) for state in model.transitions}
    policy = model.policy
    found: list[CheckMessage] = [
        Error(f"The merge policy names an unknown field {name!r}.", obj=model, id="conflicts.E003")
        for name in sorted(policy.names - known)
    ]
    found += [
        Error(f"The merge policy names an unknown state {state!r}.", obj=model, id="conflicts.E010")
        for state in sorted((policy.exclusive | policy.terminal) - states)
    ]
    found += [
        Error(
            f"{name!r} cannot be both merged and recalculated.",
            hint="What is recalculated from other fields is never put together with an older value.",
            obj=model,
            id="conflicts.E011",
        )
        for name in sorted(policy.rules.keys() & policy.derived.keys())
    ]
    return found


def _table_of_moves_is_whole(model: type[VersionedModel]) -> list[CheckMessage]:
    if not model.state_field and not model.transitions:
        return []
    try:
        choices = {str(value) for value, _ in model._meta.get_field(model.state_field).flatchoices}  # type: ignore[union-attr]
    except FieldDoesNotExist:
        return [Error(f"There is no state field {model.state_field!r}.", obj=model, id="conflicts.E012")]
    named = {str(state) for state in model.transitions}
    reached = {str(state) for after in model.transitions.values() for state in after}
    if named == choices and reached <= choices:
        return []
    return [
        Error(
            f"The table of moves and the states of {model.state_field!r} do not name the same.",
            hint="Every state has a line in the table; one without a way out has an empty set.",
            obj=model,
            id="conflicts.E013",
        )
    ]


@register(Tags.database)
def guards_are_installed(app_configs: Any, databases: Any = None, **kwargs: Any) -> Sequence[CheckMessage]:
    found: list[CheckMessage] = []
    for alias in databases or ():
        executor = MigrationExecutor(connections[alias])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            continue  # migrate itself runs this check first, on tables whose guards are still to come
        with connections[alias].cursor() as cursor:
            cursor.execute(
                "SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
                " WHERE t.tgname LIKE 'pgtrigger_guard_%%' AND t.tgenabled <> 'D'"
            )
            guarded = {name for (name,) in cursor.fetchall()}
        found += [
            Error(
                f"The table {model._meta.db_table} has lost its guard trigger.",
                hint="Run manage.py migrate; if it says nothing to do, manage.py pgtrigger install.",
                obj=model,
                id="conflicts.E004",
            )
            for model in guarded_models()
            if model._meta.db_table not in guarded
        ]
    return found


@register()
def work_ends_in_time(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """No kind of job may take longer than what carries it: its lease, the task it runs in, the message that rang."""
    task = current_app.conf
    soft, hard = task.task_soft_time_limit, task.task_time_limit
    transport = (task.broker_transport_options or {}).get("visibility_timeout", hard)
    found: list[CheckMessage] = []
    for kind in jobs.kinds():
        if kind.seconds > min(jobs.LONGEST_RUN, leases.LONGEST):
            found.append(
                Error(
                    f"Jobs of the kind {kind.name!r} may take {kind.seconds:g} seconds;"
                    " their claim is not kept so long.",
                    hint=f"At most {min(jobs.LONGEST_RUN, leases.LONGEST):g}; cut longer work into several jobs.",
                    id="conflicts.E005",
                )
            )
        # A task takes work until DRAIN_SECONDS have passed, so the last job may begin just before.
        if soft is None or tasks.DRAIN_SECONDS + kind.seconds >= soft:
            found.append(
                Error(
                    f"Jobs of the kind {kind.name!r} may take {kind.seconds:g} seconds, and the task in which they run"
                    " is stopped before their end.",
                    hint=f"With the {tasks.DRAIN_SECONDS:g} seconds before it, it must stay below {soft} seconds.",
                    id="conflicts.E006",
                )
            )
    claim = jobs.claim_seconds()
    if not leases.SHORTEST <= claim / heartbeat.BEATS <= claim <= leases.LONGEST:
        found.append(
            Error(
                f"A claim of {claim:g} seconds (VIGENTE_CLAIM_SECONDS) is no lease that a heartbeat can keep.",
                hint=f"A lease lasts {leases.SHORTEST:g} to {leases.LONGEST:g} seconds.",
                id="conflicts.E007",
            )
        )
    if hard is None or soft is None or not soft < hard < transport:
        found.append(
            Error(
                "A task is not stopped before its message comes back: it would run twice.",
                hint="task_soft_time_limit < task_time_limit < visibility_timeout",
                id="conflicts.E008",
            )
        )
    return found


ASKED_PER_TURN, BESIDES = 2, 15.0
"""A turn may ask the model twice (an answer that cannot be read is asked for once more); then all else it does."""


@register()
def a_turn_outlasts_its_model(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The one lease that is held during a model call must not end while the model may still answer."""
    turn, timeout = settings.VIGENTE_TURN_SECONDS, settings.VIGENTE_MODEL_TIMEOUT
    least = ASKED_PER_TURN * timeout + BESIDES
    if least < turn <= leases.LONGEST:
        return []
    return [
        Error(
            f"A turn of {turn:g} seconds (VIGENTE_TURN_SECONDS) may end while the model is still answering"
            f" (VIGENTE_MODEL_TIMEOUT is {timeout:g})."
            if turn <= least
            else f"A turn of {turn:g} seconds (VIGENTE_TURN_SECONDS) is longer than any lease.",
            hint=f"A turn lasts more than {least:g} and at most {leases.LONGEST:g} seconds.",
            id="conflicts.E009",
        )
    ]


@register()
def limits_can_be_read(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    found: list[CheckMessage] = []
    for name, rate in settings.VIGENTE_LIMITS.items():
        known = name.partition(":")[0] in limits.NAMES
        try:
            limits.rate(name)
        except ValueError:
            known = False
        if not known:
            found.append(
                Error(
                    f"The limit {name}={rate} (VIGENTE_LIMITS) cannot be read.",
                    hint=f"It begins with {', '.join(limits.NAMES)} and ends like 60/minute.",
                    id="conflicts.E014",
                )
            )
    return found
