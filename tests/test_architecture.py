"""The plan of the house, held by tests: which room may import which, and which code may write a subject.

Read from the source (AST), so that a mistake in a file that no test runs is found too.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps

from conflicts import sentences
from conflicts.checks import guarded_models

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["config", "agents", "crm", "conflicts"]
"""Imports go only to the right."""

GUARDED = {model.__name__ for model in guarded_models()}
OTHERS = {model.__name__ for model in apps.get_models()} - GUARDED
"""Models that are no subject: their own compare-and-swap (`filter(state=...).update(...)`) is in order."""

REVIEWED = {
    # file: {what is called: why it is in order}
    "conflicts/models/versioned.py": {"super().save": "the guarded save itself"},
    "conflicts/gate.py": {"row.save": "a conflict record, new"},
    "config/celery.py": {"app.conf.update": "settings of Celery", "found.update": "settings of a connection"},
    "config/bench/loaded.py": {"store.create": "a session"},
    "config/bench/scratch.py": {
        "Pipeline.objects.create": "a new pipeline of a scratch database",
        "Stage.objects.create": "its stages, in the same transaction",
    },
    "conflicts/delivery.py": {"was.update": "an outgoing message, by compare-and-swap on state and holder"},
    "conflicts/pruning.py": {
        "free.delete": "leases that nobody can acquire again, with their jobs",
        "rows.model._base_manager.filter(pk__in=pks).delete": "old ledger entries and events",
    },
    "crm/sample/conversations.py": {"mine.update": "an outgoing message of an empty workspace: how far it got"},
    "conflicts/running.py": {"mine.update": "a job, by compare-and-swap on its claim"},
    "conflicts/watching.py": {"silent.update": "jobs whose holder is silent"},
    "crm/views/saved_views.py": {"view.delete": "a person's own view of a list"},
    "crm/sample/loading.py": {
        "Pipeline.objects.create": "a new pipeline of an empty workspace",
        "Stage.objects.create": "its stages, in the same transaction",
        "user.save": "an account is no subject",
    },
    "crm/imports/pipelines.py": {
        "Pipeline.objects.create": "a pipeline that a file names and nobody has yet",
        "Stage.objects.create": "a stage of it, in the transaction that raised its version",
        "pipeline.save": "whole, freshly read, compared: the honest save",
    },
    "crm/imports/team.py": {"team.save": "a team is no subject", "user.save": "an account is no subject"},
    "crm/views/preferences.py": {"user.save": "a person's own preferences"},
    "agents/replies.py": {
        "before_us.update": "turns whose worker died, by compare-and-swap on running",
        "mine.filter(state=TurnState.RUNNING).update": "a turn, by compare-and-swap on running",
        "mine.update": "the draft of a turn that somebody else has ended, kept as evidence",
    },
    "agents/takeover.py": {"open_ones.update": "suggestions, by compare-and-swap on open"},
    "agents/approving.py": {"given.update": "an approval, by compare-and-swap on its state"},
    "agents/sweeps.py": {"run.save": "the record of a sweep, written by the sweep that made it"},
}

EXPERIMENTS = "config/lab/"
"""`manage.py race` does it the naive way on purpose, beside the guarded one, in a scratch database of its own."""

SQL_BY_ANOTHER_NAME = (".objects.raw", ".RawSQL", ".objects.extra", "cursor.executemany", "cursor.copy")

HOSTS = {
    "localhost",
    "127.0.0.1",
    "www.w3.org",  # names of XML vocabularies in SVG
    "www.apache.org",  # the license
    "testserver",
    "host",  # in sentences that say what an address looks like
    "graph.facebook.com",  # the public addresses of the channels' providers, as defaults of settings
    "api.twilio.com",
}
NOBODYS = ("example.org", "example.com", "example.net", ".example", ".invalid", ".test")
"""Hosts that the project may name, and names reserved for examples: it fetches nothing by address."""


@cache
def sources(*rooms: str) -> list[tuple[str, ast.Module]]:
    found: list[tuple[str, ast.Module]] = []
    for room in rooms or (*ROOMS, "scripts"):
        paths = [path for path in sorted((ROOT / room).rglob("*.py")) if "migrations" not in path.parts]
        found += [(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
    return found


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield node.module or ""


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_only_to_the_right(room: str) -> None:
    to_the_left = set(ROOMS[: ROOMS.index(room)]) | {"tests"}
    wrong = [
        f"{file}: {name}"
        for file, tree in sources(room)
        for name in imported(tree)
        if name.partition(".")[0] in to_the_left
    ]
    assert wrong == []


def test_the_kernel_knows_no_noun_of_the_crm() -> None:
    """Not even by a name in a string, which no import would show."""
    wrong = [
        f"{file}:{node.lineno} {node.value!r}"
        for file, tree in sources("conflicts")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"(crm|agents)\.\w+", node.value)
    ]
    assert wrong == []


WRITES = {"save", "asave", "delete", "adelete", "update", "aupdate", "bulk_create", "abulk_create", "bulk_update"}
WRITES |= {"abulk_update", "create", "acreate", "get_or_create", "update_or_create", "_raw_delete", "_update"}


def writing_calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES):
            continue
        if node.func.attr == "update" and (node.args or not node.keywords):
            continue  # a dict's or a set's: a queryset takes names only
        yield node


def model_of(node: ast.expr) -> str:
    """`Conflict` of `Conflict.objects.filter(...).update`; empty where the call does not begin at a class."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) and node.id[:1].isupper() else ""


@pytest.mark.parametrize("room", ROOMS)
def test_subjects_are_written_by_the_kernel_alone(room: str) -> None:
    """A write outside `conflicts/writing.py` is on a model that is no subject, or stands above with its reason."""
    wrong = []
    for file, tree in sources(room):
        for call in writing_calls(tree):
            what = ast.unparse(call.func)
            if file.startswith(EXPERIMENTS) or model_of(call.func) in OTHERS or what in REVIEWED.get(file, {}):
                continue
            wrong.append(f"{file}:{call.lineno} {what}")
    assert wrong == []


def test_the_reviewed_writes_are_still_there() -> None:
    """A reason for code that is gone would cover the next mistake in that file."""
    there = {(file, ast.unparse(call.func)) for file, tree in sources() for call in writing_calls(tree)}
    listed = {(file, what) for file, calls in REVIEWED.items() for what in calls}
    assert listed - there == set()


def test_above_the_kernel_sql_reads_or_writes_what_is_no_subject() -> None:
    """A statement that is put together at run time has no place there, nor one that writes a subject's table."""
    wrong = []
    for file, tree in sources("agents", "crm"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in {"raw", "RawSQL", "extra", "executemany", "copy"}:
                called = ast.unparse(node)
                wrong += [f"{file}:{node.lineno} {called}"] if called.endswith(SQL_BY_ANOTHER_NAME) else []
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "execute":
                sql = node.args[0] if node.args else None
                if sql is None and ast.unparse(node.func) == "pipe.execute":
                    continue  # Redis
                if not _writes_no_subject(tree, sql):
                    wrong.append(f"{file}:{node.lineno} {ast.unparse(node)[:80]}")
    assert wrong == []


PLAIN_TABLES = {model._meta.db_table for model in apps.get_models() if model not in set(guarded_models())}


def _writes_no_subject(tree: ast.Module, sql: ast.expr | None) -> bool:
    """A constant, written there or under a name in the same module, that writes no table with a guard."""
    if isinstance(sql, ast.Name):
        named = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == sql.id]
        sql = named[0] if len(named) == 1 else None
    if not (isinstance(sql, ast.Constant) and isinstance(sql.value, str)):
        return False
    text = " ".join(sql.value.split())
    if re.search(r"\b(DELETE|ALTER|TRUNCATE|MERGE|COPY)\b", text, re.IGNORECASE):
        return False
    # FOR UPDATE and DO UPDATE name no table: the one is a lock, the other belongs to its INSERT.
    written = re.findall(r"\bINSERT INTO (\S+)|(?<!FOR )(?<!DO )\bUPDATE (\S+)", text, re.IGNORECASE)
    return {table or other for table, other in written} <= PLAIN_TABLES


@pytest.mark.parametrize(
    "way_round",
    ["disable_concurrency", "concurrency_disable_increment", "pgtrigger.ignore", "session_replication_role"],
)
def test_nobody_switches_the_guard_off(way_round: str) -> None:
    wrong = [file for file, tree in sources() if way_round in ast.unparse(tree)]
    assert wrong == []


def test_every_module_says_what_it_guarantees() -> None:
    wrong = [file for file, tree in sources() if tree.body and not ast.get_docstring(tree)]
    assert wrong == []


def test_every_sentence_that_code_speaks_has_words() -> None:
    """A code without words would show itself to a person as `next_step_exists`."""
    speakers = {"Sentence", "GoalMet", "RuleBroken", "Clash"}
    wrong, seen = [], set()
    for file, tree in sources():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in speakers:
                code = node.args[0].value
                seen.add(code)
                if not sentences.known(code):
                    wrong.append(f"{file}:{node.lineno} {code}")
    assert wrong == []
    assert {"next_step_exists", "busy", "gone"} <= seen


def tracked_files() -> list[Path]:
    """What the project consists of; none where this is no checkout."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / line for line in listed.stdout.splitlines()]


def test_the_project_names_no_host_but_its_own() -> None:
    """No registry, no mirror, no content network: neither lock files nor pages may fetch by address."""
    files = tracked_files()
    if not files:
        pytest.skip("not a git checkout")
    wrong = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for address in re.findall(r"\bhttps?://([^\s/\"'<>:)\]}`\\]+)", text):
            host = address.lower().partition("@")[2] or address.lower()
            host = host.partition("{")[0]  # the rest is put in by an f-string
            if host and host not in HOSTS and not host.endswith(NOBODYS):
                wrong += [f"{path.relative_to(ROOT)}: {address}"]
    assert wrong == []


def test_the_project_names_no_directory_of_a_machine() -> None:
    places = re.compile(r"(?<![\w.])/(?:root|work|Users)/\w+")
    wrong = []
    for path in tracked_files():
        if path.suffix in {".py", ".md", ".toml", ".txt", ".html", ".css", ".js", ".yml", ".example"}:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if places.search(line) and path != Path(__file__):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}")
    assert wrong == []
