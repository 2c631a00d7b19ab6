"""As whom PostgreSQL runs and where its files lie, since it refuses to run as root.

An ordinary user runs it as himself, in the home. Root hands it to a user of its own, who must be able to walk to its
files: where the home or the binaries lie behind a closed door (`/root`), they get a place under `/var/lib` instead of
the door being opened. Next in the flow: `config/embedded/postgres.py`.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from config.embedded.homes import Home, make_directory
from config.embedded.problem import Problem

NAME = "vigente_postgres"
REFUGE = Path("/var/lib/vigente")


@dataclass(frozen=True)
class Seat:
    data: Path
    binaries: Path
    user: int | None = None
    group: int | None = None

    def give(self, path: Path) -> None:
        """To the server's user, when it is another than ours."""
        if self.user is not None and self.group is not None:
            os.chown(path, self.user, self.group)

    def credentials(self) -> dict[str, Any]:
        """For `subprocess`: as whom, where, and with none of the caller's PG* variables."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
        drop: dict[str, Any] = {} if self.user is None else {"user": self.user, "group": self.group, "extra_groups": []}
        return {"cwd": "/", "env": environment, "umask": 0o077, **drop}

    def version(self) -> str:
        """The major version, which is what PG_VERSION in a data directory holds."""
        answer = subprocess.run([str(self.binaries / "bin" / "postgres"), "-V"], capture_output=True, text=True)
        if answer.returncode:
            raise Problem(f"The embedded PostgreSQL does not run on this machine: {answer.stderr.strip()}")
        return answer.stdout.split()[-1].split(".")[0]


@cache
def seat(home: Home, *, binaries: Path) -> Seat:
    if os.geteuid() != 0:
        return Seat(data=home.postgres, binaries=binaries)
    refuge = REFUGE / hashlib.sha256(os.fsencode(home.path)).hexdigest()[:12] / "postgres"
    there = home.postgres if (home.postgres / "PG_VERSION").exists() else home.path
    user, group = owner(home.postgres) or owner(refuge) or account()
    data = home.postgres if can_enter(there, user, group) else refuge
    if data == refuge:
        make_directory(refuge.parent, mode=0o755)
    if not (can_enter(binaries / "bin", user, group) and can_read(binaries / "bin" / "postgres", user, group)):
        binaries = copy(binaries)
    return Seat(data=data, binaries=binaries, user=user, group=group)


def owner(data: Path) -> tuple[int, int] | None:
    """Whoever made the cluster goes on running it: PostgreSQL refuses files of somebody else's."""
    try:
        found = (data / "PG_VERSION").stat()
    except OSError:
        return None
    return (found.st_uid, found.st_gid) if found.st_uid else None


def account() -> tuple[int, int]:
    """A system user without a password, a shell or a home; `nobody` where none can be made."""
    if found := entry(NAME):
        return found
    try:
        subprocess.run(
            ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/bin/false", NAME],
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except OSError:
        pass  # no useradd here
    found = entry(NAME) or entry("nobody")
    if not found:
        raise Problem("PostgreSQL does not run as root and no user could be made for it; start as an ordinary user.")
    return found


def entry(name: str) -> tuple[int, int] | None:
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return found.pw_uid, found.pw_gid


def can_enter(directory: Path, user: int, group: int) -> bool:
    return all(allowed(step, user, group, bit=0o1) for step in (directory, *directory.parents))


def can_read(file: Path, user: int, group: int) -> bool:
    return allowed(file, user, group, bit=0o4)


def allowed(path: Path, user: int, group: int, *, bit: int) -> bool:
    found = path.stat()
    shift = 6 if found.st_uid == user else 3 if found.st_gid == group else 0
    return bool(found.st_mode & (bit << shift))


def copy(binaries: Path) -> Path:
    """The binaries once more where the server's user can reach them, by hard link when the disk is the same."""
    made = (binaries / "bin" / "postgres").stat()
    target = REFUGE / f"binaries-{made.st_size:x}-{int(made.st_mtime):x}"
    if target.exists():
        return target
    make_directory(REFUGE, mode=0o755)
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    for part in ("bin", "lib", "share"):
        shutil.copytree(binaries / part, draft / part, symlinks=True)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    try:
        draft.rename(target)
    except OSError:  # another process was first, with the same content
        shutil.rmtree(draft, ignore_errors=True)
    return target
