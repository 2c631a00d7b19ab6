"""PostgreSQL and Redis for the test run: started before the first test, stopped and deleted after the last.

Guarantees that what a killed test run left behind is gone with the next one. Next in the flow: `tests/settings.py`.
"""

import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from config import embedded
from tests.settings import PREFIX

running = ExitStack()
YOUNG = 600  # seconds


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # A young one may belong to a run that has made it and does not hold it yet.
        if left != embedded.home().path and time.time() - left.stat().st_mtime > YOUNG:
            embedded.erase(left)
    running.enter_context(embedded.servers())


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    running.close()
    embedded.erase(embedded.home().path)
    shutil.rmtree(embedded.home().path, ignore_errors=True)
