"""A real Chromium on a real server (Granian, event streams and all), over the rows of the test.

Guarantees that every page of every test is free of errors and of violations of the content security policy: each test
fails if the console of one of its pages says otherwise.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from config.embedded.processes import until
from crm import live
from crm.models import User

CHROMIUM = os.environ.get("VIGENTE_CHROMIUM") or "/usr/bin/chromium"
PROJECT = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def site(django_db_setup: None) -> Iterator[str]:
    """The address of a server over the test database. It ends before the database does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--interface", "asginl", "--host", "127.0.0.1", "--port", str(port), "--workers", "1", "--no-ws"]
    server = subprocess.Popen(
        [sys.executable, "-m", "granian", *options, "--workers-kill-timeout", "1", "config.asgi:application"],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/sign-in/", server)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(address: str, server: "subprocess.Popen[bytes]") -> None:
    ends = time.monotonic() + 60
    while time.monotonic() < ends and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=20).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)  # there is nothing to wait on but the port
    raise RuntimeError(f"The server did not start (exit code {server.poll()}).")


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"There is no Chromium at {CHROMIUM}; install it or name another one in VIGENTE_CHROMIUM.")
    # Playwright keeps a loop in this thread, for which Django would refuse every query of the tests themselves.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=15_000)  # on a busy machine the page is right later, not wrong
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def said() -> list[str]:
    """What the consoles said that should not be said."""
    return []


@pytest.fixture
def visit(chromium: Browser, site: str, transactional_db: None, said: list[str]) -> Iterator[Callable[..., Page]]:
    """`visit(person, path)`: a page in a browser of that person's own; `None` for nobody. Options as of new_context."""
    contexts: list[BrowserContext] = []
    live.client().flushdb()

    def open_page(user: User | None, path: str, **options: Any) -> Page:
        context = chromium.new_context(base_url=site, locale="en-US", **options)
        contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            value = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": site}])
        page = context.new_page()
        page.set_default_timeout(15_000)
        listen(page, said)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert until(_nothing_at_work, seconds=30), "The server still works for a page that is gone."
    assert not said, said


def _nothing_at_work() -> bool:
    """The server answers to its end also those who have left; its rows are emptied after that, not under it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle')"
        )
        return bool(cursor.fetchone()[0])


def listen(page: Page, said: list[str]) -> None:
    def heard(message: Any) -> None:
        # A choice (409) or a fault (422) is an answer like others; only the browser calls it an error.
        if message.type == "error" and "Failed to load resource" not in message.text:
            said.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: said.append(str(error)))


def wait_live(page: Page) -> None:
    """Until the page's stream says that it hears."""
    page.wait_for_selector('#live[data-live="on"]')
