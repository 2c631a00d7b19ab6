"""DATABASE_URL and REDIS_URL are read whole, and a bad one is refused without its password."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import embedded
from config.embedded import addresses
from config.environment import Environment


def test_a_database_address_is_read_whole() -> None:
    found = addresses.database("postgres://ana:p%40ss%2Fword@db.example:5433/crm?sslmode=require", pool=8)
    assert [found[key] for key in ("HOST", "PORT", "USER", "PASSWORD", "NAME")] == [
        "db.example",
        "5433",
        "ana",
        "p@ss/word",
        "crm",
    ]
    assert found["OPTIONS"]["sslmode"] == "require"
    assert found["OPTIONS"]["pool"]["max_size"] == 8
    assert "lock_timeout=3s" in found["OPTIONS"]["options"]


def test_a_database_behind_a_socket() -> None:
    found = addresses.database("postgresql:///crm?host=/run/postgresql")
    assert (found["HOST"], found["NAME"], found["PORT"]) == ("/run/postgresql", "crm", "")
    assert "pool" not in found["OPTIONS"]


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ana:geheim@db/crm",
        "postgres://ana:geheim@db",
        "postgres://ana:geheim@db:port/crm",
        "postgres://ana:geheim@db/crm?nonsense=1",
        "just words with geheim",
    ],
)
def test_a_bad_database_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as refusal:
        addresses.database(url)
    assert "geheim" not in str(refusal.value)


@pytest.mark.parametrize("url", ["http://host/0", "redis://", "unix:", "redis://host:port/0"])
def test_a_bad_redis_address_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL"):
        addresses.redis(url)


def test_celery_gets_a_socket_in_its_own_words() -> None:
    assert embedded.broker_url("unix:///run/redis.sock") == "redis+socket:///run/redis.sock"
    assert embedded.broker_url("redis://host:6379/0") == "redis://host:6379/0"


def test_addresses_beat_the_embedded_servers() -> None:
    env = Environment({"DATABASE_URL": "postgres://db/crm", "REDIS_URL": "redis://host/0"})
    assert not embedded.wanted(env)
    assert embedded.database_settings(env)["HOST"] == "db"
    assert embedded.redis_url(env) == "redis://host/0"
    with embedded.servers(env):  # starts nothing: it would have to make a home
        pass


def test_the_port_of_a_socket_may_stand_beside_its_directory() -> None:
    found = addresses.database("postgres://me@/crm?host=/run/pg&port=5433")
    assert (found["HOST"], found["PORT"]) == ("/run/pg", "5433")
