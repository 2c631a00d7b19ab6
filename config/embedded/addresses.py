"""Addresses of real servers, read by hand: DATABASE_URL and REDIS_URL.

Guarantees that a bad address stops the start with a line that names the variable and never repeats the password.
Next in the flow: `config/settings.py`.
"""

from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

FORM = "postgres://user:password@host:port/name, with ?host=/directory for a Unix socket"
# Limits that no statement of ours comes near; they keep a stuck session from holding others up.
LIMITS = {"lock_timeout": "3s", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "60s"}
# Options of libpq that may stand in the address besides the host.
PASSED_ON = {
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "target_session_attrs",
    "connect_timeout",
}


def database(url: str, *, pool: int = 0) -> dict[str, Any]:
    parts, port = split(url, variable="DATABASE_URL", schemes={"postgres", "postgresql"}, form=FORM)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    host, port = options.pop("host", "") or unquote(parts.hostname or ""), options.pop("port", "") or port
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured(f"DATABASE_URL names no database; it should look like {FORM}.")
    if unknown := set(options) - PASSED_ON:
        raise ImproperlyConfigured(f"DATABASE_URL has an unknown option: {', '.join(sorted(unknown))}.")
    return settings(
        name=name,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        host=host,
        port=port,
        more=options,
        pool=pool,
    )


def settings(
    *, name: str, user: str, host: str, port: str, password: str = "", more: dict[str, str] | None = None, pool: int = 0
) -> dict[str, Any]:
    """`pool` is the most connections one process keeps; 0 is a connection per thread, closed after each request."""
    limits = " ".join(f"-c {setting}={value}" for setting, value in LIMITS.items())
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": user,
        "PASSWORD": password,
        "HOST": host,
        "PORT": port,
        "OPTIONS": {
            "application_name": "vigente",
            "connect_timeout": 10,
            "options": limits,
            **({"pool": {"min_size": 1, "max_size": pool, "timeout": 10, "max_lifetime": 1800}} if pool else {}),
            **(more or {}),
        },
    }


def redis(url: str) -> str:
    form = "redis://:password@host:port/0, rediss://..., or unix:///directory/redis.sock"
    parts, _ = split(url, variable="REDIS_URL", schemes={"redis", "rediss", "unix"}, form=form)
    if parts.scheme == "unix" and not parts.path.startswith("/"):
        raise ImproperlyConfigured(f"REDIS_URL names no socket; it should look like {form}.")
    if parts.scheme != "unix" and not parts.hostname:
        raise ImproperlyConfigured(f"REDIS_URL names no host; it should look like {form}.")
    return url


def split(url: str, *, variable: str, schemes: set[str], form: str) -> tuple[SplitResult, str]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured(f"{variable} cannot be read; it should look like {form}.") from None
    if parts.scheme not in schemes:
        raise ImproperlyConfigured(f"{variable} has to begin with one of {', '.join(sorted(schemes))}: {form}.")
    return parts, str(port or "")
