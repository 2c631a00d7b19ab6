"""What differs between places: environment variables, and a `.env` file beneath them.

Guarantees that a bad value stops the start with one line that names the variable.
Next in the flow: `config/settings.py`, which asks for each variable once.
"""

import os
import re
import zoneinfo
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off"}


@dataclass(frozen=True)
class Environment:
    """Typed answers. An empty value counts as not set, so that `NAME=` in a `.env` file means the default."""

    values: Mapping[str, str]

    def has(self, name: str) -> bool:
        return bool(self.values.get(name, "").strip())

    def text(self, name: str, *, default: str = "") -> str:
        return self.values[name].strip() if self.has(name) else default

    def boolean(self, name: str, *, default: bool = False) -> bool:
        value = self.text(name).lower()
        if value and value not in YES | NO:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of true, false, yes, no, on, off, 1, 0.")
        return value in YES if value else default

    def integer(self, name: str, *, default: int, least: int | None = None, most: int | None = None) -> int:
        value = self.text(name)
        try:
            number = int(value) if value else default
        except ValueError:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number.") from None
        if (least is not None and number < least) or (most is not None and number > most):
            raise ImproperlyConfigured(f"{name} is {number}; it must lie between {least} and {most}.")
        return number

    def choice(self, name: str, *, default: str, among: Container[str], example: str) -> str:
        """A code, written large or small."""
        value = self.text(name, default=default).upper()
        if value not in among:
            raise ImproperlyConfigured(f"{name} is {value!r}, which is not known; it may be, for example, {example}.")
        return value

    def zone(self, name: str, *, default: str) -> str:
        value = self.text(name, default=default)
        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise ImproperlyConfigured(
                f"{name} is {value!r}, which is no time zone; it may be, for example, {default}."
            ) from None
        return value

    def address(self, name: str, *, default: str = "") -> str:
        """Where something is reached over HTTP, without a slash at its end."""
        value = self.text(name, default=default).rstrip("/")
        parts = urlsplit(value)
        if value and not (parts.scheme in ("http", "https") and parts.hostname and not parts.query):
            raise ImproperlyConfigured(
                f"{name} is {value!r}; it must be an address, https://crm.example.org for instance."
            )
        return value

    def mailers(self) -> dict[str, dict[str, Any]]:
        """Django's MAILERS: a mail server, or a backend with its options; empty where neither is set."""
        if host := self.text("VIGENTE_MAIL_HOST"):
            options: dict[str, Any] = {
                "host": host,
                "port": self.integer("VIGENTE_MAIL_PORT", default=587, least=1, most=65_535),
                "username": self.text("VIGENTE_MAIL_USER"),
                "password": self.text("VIGENTE_MAIL_PASSWORD"),
                "use_tls": self.boolean("VIGENTE_MAIL_TLS", default=True),
                "timeout": 20,
            }
            return {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}}
        if backend := self.text("VIGENTE_MAIL_BACKEND"):
            return {"default": {"BACKEND": backend, "OPTIONS": {}}}
        return {}

    def pairs(self, name: str) -> dict[str, str]:
        """`name=value` words."""
        found = {}
        for word in self.words(name):
            key, equals, value = word.partition("=")
            if not (key and equals and value):
                raise ImproperlyConfigured(f"{name} holds {word!r}; it must be words like model=60/minute.")
            found[key] = value
        return found

    def words(self, name: str, *, default: str = "") -> list[str]:
        """Words parted by spaces or commas."""
        return self.text(name, default=default).replace(",", " ").split()


def load(path: Path, *, over: Mapping[str, str] | None = None) -> Environment:
    """The process environment laid over the file: what the caller exported beats what the file says."""
    return Environment({**read_file(path), **(os.environ if over is None else over)})


def read_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines; comments, also behind a value, blank lines, `export` and a pair of quotes are understood."""
    values: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return values
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, start=1):
        line = line.strip().removeprefix("export ").strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ImproperlyConfigured(f"{path}, line {number}: expected NAME=value.")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        else:
            value = re.split(r"\s#", value, maxsplit=1)[0].rstrip()
        values[name.strip()] = value
    return values
