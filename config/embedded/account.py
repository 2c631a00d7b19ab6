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

from config.embedded.homes import Home, allowed, can_enter, make_directory, reason
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
    if not (can_enter(binaries / "bin", user, group) and allowed(binaries / "bin" / "postgres", user, group, bit=0o4)):
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


def copy(binaries: Path) -> Path:
    """The package once more where the server's user can reach it, together with the libraries that lie beside it."""
    packages, inside = binaries.parent.parent, binaries.relative_to(binaries.parent.parent)
    made = (binaries / "bin" / "postgres").stat()
    target = REFUGE / f"binaries-{made.st_size:x}-{int(made.st_mtime):x}"
    if target.exists():
        return target / inside
    make_directory(REFUGE, mode=0o755)
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        for part in (inside, Path(f"{inside.parts[0]}.libs")):
            if (packages / part).exists():
                shutil.copytree(packages / part, draft / part, symlinks=True, ignore=shutil.ignore_patterns("include"))
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                mode = path.stat().st_mode
                path.chmod(mode | (0o555 if path.is_dir() or mode & 0o100 else 0o444))
        draft.rename(target)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        if not target.exists():  # else another process was first, with the same content
            raise Problem(f"PostgreSQL could not be copied to {target}: {reason(error)}.") from None
    return target / inside
