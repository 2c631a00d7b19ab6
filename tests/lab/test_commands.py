"""`manage.py race` and `replay_log` as they are called: figures, reasons and the verdict as exit status."""

import json
from pathlib import Path

import pytest

from config.lab import mutants, report
from config.lab.running import Line, Mode
from tests.lab.conftest import Manage

pytestmark = pytest.mark.process

KEYS = ["scenario", "mode", "rounds", "effects", "wrong"]
KEYS += ["conflicts", "merged", "superseded", "duplicates", "seconds", "seed"]


def line(mode: Mode, wrong: int) -> Line:
    figures = dict.fromkeys(("effects", "conflicts", "merged", "superseded", "duplicates"), 0)
    return Line(scenario="a", mode=mode, rounds=1, wrong=wrong, seconds=0.5, seed=1, **figures)


def test_json_has_exactly_these_keys_for_each_scenario_and_mode(manage: Manage) -> None:
    done = manage("race", "--scenario", "two_workers_same_version", "--scenario", "compatible_edits",
                  "--rounds", "3", "--seed", "5", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)
    assert [(one["scenario"], one["mode"]) for one in lines] == [
        ("two_workers_same_version", "naive"),
        ("two_workers_same_version", "guarded"),
        ("compatible_edits", "naive"),
        ("compatible_edits", "guarded"),
    ]
    assert all(list(one) == KEYS for one in lines)
    assert {(one["rounds"], one["seed"]) for one in lines} == {(3, 5)}
    assert [one["wrong"] > 0 for one in lines] == [True, False, True, False]


def test_one_job_tells_what_several_tell(manage: Manage) -> None:
    call = ["race", "--scenario", "two_workers_same_version", "--scenario", "compatible_edits", "--rounds", "3"]
    told = [json.loads(manage(*call, "--seed", "5", "--json", "--jobs", jobs).stdout) for jobs in ("1", "2")]
    told_alike = ("scenario", "mode", "rounds", "seed")  # who wins a real race is nobody's promise
    one, several = ([[line[key] for key in told_alike] for line in lines] for lines in told)
    assert one == several


def test_no_jobs_are_no_number_of_jobs(manage: Manage) -> None:
    done = manage("race", "--jobs", "0")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("--jobs is a whole number above zero.")


def test_a_scenario_that_is_not_there_gets_one_line(manage: Manage) -> None:
    done = manage("race", "--scenario", "lost_sock")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "There is no scenario 'lost_sock'. There are: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_race_that_is_lost_through_the_gate_ends_with_one_and_the_seed(manage: Manage) -> None:
    done = manage("race", "--scenario", "same_worker_name_new_life", "--mode", "guarded", "--rounds", "2",
                  "--seed", "77", "--mutant", "lease_check")  # fmt: skip
    assert done.returncode == 1
    assert "same_worker_name_new_life: 2 wrong through the gate; seed 77 shows it again:" in done.stderr
    assert "the offer went out once more" in done.stderr


def test_a_protection_that_is_taken_out_is_missed(manage: Manage) -> None:
    done = manage("race", "--mutate", "ledger_entry", "evidence", "--seed", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row.split()[:2] for row in done.stdout.splitlines()[:3]] == [
        ["-", "ok"],
        ["ledger_entry", "ok"],
        ["evidence", "ok"],
    ]


def test_a_mutant_that_is_not_there_gets_one_line(manage: Manage) -> None:
    done = manage("race", "--mutate", "nobody")
    assert done.returncode == 1
    assert "There is no mutant 'nobody'." in done.stderr


def test_a_file_that_is_not_there_gets_one_line(manage: Manage, tmp_path: Path) -> None:
    done = manage("replay_log", str(tmp_path / "nowhere.csv"))
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_wrong_the_naive_way_means_that_the_race_was_not_run() -> None:
    assert line(Mode.NAIVE, 1).as_it_should_be
    assert not line(Mode.NAIVE, 0).as_it_should_be
    assert line(Mode.GUARDED, 0).as_it_should_be
    assert not line(Mode.GUARDED, 1).as_it_should_be


def test_the_table_is_in_columns() -> None:
    head, row = report.rows([line(Mode.GUARDED, 0)])
    assert head.split() == KEYS[:-1]
    assert row.split() == ["a", "guarded", "1", "0", "0", "0", "0", "0", "0", "0.5"]
    assert len(head) == len(row)


def test_every_mutant_names_races_that_are_there() -> None:
    from config.lab.scenario import find

    for mutant in mutants.MUTANTS:
        assert find(mutant.lost), mutant.name
