"""The tickets, the stock and the access requests of the sample workspace: each state once, and what waits for somebody.

Tickets that are free, taken, waiting and closed (to one of those the customer has written since); shelves with units
promised to deals; a request for access that waits for the manager, one in force, one declined.
"""

import datetime as dt
from typing import Any, NamedTuple

from django.utils import timezone

from conflicts.refs import Ref
from crm.models import AccessRequest, Opportunity, Team
from crm.sample.desk import Desk


class Asked(NamedTuple):
    """A ticket: what it is about, whose, and what was done with it."""

    name: str
    company: str
    contact: str
    text: str
    priority: int = 2
    deal: str = ""
    team: str = "São Paulo"
    acts: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    """Who, verb, params."""
    tags: tuple[str, ...] = ()


TICKETS = (
    Asked(
        name="Cold room 9 reads 40 degrees",
        company="Quillmere Hotels",
        contact="Rui Amaro",
        deal="Sensors for 14 cold rooms",
        text="Since last night the trial sensor in room 9 says 40 degrees. The room is fine.",
        priority=4,
        acts=(
            ("lia", "claim", {}),
            ("lia", "note", {"text": "The probe lies on the compressor. Asked for a photo."}),
        ),
        tags=("trial",),
    ),
    Asked(
        name="Where are the service papers?",
        company="Brunnholt Dairy",
        contact="Davi Holm",
        text="The auditor comes on the 20th and wants the calibration papers of all sensors.",
        priority=3,
    ),
    Asked(
        name="Two sensors to the wrong address",
        company="Oskerly Butchers",
        contact="Olga Skerly",
        text="The parcel went to the old shop. Please send two more to the new one.",
    ),
    Asked(
        name="Alarm by text message",
        company="Solvarra Restaurants",
        contact="Otto Kremm",
        text="Can the alarm reach the night porter as a text message?",
        priority=1,
        acts=(
            ("ana", "claim", {}),
            ("ana", "note", {"text": "Yes, with the yearly service. Asked for the porter’s number."}),
            ("ana", "move", {"state": "waiting"}),
        ),
    ),
    Asked(
        name="Battery warning on truck 7",
        company="Pontevel Logistics",
        contact="Paulo Teller",
        text="One of the trial trucks shows a battery warning.",
        acts=(
            ("tomas", "claim", {}),
            ("tomas", "move", {"state": "closed", "resolution": "New battery sent, arrived on Friday."}),
            ("lia", "note", {"text": "The warning is back this morning.", "from_customer": True}),
        ),
    ),
    Asked(
        name="Invoice in English, please",
        company="Wexmoor Breweries",
        contact="",
        text="Our head office needs the next invoice in English.",
        team="Curitiba",
    ),
    Asked(
        name="Question about the app",
        company="Kestrelby School",
        contact="Inês Brandt",
        text="Can two of us have the app on the same account?",
        team="",
        priority=1,
    ),
)


class Shelf(NamedTuple):
    name: str
    sku: str
    product: str
    location: str
    on_hand: int
    promised: tuple[tuple[str, str, int, int], ...] = ()
    """Who, for which deal, how many, for how many days."""
    unit: str = "pieces"


SHELVES = (
    Shelf(
        "Cold room sensor",
        "PT-1000",
        "Sensor kit",
        "A 3",
        46,
        (("lia", "Sensors for 14 cold rooms", 28, 21), ("lia", "8 kitchens", 12, 9)),
    ),
    Shelf("Freezer sensor", "PT-1400", "Freezer sensors", "A 4", 16, (("ana", "Freezer hall", 16, 12),)),
    Shelf("Truck unit", "TK-22", "Truck kit", "C 1", 9, (("lia", "22 reefer trucks", 6, 18),)),
    Shelf("Gateway", "GW-3", "Sensor kit", "B 2", 31),
    Shelf("Door contact", "DC-2", "", "B 7", 0),
)


def tell(
    desk: Desk,
    *,
    companies: dict[str, int],
    contacts: dict[str, int],
    products: dict[str, int],
    now: dt.datetime,
) -> None:
    _tickets(desk, companies, contacts)
    # What ends has to end after the day it is loaded on, whatever day the rest looks like.
    now = max(now, timezone.now())
    _stock(desk, products, now)
    _access(desk, now)


def _tickets(desk: Desk, companies: dict[str, int], contacts: dict[str, int]) -> None:
    teams = dict(Team.objects.values_list("name", "pk"))
    for asked in TICKETS:
        deal = Opportunity.objects.filter(name=asked.deal, company=companies[asked.company]).first()
        ticket = desk.make(
            "ticket.create",
            who="bruno" if asked.team == "Curitiba" else "lia",
            name=asked.name,
            text=asked.text,
            company=companies[asked.company],
            contact=contacts.get(asked.contact),
            opportunity=deal.pk if deal else None,
            team=teams.get(asked.team),
            priority=asked.priority,
            tags=list(asked.tags),
        )
        for who, verb, params in asked.acts:
            desk.do(f"ticket.{verb}", ticket, who=who, **params)


def _stock(desk: Desk, products: dict[str, int], now: dt.datetime) -> None:
    for shelf in SHELVES:
        item = desk.make(
            "stock.create",
            who="tomas",
            name=shelf.name,
            sku=shelf.sku,
            product=products.get(shelf.product),
            location=shelf.location,
            unit=shelf.unit,
            on_hand=shelf.on_hand,
        )
        for who, deal, quantity, days in shelf.promised:
            desk.do(
                "stock.reserve",
                item,
                who=who,
                quantity=quantity,
                opportunity=Opportunity.objects.get(name=deal).pk,
                until=now + dt.timedelta(days=days),
            )


def _access(desk: Desk, now: dt.datetime) -> None:
    teams = dict(Team.objects.values_list("name", "pk"))
    day = now.date()

    def ask(who: str, **params: Any) -> Ref:
        return desk.make("access.ask", who=who, **params)

    covers = ask(
        "helena",
        kind="team",
        team=teams["São Paulo"],
        may_change=True,
        reason="I cover for Lia while she is at the fair.",
        wanted_until=day + dt.timedelta(days=14),
    )
    seen = AccessRequest.objects.get(pk=covers.pk)
    desk.do(
        "access.grant",
        covers,
        who="marta",
        fingerprint=seen.fingerprint,
        expires_at=now + dt.timedelta(days=14),
        note="For the week of the fair",
    )
    ask(
        "bruno",
        kind="team",
        team=teams["São Paulo"],
        reason="Grimsund wants the same offer as Pontevel; I would like to see how it was made.",
        wanted_until=day + dt.timedelta(days=10),
    )
    files = ask(
        "ana",
        kind="export",
        reason="A list of open tickets for the monthly meeting.",
        wanted_until=day + dt.timedelta(days=5),
    )
    seen = AccessRequest.objects.get(pk=files.pk)
    desk.do("access.decline", files, who="clara", fingerprint=seen.fingerprint, note="The meeting has the screen")
