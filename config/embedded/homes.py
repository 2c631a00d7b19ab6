"""Where the embedded servers keep what is theirs: VIGENTE_HOME, by default `.vigente` in the project.

Guarantees that two homes never share a socket, and that a socket's path is short enough for the system.
Importing this touches nothing; `prepare` makes the directories. Next in the flow: `config/embedded/holders.py`.
"""

import hashlib
import os
import secrets
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from config.embedded.problem import Problem

PROJECT = Path(__file__).resolve().parents[2]
# The kernel's field for a socket's path holds 107 bytes on Linux, 103 on macOS; PostgreSQL adds a name of its own.
LONGEST_SOCKET = 103
STRANGER = (-1, -1)
LONGEST_NAME = len("/pg/.s.PGSQL.5432")


@dataclass(frozen=True)
class Home:
    path: Path
    fast: bool = False  # data that need not survive a power cut: tests

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def postgres(self) -> Path:
        return self.path / "postgres"

    @property
    def redis(self) -> Path:
        return self.path / "redis"

    @property
    def server_user(self) -> tuple[int, int]:
        """Whose door it has to be, as far as known: the one who made the data. Under root, else, a stranger's."""
        if os.geteuid() != 0:
            return os.geteuid(), os.getegid()
        try:
            found = self.postgres.stat()
        except OSError:
            return STRANGER
        return (found.st_uid, found.st_gid) if found.st_uid else STRANGER

    @property
    def sockets(self) -> Path:
        """Inside the home; or a directory named after it where the path is too long, or closed to PostgreSQL's user."""
        inside = self.path / "sockets"
        if len(os.fsencode(inside)) + LONGEST_NAME <= LONGEST_SOCKET and can_enter(self.path, *self.server_user):
            return inside
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"vigente-{digest}"

    @property
    def postgres_sockets(self) -> Path:
        return self.sockets / "pg"

    @property
    def redis_socket(self) -> Path:
        return self.sockets / "redis.sock"

    def prepare(self) -> None:
        for directory in (self.path, self.log, self.redis):
            make_directory(directory, mode=0o755)
        # Others may pass through (PostgreSQL's own user must), each socket has a mode of its own.
        make_directory(self.sockets, mode=0o755)
        found = self.sockets.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), 0, self.path.stat().st_uid):
            raise Problem(f"{self.sockets} belongs to someone else; set TMPDIR to a directory of your own.")
        if len(os.fsencode(self.sockets)) + LONGEST_NAME > LONGEST_SOCKET:
            raise Problem(f"The path {self.sockets} is too long for a socket; set TMPDIR to a short directory.")

    def secret(self) -> str:
        """This home's secret key: made once, readable by its owner only. Two first starts agree on one key."""
        path = self.path / "secret_key"
        make_directory(self.path, mode=0o755)
        try:
            if not path.exists():
                draft = self.path / f"secret_key.{os.getpid()}.{secrets.token_hex(4)}"
                with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(secrets.token_urlsafe(48))
                try:
                    os.link(draft, path)  # fails if another process was first: its key counts
                except FileExistsError:
                    pass
                finally:
                    draft.unlink()
            key = path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise Problem(f"{path} cannot be used: {reason(error)}.") from None
        if len(key) < 32:
            raise Problem(f"{path} holds no usable key; delete it and a new one is made.")
        return key


def at(value: str, *, fast: bool = False) -> Home:
    """The home that VIGENTE_HOME names; a relative path counts from the project, not from where one stands."""
    return Home((PROJECT / Path(value or ".vigente").expanduser()).resolve(), fast=fast)


def can_enter(directory: Path, user: int, group: int) -> bool:
    """Whether that user may walk there; a part that does not exist yet is one that we will make open."""
    return all(allowed(step, user, group, bit=0o1) for step in (directory, *directory.parents) if step.exists())


def allowed(path: Path, user: int, group: int, *, bit: int) -> bool:
    found = path.stat()
    shift = 6 if found.st_uid == user else 3 if found.st_gid == group else 0
    return bool(found.st_mode & (bit << shift))


def make_directory(path: Path, *, mode: int) -> None:
    try:
        if not path.is_dir():
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(mode)  # whatever the umask says: the server may run as another user
    except OSError as error:
        raise Problem(f"{path} cannot be made: {reason(error)}. VIGENTE_HOME may name another place.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Problem(f"{path} is not writable for this user. VIGENTE_HOME may name another place.")


def reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
