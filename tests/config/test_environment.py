"""Variables are read with their type, and a bad one is named."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.environment import Environment


def test_text_falls_back_to_its_default_when_empty() -> None:
    env = Environment({"A": "  x ", "B": " "})
    assert (env.text("A"), env.text("B", default="b"), env.text("C", default="c")) == ("x", "b", "c")


@pytest.mark.parametrize(
    ("value", "meaning"), [("yes", True), ("TRUE", True), ("1", True), ("off", False), ("No", False)]
)
def test_a_boolean_is_understood(value: str, meaning: bool) -> None:
    assert Environment({"A": value}).boolean("A", default=not meaning) is meaning


def test_a_boolean_that_is_none_names_its_variable() -> None:
    with pytest.raises(ImproperlyConfigured, match="DEBUG is 'maybe'"):
        Environment({"DEBUG": "maybe"}).boolean("DEBUG")


@pytest.mark.parametrize("value", ["many", "1.5", "0", "70000"])
def test_a_bad_number_names_its_variable(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="VIGENTE_PORT is"):
        Environment({"VIGENTE_PORT": value}).integer("VIGENTE_PORT", default=8000, least=1, most=65535)


@pytest.mark.parametrize("value", ["Mars/Base", "America", "/etc/passwd", "../etc"])
def test_a_time_zone_that_does_not_exist_names_its_variable(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"TIME_ZONE is .* no time zone"):
        Environment({"TIME_ZONE": value}).zone("TIME_ZONE", default="UTC")


def test_a_code_is_understood_written_small_and_an_unknown_one_names_its_variable() -> None:
    env = Environment({"A": "debug", "B": "loud"})
    assert env.choice("A", default="INFO", among={"INFO", "DEBUG"}, example="INFO") == "DEBUG"
    with pytest.raises(ImproperlyConfigured, match="B is 'LOUD'"):
        env.choice("B", default="INFO", among={"INFO", "DEBUG"}, example="INFO")


def test_words_are_parted_by_spaces_or_commas() -> None:
    assert Environment({"A": "a, b c"}).words("A") == ["a", "b", "c"]


def test_pairs_are_words_with_a_value() -> None:
    assert Environment({"A": "model=60/minute, api:mailer=5/second"}).pairs("A") == {
        "model": "60/minute",
        "api:mailer": "5/second",
    }
    assert Environment({}).pairs("A") == {}
    for bad in ("model", "=60/minute", "model="):
        with pytest.raises(ImproperlyConfigured, match="A holds"):
            Environment({"A": bad}).pairs("A")


def test_the_process_beats_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# a comment\n\nexport A=file\nB='quo ted'\nC=a=b\n")
    env = environment.load(file, over={"A": "process"})
    assert (env.text("A"), env.text("B"), env.text("C")) == ("process", "quo ted", "a=b")


def test_a_comment_behind_a_value_is_left_out_unless_quotes_keep_it(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("A=redis://here/0   # the queue\nB='x # y'\nC=x#y\n")
    env = environment.load(file, over={})
    assert (env.text("A"), env.text("B"), env.text("C")) == ("redis://here/0", "x # y", "x#y")


def test_a_line_that_is_no_assignment_is_named(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("A=1\nnonsense\n")
    with pytest.raises(ImproperlyConfigured, match=r"line 2: expected NAME=value"):
        environment.load(file)


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"A=\xff\xfe")
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        environment.load(file)


def test_every_variable_of_the_settings_is_explained() -> None:
    """`.env.example` lists what the code asks for, and nothing else."""
    import re

    from config.embedded.homes import PROJECT

    asked: set[str] = set()
    for path in (PROJECT / "config").rglob("*.py"):
        asked |= set(
            re.findall(
                r'(?:env|self)\.(?:text|boolean|integer|choice|zone|address|pairs|words|has)\(\s*"(\w+)"',
                path.read_text(),
            )
        )
    listed = set(re.findall(r"^# (\w+)=", (PROJECT / ".env.example").read_text(), re.MULTILINE))
    assert asked <= listed
    assert listed - asked <= {"VIGENTE_PYTHON"}  # asked by scripts/setup.py


def test_an_address_loses_its_last_slash_and_may_have_a_path() -> None:
    env = Environment({"A": "https://crm.example.org/", "B": "http://127.0.0.1:8000/v1"})
    assert (env.address("A"), env.address("B"), env.address("C")) == (
        "https://crm.example.org",
        "http://127.0.0.1:8000/v1",
        "",
    )


@pytest.mark.parametrize("value", ["crm.example.org", "ftp://crm.example.org", "https://", "https://a.example/?b=c"])
def test_an_address_that_is_none_names_its_variable(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="VIGENTE_PUBLIC_URL is"):
        Environment({"VIGENTE_PUBLIC_URL": value}).address("VIGENTE_PUBLIC_URL")
