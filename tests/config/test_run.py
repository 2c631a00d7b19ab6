"""`manage.py run`: one line for what keeps it from starting; nothing of it outlives it."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from config.embedded import processes
from config.embedded.homes import PROJECT, Home
from config.management.commands import run
from config.supervisor import Child, Supervisor, end_left_over
from tests.config.conftest import manage, values

pytestmark = pytest.mark.process


def test_a_taken_port_gets_one_line(place: Home) -> None:
    with socket.socket() as taken:
        taken.bind((run.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = manage("run", **values(place.path), VIGENTE_PORT=str(port))
    assert done.returncode == 1
    assert done.stderr == f"Port {port} is taken by another program; try VIGENTE_PORT={port + 1} make run.\n"
    assert not place.postgres.exists()  # said before anything is started


def test_a_bad_port_gets_one_line(place: Home) -> None:
    done = manage("run", **values(place.path), VIGENTE_PORT="eighty")
    assert (done.returncode, done.stderr) == (1, "VIGENTE_PORT is 'eighty'; it must be a whole number.\n")


def test_a_second_run_in_the_same_home_gets_one_line(place: Home) -> None:
    place.prepare()
    with run.only_one(place, port=8123):
        done = manage("run", **values(place.path))
    assert done.returncode == 1
    assert done.stderr == f"Vigente already runs from {place.path}: process {os.getpid()}, http://127.0.0.1:8123/.\n"


def test_where_nobody_can_sign_in_yet_the_first_lines_say_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "logins", list)
    for empty in (True, False):
        monkeypatch.setattr(run, "nobody", lambda empty=empty: empty)
        run.welcome(Home(tmp_path), 8123)
        assert ("manage.py createsuperuser" in capsys.readouterr().out) is empty


def supervisor(home: Home, *children: Child, say: list[str] | None = None) -> Supervisor:
    home.prepare()
    lines = [] if say is None else say
    return Supervisor(list(children), log=home.log, roster=home.path / "children", say=lines.append, loud=True)


def child(code: str, *, ending: list[tuple[signal.Signals, float]] | None = None) -> Child:
    return Child("child", [sys.executable, "-c", code], ending=ending or [(signal.SIGTERM, 5.0)])


def test_a_child_that_dies_is_started_again(place: Home) -> None:
    said: list[str] = []
    one = child("import time; print('up', flush=True); time.sleep(60)")
    keeper = supervisor(place, one, say=said)
    keeper.start()
    try:
        assert one.process is not None
        first = one.process.pid
        os.kill(first, signal.SIGKILL)
        assert processes.until(lambda: not one.alive, seconds=5)
        keeper.revive(one)
        assert one.alive
        assert one.process.pid != first
        assert "child ended (SIGKILL); starting it again now." in said
    finally:
        keeper.stop()
    assert not one.alive
    assert not (place.path / "children").exists()


def test_a_child_that_keeps_dying_is_given_a_growing_pause(place: Home) -> None:
    said: list[str] = []
    one = child("raise SystemExit(3)")
    keeper = supervisor(place, one, say=said)
    keeper.start()
    for _ in range(3):
        assert processes.until(lambda: not one.alive, seconds=5)
        one.due = 0.0
        keeper.revive(one)
        if one.process is None:
            keeper.launch(one)
    keeper.stop()
    ended = [line for line in said if "ended" in line]
    assert [line.rpartition("again ")[2] for line in ended] == ["now.", "in 1 s.", "in 2 s."]


def test_a_child_that_does_not_listen_is_killed_with_its_own_children(place: Home) -> None:
    code = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(inner.pid, flush=True)
time.sleep(60)
"""
    one = child(code, ending=[(signal.SIGTERM, 0.2)])
    keeper = supervisor(place, one)
    keeper.start()
    assert processes.until(lambda: bool(one.lines), seconds=10)
    inner = psutil.Process(int(one.lines[0]))
    keeper.stop()
    assert not one.alive
    assert processes.until(lambda: processes.gone(inner), seconds=5)


KILLED = """
import sys
from pathlib import Path
from config.embedded.homes import Home
from config.supervisor import Child, Supervisor
home = Home(Path(sys.argv[1]))
code = "import time; print('up', flush=True); time.sleep(60)"
one = Child("child", [sys.executable, "-c", code], ending=[])
keeper = Supervisor([one], log=home.log, roster=home.path / "children", say=lambda line: None, loud=False)
keeper.start()
keeper.wait_for(one, ready=lambda: bool(one.lines), seconds=20)
print("ready", flush=True)
keeper.watch(also=lambda: None)
"""


def killed_supervisor(home: Home) -> psutil.Process:
    """Start one with a child, kill it with -9, and hand over the child."""
    home.prepare()
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(home.path)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "ready\n"
        left = psutil.Process(int((home.path / "children").read_text().split()[0]))
        keeper.kill()
    return left


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's wish exists on Linux only")
def test_children_end_with_a_killed_supervisor(place: Home) -> None:
    left = killed_supervisor(place)
    assert processes.until(lambda: processes.gone(left), seconds=5)


def test_a_roster_is_not_believed_about_a_reused_number(place: Home) -> None:
    place.prepare()
    roster = place.path / "children"
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        roster.write_text(f"{bystander.pid} {time.time() - 1000}\n")
        end_left_over(roster, say=lambda line: None)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_what_is_left_is_ended_by_the_next_start(place: Home) -> None:
    place.prepare()
    roster = place.path / "children"
    said: list[str] = []
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    roster.write_text(f"{left.pid} {psutil.Process(left.pid).create_time()}\n")
    end_left_over(roster, say=said.append)
    assert left.wait(timeout=5) == -signal.SIGTERM
    assert said == [f"Ending a process left over from an earlier start ({left.pid})."]
    assert not roster.exists()


def test_a_web_server_that_cannot_start_gets_its_last_words_shown(place: Home) -> None:
    one = child("raise SystemExit('no such module')")
    keeper = supervisor(place, one)
    keeper.start()
    with pytest.raises(Exception, match="child did not start: no such module"):
        keeper.wait_for(one, ready=lambda: False, seconds=10)
    keeper.stop()


def test_logs_are_kept_in_the_home(place: Home) -> None:
    one = child("print('a line')")
    keeper = supervisor(place, one)
    keeper.start()
    log: Path = place.log / "child.log"
    assert processes.until(lambda: log.exists() and log.read_text() == "a line\n", seconds=10)
    keeper.stop()
