"""`make setup` believes a Python only after it has run it."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from config.embedded.homes import PROJECT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script as a module, on a machine where nothing is installed."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("vigente_setup", PROJECT / "scripts" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("VIGENTE_PYTHON", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(module, "FETCHED", str(tmp_path / "fetched"))
    everywhere = module.glob.glob
    # What this machine has in its system directories must not decide the test.
    monkeypatch.setattr(module.glob, "glob", lambda p: everywhere(p) if p.startswith(str(tmp_path)) else [])
    monkeypatch.setattr(module, "redis_at_hand", lambda: True)
    return module


def python(path: Path, version: str, *, code: int = 0) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{version}'\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


def test_a_version_managers_placeholder_is_passed_over(script: ModuleType, tmp_path: Path) -> None:
    python(tmp_path / "bin" / "python3.12", "3 12 final", code=127)
    python(tmp_path / "bin" / "python3", "3 11 final")
    real = python(tmp_path / "home" / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3", "3 12 final")
    assert script.choose() == real


def test_a_later_python_on_path_is_found_behind_one_that_refuses(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "shims"), str(tmp_path / "bin")]))
    python(tmp_path / "shims" / "python3.13", "not found", code=127)
    real = python(tmp_path / "bin" / "python3.13", "3 13 final")
    assert script.choose() == real


def test_3_12_is_preferred_for_its_packages(script: ModuleType, tmp_path: Path) -> None:
    python(tmp_path / "bin" / "python3", "3 13 final")
    real = python(tmp_path / "home/.local/share/uv/python/cpython-3.12/bin/python3", "3 12 final")
    assert script.choose() == real


def test_a_prerelease_is_not_taken(script: ModuleType, tmp_path: Path) -> None:
    python(tmp_path / "bin" / "python3.14", "3 14 beta")
    assert script.version_of(str(tmp_path / "bin" / "python3.14")) is None


def test_the_named_python_is_taken(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python(tmp_path / "bin" / "python3.12", "3 12 final")
    monkeypatch.setenv("VIGENTE_PYTHON", python(tmp_path / "own" / "python", "3 13 final"))
    assert script.choose() == str(tmp_path / "own" / "python")


def test_a_named_python_that_is_too_old_gets_one_line(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIGENTE_PYTHON", python(tmp_path / "own" / "python", "3 9 final"))
    with pytest.raises(script.Problem, match=r"is no Python 3\.12 or newer"):
        script.choose()


def test_without_any_python_the_line_says_what_to_do(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "fetch", lambda: None)
    with pytest.raises(script.Problem, match=r"Install one .* or name one with VIGENTE_PYTHON"):
        script.choose()


def test_another_python_will_do_if_none_can_be_fetched(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = python(tmp_path / "bin" / "python3", "3 13 final")
    monkeypatch.setattr(script, "redis_at_hand", lambda: False)
    monkeypatch.setattr(script, "fetch", lambda: None)
    assert script.choose() == real


def test_the_python_of_this_run_passes(script: ModuleType) -> None:
    assert script.version_of(sys.executable) == sys.version_info[:2]


def test_requirements_are_taken_apart_by_package(script: ModuleType) -> None:
    blocks = script.split("a==1 \\\n    --hash=sha256:00\nb==2 ; x \\\n    --hash=sha256:01\n    --hash=sha256:02\n")
    assert [block.split()[0] for block in blocks] == ["a==1", "b==2"]
    assert blocks[1].count("--hash") == 2
