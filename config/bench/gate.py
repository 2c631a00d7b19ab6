"""Gate commits per second: one process, against pgbench sending the very same statements.

A commit here is a salesperson's logged call with the next step: ledger, lock, two children, an update that the guard
checks and history keeps. pgbench replays the statements that a commit really sent (captured, with the changing values
turned into variables), so the ratio says what Python and Django cost and nothing else. The hint to open screens, which
goes out after a commit and which pgbench does not send, is left out.
"""

import gc
import os
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from unittest.mock import patch

from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.bench import Figure
from config.embedded import Problem, postgres
from conflicts import actors, gate
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from conflicts.signals import committed

ROUNDS = 9
"""Gate and pgbench take turns so often; the medians are quoted, and how far the ratios were apart."""
SECONDS = 1
BATCH = 500


def _log_call(ref: Ref, version: int) -> Proposal:
    params = {"kind": "call", "text": "Spoke about the price.", "next_title": "Call again", "next_on": "2031-06-09"}
    return Proposal(
        action="opportunity.log",
        by=actors.agent("bench", "Bench"),
        params=params,
        basis=(Read(subject=ref, version=version),),
        key=uuid.uuid4().hex,
    )


def _deals(count: int) -> list[Ref]:
    """New deals: each measurement starts on fresh rows, with no task yet."""
    made = gate.commit_many(
        [
            Proposal(action="opportunity.create", by=actors.agent("bench", "Bench"), params={"name": f"Bench {n}"})
            for n in range(count)
        ]
    )
    return [outcome.subject for outcome in made if outcome.subject]


def _singles(seconds: float) -> tuple[float, float]:
    """Commits per second, and the part of that time in which this process itself was at work."""
    refs = _deals(1000)
    start, worked = time.perf_counter(), time.process_time()
    done = 0
    while done < len(refs) and time.perf_counter() - start < seconds:
        assert gate.commit(_log_call(refs[done], 1)).result is Result.APPLIED
        done += 1
    taken = time.perf_counter() - start
    return done / taken, (time.process_time() - worked) / taken


def _batches(seconds: float) -> float:
    refs = _deals(5000)
    start, done = time.perf_counter(), 0
    while done < len(refs) and time.perf_counter() - start < seconds:
        outcomes = gate.commit_many([_log_call(ref, 1) for ref in refs[done : done + BATCH]])
        assert all(outcome.result is Result.APPLIED for outcome in outcomes)
        done += BATCH
    return done / (time.perf_counter() - start)


def _script() -> tuple[str, int]:
    """A pgbench script of the statements one commit sends, over fresh deals from a first id on."""
    (probe,) = _deals(1)
    proposal = _log_call(probe, 1)
    with CaptureQueriesContext(connection) as sent:
        gate.commit(proposal)
    lines = []
    for query in sent.captured_queries:
        sql = query["sql"].replace(proposal.key, "k:run:id").replace("\n", " ")
        sql = re.sub(rf"\b{probe.pk}\b", ":id", sql)
        sql = sql.replace("k:run:id", "bench-:run-:id")
        lines.append(sql.rstrip(";") + ";")
    refs = _deals(2500)
    return "\n".join(lines), refs[0].pk


def _pgbench(binary: str, seconds: float) -> float:
    body, first = _script()
    # Each transaction takes the next fresh deal; a sequence gives it out, as the gate's loop does.
    with connection.cursor() as cursor:
        cursor.execute("DROP SEQUENCE IF EXISTS bench_next")
        cursor.execute(f"CREATE SEQUENCE bench_next MINVALUE 1 START {int(first)} CACHE 10000")
    run = uuid.uuid4().int % 10**9
    body = body.replace(":run", str(run))
    db = connection.settings_dict
    env = {**os.environ, "PGPASSWORD": db.get("PASSWORD") or ""}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "commit.sql")
        # `simple` protocol puts variables in as text, also inside quotes: the same strings Django sends.
        script.write_text("SELECT nextval('bench_next') AS id \\gset\n" + body + "\n")
        where = {"host": db["HOST"], "port": db["PORT"] or 5432, "username": db["USER"] or "postgres"}
        command = [binary, "-n", "-M", "simple", "-c", "1", "-T", str(int(seconds)), "-f", str(script)]
        command += [f"--{name}={value}" for name, value in where.items()]
        answer = subprocess.run([*command, db["NAME"]], capture_output=True, text=True, env=env, check=False)
    found = re.search(r"tps = ([\d.]+)", answer.stdout)
    if not found:
        raise RuntimeError(f"pgbench did not finish: {answer.stderr.strip()[-400:]}")
    return float(found[1])


def _binary() -> str | None:
    """pgbench of the embedded PostgreSQL, else the one on PATH."""
    try:
        own = postgres.binaries() / "bin" / "pgbench"
    except Problem:
        return shutil.which("pgbench")
    return str(own) if own.exists() else shutil.which("pgbench")


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def measure() -> list[Figure]:
    """Medians over turns; the ratios are of turns next to each other in time."""
    # What was loaded at the start is not searched for garbage again and again, as in a worker that has run for a while.
    gc.collect()
    gc.freeze()
    try:
        with patch.object(committed, "send_robust", lambda **hint: []):
            return _measure()
    finally:
        gc.unfreeze()


def _measure() -> list[Figure]:
    binary = _binary()
    singles, python, many, plain = [], [], [], []
    _singles(1)
    for _ in range(ROUNDS):
        rate, share = _singles(SECONDS)
        singles.append(rate)
        python.append(share)
        if binary:
            plain.append(_pgbench(binary, SECONDS))
        many.append(_batches(SECONDS))
    figures = [
        Figure(name="gate, one by one", value=_median(singles), unit="commits/s"),
        Figure(name=f"gate, commit_many of {BATCH}", value=_median(many), unit="commits/s"),
        Figure(
            name="commit_many / one by one",
            value=_median([m / s for m, s in zip(many, singles, strict=True)]),
            unit="x",
        ),
    ]
    if plain:
        ratios = [s / p for s, p in zip(singles, plain, strict=True)]
        figures += [
            Figure(name="pgbench, same statements", value=_median(plain), unit="commits/s"),
            Figure(
                name="gate / pgbench",
                value=_median(ratios),
                unit="x",
                note=f"turns from {min(ratios):.2f} to {max(ratios):.2f};"
                f" {_median(python):.0%} of a commit is Python (SQL, rows, evidence), the rest waiting",
            ),
        ]
    return figures
