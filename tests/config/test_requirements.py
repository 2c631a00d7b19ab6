"""What is committed names no place that only one machine has."""

import re
import subprocess
import tomllib

import pytest

from config.embedded.homes import PROJECT


@pytest.mark.parametrize("name", ["base.txt", "dev.txt"])
def test_requirements_hold_pinned_hashed_packages_and_no_address(name: str) -> None:
    text = (PROJECT / "requirements" / name).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--(index-url|extra-index-url|find-links|trusted-host)", text, re.MULTILINE)
    packages = re.findall(r"^(\S.*?)\\?$", text, re.MULTILINE)
    assert packages
    assert all(re.match(r"[a-z0-9.-]+==\S+", line) for line in packages), packages


def test_requirements_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    pinned = names((PROJECT / "requirements" / "base.txt").read_text().splitlines())
    assert names(project["dependencies"]) <= pinned
    with_tools = names((PROJECT / "requirements" / "dev.txt").read_text().splitlines())
    assert pinned <= with_tools
    assert names(project["optional-dependencies"]["dev"]) <= with_tools


def names(lines: list[str]) -> set[str]:
    return {re.split(r"[\[=<>;! ]", line)[0].lower().replace("_", "-") for line in lines if line[:1].isalpha()}


def test_no_lock_file_with_addresses_is_committed() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True).stdout.split()
    assert not {"uv.lock", "poetry.lock", "Pipfile.lock", ".python-version"} & set(listed)
