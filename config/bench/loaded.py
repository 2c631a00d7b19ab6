"""Import, sweep and pages, one after the other on the same 8,800 deals: what a sales team of thirty has after a year.

Guarantees that pages are measured as a browser gets them: over HTTP from the real server, signed in, session and all.
"""

import contextlib
import csv
import datetime as dt
import http.client
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents import sweeps
from config.bench import Figure
from config.bench.serving import server
from crm.models import Opportunity, User
from crm.models.user import Role

REQUESTS = 60
STAGES = "Prospecting,Engaging,Won,Lost"
PAGES = ("/", "/board/", "/companies/", "/contacts/", "/suggestions/")


def measure(data: Path | None = None) -> list[Figure]:
    """`data`: a folder with sales_teams, accounts, products and sales_pipeline .csv; without it they are made up."""
    with tempfile.TemporaryDirectory() as folder:
        files = data or _made_up(Path(folder))
        figures = _import(files)
    figures += _sweep()
    figures += _pages()
    return figures


def _import(files: Path) -> list[Figure]:
    common: dict[str, Any] = {"currency": "USD", "stdout": open(os.devnull, "w")}  # noqa: SIM115 - ends with the process
    with contextlib.closing(common["stdout"]):
        call_command("import_csv", files / "sales_teams.csv", kind="team", **common)
        call_command("import_csv", files / "accounts.csv", kind="companies", **common)
        call_command("import_csv", files / "products.csv", kind="products", **common)
        timed = []
        for _ in range(2):
            start = time.perf_counter()
            call_command(
                "import_csv",
                files / "sales_pipeline.csv",
                kind="opportunities",
                pipeline="Bench",
                stages=STAGES,
                **common,
            )
            timed.append(time.perf_counter() - start)
    count = Opportunity.objects.count()
    return [
        Figure(name="import, new deals", value=count / timed[0], unit="rows/s", note=f"{count} rows"),
        Figure(name="import, the same file again", value=count / timed[1], unit="rows/s", note="changes nothing"),
    ]


def _sweep() -> list[Figure]:
    start = time.perf_counter()
    run = sweeps.sweep(per_person=0)
    seconds = time.perf_counter() - start
    note = f"{run.looked_at} open deals, {run.proposed} suggestions"
    return [Figure(name="sweep", value=run.looked_at / seconds, unit="deals/s", note=note)]


def _pages() -> list[Figure]:
    viewer = User.objects.create(username="bench", role=Role.ADMINISTRATOR, is_superuser=True)
    deal = Opportunity.objects.open().order_by("pk").first()
    paths = [*PAGES, f"/deals/{deal.pk}/"] if deal else list(PAGES)
    queries = {path: _queries(viewer, path) for path in paths}
    figures = []
    with server() as port:
        for path in paths:
            median, size = _answers(port, path, _session(viewer))
            note = f"{queries[path]} queries, {size / 1000:.0f} kB sent"
            figures.append(Figure(name=f"page {path}", value=median * 1000, unit="ms, median", note=note))
    return figures


def _queries(viewer: User, path: str) -> int:
    client = Client()
    client.force_login(viewer)
    with CaptureQueriesContext(connection) as sent:
        answer = client.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answers {answer.status_code}")
    return len(sent)


def _session(viewer: User) -> str:
    store = SessionStore()
    store[SESSION_KEY] = str(viewer.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = viewer.get_session_auth_hash()
    store.create()
    return str(store.session_key)


def _answers(port: int, path: str, session: str) -> tuple[float, int]:
    """Median seconds to the last byte, and the bytes of one answer, over one kept connection."""
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}", "Accept-Encoding": "gzip"}
    taken, size = [], 0
    for _ in range(REQUESTS):
        start = time.perf_counter()
        server.request("GET", path, headers=headers)
        answer = server.getresponse()
        size = len(answer.read())
        taken.append(time.perf_counter() - start)
        if answer.status != 200:
            raise RuntimeError(f"{path} answers {answer.status}")
    server.close()
    return sorted(taken)[len(taken) // 2], size


HEADER = [
    "opportunity_id",
    "sales_agent",
    "product",
    "account",
    "deal_stage",
    "engage_date",
    "close_date",
    "close_value",
]


def _made_up(folder: Path) -> Path:
    """Four files of the shape and size of a real export: 8,800 deals of 35 people with 85 companies, seed 1."""
    dice = random.Random(1)
    people = [f"Person {n}" for n in range(35)]
    companies = [f"Company {n}" for n in range(85)]
    products = [f"Product {n}" for n in range(7)]
    start = timezone.localdate() - dt.timedelta(days=300)
    deals: list[list[object]] = []
    for number in range(8800):
        stage = dice.choices(["Won", "Lost", "Engaging", "Prospecting"], [48, 28, 18, 6])[0]
        opened = start + dt.timedelta(days=dice.randrange(250))
        closed = opened + dt.timedelta(days=dice.randrange(1, 50)) if stage in ("Won", "Lost") else ""
        value: object = {"Won": dice.randrange(40, 6000), "Lost": 0}.get(stage, "")
        company = dice.choice(companies) if closed or dice.random() < 0.3 else ""
        deals.append(
            [f"B{number:06}", dice.choice(people), dice.choice(products), company, stage, opened, closed, value]
        )
    tables: dict[str, tuple[list[str], list[list[object]]]] = {
        "sales_teams": (
            ["sales_agent", "manager", "regional_office"],
            [[name, f"Manager {n % 6}", f"Region {n % 3}"] for n, name in enumerate(people)],
        ),
        "accounts": (["account", "sector"], [[name, "retail"] for name in companies]),
        "products": (["product", "series", "sales_price"], [[name, "S", 100] for name in products]),
        "sales_pipeline": (
            HEADER,
            deals,
        ),
    }
    for name, (header, rows) in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return folder
