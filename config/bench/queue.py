"""The review queue with ten thousand conflicts that wait: first page, last page, filtered, searched, as a manager.

Guarantees what `config/bench/loaded.py` guarantees of pages: over HTTP from the real server, signed in. The rows are
made from one that the gate has written, so that none is lighter than a real one.
"""

import datetime as dt
import time

from django.test import Client
from django.utils import timezone

from config.bench import Figure
from config.bench.loaded import _answers, _queries, _session
from config.bench.serving import server
from conflicts import actors, gate
from conflicts.models import Conflict
from conflicts.proposals import Proposal, Read
from crm.models import Opportunity, Team, User
from crm.models.user import Role

COUNT = 10_000
LIST = "/admin/conflicts/conflict/"


def measure() -> list[Figure]:
    team = Team.objects.create(name="Bench")
    owner = User.objects.create(username="owner", first_name="Olga", team=team)
    boss = {"team": team, "is_staff": True}
    admin = User.objects.create(username="bench", role=Role.ADMINISTRATOR, is_superuser=True, is_staff=True)
    manager = User.objects.create(username="manager", role=Role.MANAGER, **boss)
    one = _conflict(owner)
    _copies(one, team)
    pages = {
        "first page": "",
        "page 200, the last": "?p=200",
        "by team and amount": f"?team={team.pk}&amount=0",
        "held by nobody": "?held=free",
        "searched": "?q=Deal+7",
        "all, also settled": "?show=all",
    }
    figures = []
    with server() as port:
        for who, viewer in (("administrator", admin), ("manager", manager)):
            for name, query in pages.items():
                asked, cost = _queries(viewer, LIST + query), _processor(viewer, LIST + query)
                median, size = _answers(port, LIST + query, _session(viewer))
                note = f"{cost:.0f} ms of processor, {asked} queries, {size / 1000:.0f} kB sent"
                figures.append(Figure(name=f"queue, {who}: {name}", value=median * 1000, unit="ms, median", note=note))
        page = f"{LIST}{one.pk}/change/"
        median, size = _answers(port, page, _session(admin))
        note = f"{_queries(admin, page)} queries, {size / 1000:.0f} kB sent"
        figures.append(Figure(name="queue: one conflict", value=median * 1000, unit="ms, median", note=note))
    return figures


def _processor(viewer: User, path: str) -> float:
    """Milliseconds of processor time for one page: what it costs however busy the machine is."""
    client = Client()
    client.force_login(viewer)
    taken = []
    for _ in range(5):
        start = time.process_time()
        client.get(path)
        taken.append((time.process_time() - start) * 1000)
    return min(taken)


def _conflict(owner: User) -> Conflict:
    """Two values for one amount, as the gate leaves them."""
    by = actors.person(owner)
    made = gate.commit(
        Proposal(action="opportunity.create", by=by, params={"name": "Deal", "owner": owner.pk, "amount": "1"})
    )
    deal = Opportunity.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]
    read = (Read.of(deal),)
    for amount in ("2", "3"):
        outcome = gate.commit(Proposal(action="opportunity.edit", by=by, params={"amount": amount}, basis=read))
    return Conflict.objects.get(pk=outcome.record or 0)


def _copies(one: Conflict, team: Team) -> None:
    names = [field.attname for field in Conflict._meta.concrete_fields if field.name != "id"]
    values = {name: getattr(one, name) for name in names}
    start = timezone.now()
    deadlines = (start + dt.timedelta(minutes=number - COUNT // 2) for number in range(COUNT - 1))
    Conflict.objects.bulk_create(
        (
            Conflict(
                **{**values, "deadline": deadline, "subject_label": f"Deal {number}", "amount": number * 7 % 90_000}
            )
            for number, deadline in enumerate(deadlines)
        ),
        batch_size=1000,
    )
