"""The mutation check: each mutant in a process of its own, on the races it must lose.

Guarantees that a mutant counts as caught only if a judge or the checker saw a wrong consequence: a process that died,
or a mutant that no longer fits the code, is a failure of the check and no catch. The same races without a mutant come
first and must be clean. Next in the flow: `config/lab/mutants.py`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

from config.embedded.homes import PROJECT
from config.lab import scratch
from config.lab.taking_out import Mutant

WAIT = 300
"""Seconds for one mutant's process."""


@dataclass(frozen=True, kw_only=True)
class Catch:
    mutant: str
    takes_out: str
    scenarios: tuple[str, ...]
    wrong: int
    problem: str = ""

    @property
    def caught(self) -> bool:
        return self.wrong > 0 and not self.problem


def check(
    mutants: Sequence[Mutant], *, seed: int, jobs: int = 1, tick: Callable[[], object] = lambda: None
) -> list[Catch]:
    """In copies of the scratch database at hand, one per job. The first of the answers is of the house as it is."""
    scenarios = tuple(dict.fromkeys(slug for mutant in mutants for slug in mutant.lost))
    free: SimpleQueue[str] = SimpleQueue()

    def catch(name: str, takes_out: str, scenarios: tuple[str, ...], rounds: int) -> Catch:
        database = free.get()
        try:
            return _run(name, takes_out, scenarios, rounds=rounds, seed=seed, database=database)
        finally:
            free.put(database)
            tick()

    with scratch.copies(jobs) as names, ThreadPoolExecutor(jobs) as pool:
        for name in names:
            free.put(name)
        house = pool.submit(catch, "", "nothing: the house as it is", scenarios, 5)
        taken = [pool.submit(catch, one.name, one.takes_out, one.lost, one.rounds) for one in mutants]
        return [future.result() for future in (house, *taken)]


def _run(name: str, takes_out: str, scenarios: tuple[str, ...], *, rounds: int, seed: int, database: str) -> Catch:
    command = [sys.executable, "manage.py", "race", "--mode", "guarded", "--json", "--seed", str(seed)]
    command += ["--rounds", str(rounds), "--database", database]
    command += [word for slug in scenarios for word in ("--scenario", slug)]
    command += ["--mutant", name] if name else []
    wrong, problem = 0, ""
    try:
        answer = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=WAIT, env=os.environ)
        wrong = sum(line["wrong"] for line in json.loads(answer.stdout))
    except subprocess.TimeoutExpired:
        problem = f"did not end within {WAIT} seconds"
    except ValueError:
        problem = (answer.stderr.strip().splitlines() or ["died without a word"])[-1]
    return Catch(mutant=name, takes_out=takes_out, scenarios=scenarios, wrong=wrong, problem=problem)


def rows(catches: Sequence[Catch]) -> list[str]:
    lines = []
    for catch in catches:
        good = catch.caught if catch.mutant else not catch.wrong and not catch.problem
        verdict = catch.problem or (f"{catch.wrong} wrong" if catch.wrong else "clean")
        mark = "ok" if good else "SURVIVED" if catch.mutant else "NOT CLEAN"
        lines.append(f"{catch.mutant or '-':<22} {mark:<10} {verdict:<12} without {catch.takes_out}")
    return lines


def all_caught(catches: Sequence[Catch]) -> bool:
    house, *mutants = catches
    return not house.wrong and not house.problem and all(catch.caught for catch in mutants)
