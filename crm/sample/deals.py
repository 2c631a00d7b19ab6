"""The deals of the sample workspace, told in days before and after the day it is loaded.

All four colours of a next step occur, some deals are stuck, one stands at version 31 with everything that led there.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Event(NamedTuple):
    """`day` days from today (negative: before), done by `who`: an action's last word, and its params."""

    day: int
    who: str
    verb: str
    params: dict[str, Any]


def call(day: int, who: str, text: str) -> Event:
    return Event(day, who, "log", {"kind": "call", "text": text})


def mail(day: int, who: str, text: str) -> Event:
    return Event(day, who, "log", {"kind": "mail", "text": text})


def meeting(day: int, who: str, text: str) -> Event:
    return Event(day, who, "log", {"kind": "meeting", "text": text})


def note(day: int, who: str, text: str) -> Event:
    return Event(day, who, "log", {"kind": "note", "text": text})


def plan(
    day: int, who: str, title: str, due: int | None = None, at: str = "", kind: str = "todo", owner: str = ""
) -> Event:
    """`due` in days from today; `at` a time of day there."""
    return Event(day, who, "plan_task", {"title": title, "due": due, "at": at, "kind": kind, "owner": owner})


def done(day: int, who: str, title: str) -> Event:
    return Event(day, who, "complete_task", {"title": title})


def edit(day: int, who: str, **fields: Any) -> Event:
    return Event(day, who, "edit", fields)


@dataclass(frozen=True, kw_only=True)
class Deal:
    company: str
    name: str
    owner: str
    amount: int
    product: str
    path: tuple[int, ...]
    """The day it reached each stage, from New on; the last is where it stands."""
    contact: str = ""
    closes: int | None = None
    lost: str = ""
    """Why; then the last stage of the path is Lost."""
    won: bool = False
    tags: tuple[str, ...] = ()
    decision: str = ""
    events: tuple[Event, ...] = field(default=())


QUILLMERE = Deal(
    company="Quillmere Hotels", name="Sensors for 14 cold rooms", owner="lia", amount=39_000, product="Sensor kit",
    contact="Rui Amaro", path=(-43, -36, -25),
    events=(
        note(-43, "tomas", "Met at the fair. Nine hotels, cold rooms in all of them, nothing measured today."),
        plan(-43, "lia", "Call Rui for a first talk", -41, kind="call"),
        call(-41, "lia", "Loses two deliveries a month to warm rooms. Wants to start with the Paulista hotel."),
        done(-41, "lia", "Call Rui for a first talk"),
        plan(-41, "lia", "Offer days for the site visit", -38, kind="mail"),
        mail(-38, "lia", "Offered three days for the visit; Rui took the second."),
        done(-38, "lia", "Offer days for the site visit"),
        plan(-37, "lia", "Visit the Paulista hotel", -31, at="09:00", kind="meeting", owner="tomas"),
        meeting(-31, "tomas", "Saw 12 cold rooms; the basement was closed. Wi-Fi reaches all but two of them."),
        done(-31, "tomas", "Visit the Paulista hotel"),
        edit(-31, "tomas", tags=["hotel chain", "cold rooms"]),
        plan(-31, "lia", "Write up the site visit", -29),
        plan(-31, "lia", "Find the plan of the basement plant"),
        done(-29, "lia", "Write up the site visit"),
        edit(-28, "lia", closes=24),
        note(-27, "ana", "They also asked Norvik for an offer: data loggers, no alarms."),
        edit(-26, "lia", amount=52_000),
        plan(-24, "lia", "Work out one price per room", owner="ana"),
        mail(-20, "lia", "Sent the references of two hotels."),
        call(-13, "lia", "The references were good. Asks what service costs per year."),
        edit(-13, "lia", decision="Partners decide on Friday"),
        plan(-12, "lia", "Send the proposal", -9, kind="mail", owner="tomas"),
        note(-9, "tomas", "Site visit form filed; the proposal covers service for the first year."),
        mail(-9, "tomas", "Sent the proposal to Rui."),
        done(-9, "tomas", "Send the proposal"),
        call(-8, "lia", "14 min. Wants service for 14 rooms instead of 12. Asks for one price per room."),
        note(-8, "lia", "Two rooms more at the same price per room; first year of service included."),
        edit(-7, "lia", amount=48_000),
    ),
)  # fmt: skip

DEALS = [
    QUILLMERE,
    # New
    Deal(
        company="Saltwick Fish Market", name="26 ice boxes", owner="ana", amount=31_200, product="Sensor kit",
        contact="Mirela Costa", path=(-4,), closes=38,
        events=(call(-4, "ana", "Ice boxes are opened 80 times a day; wants to know which ones run warm."),
                plan(-4, "ana", "Send the price list", 2, kind="mail")),
    ),
    Deal(
        company="Hatchmoor Farms", name="Milk tank sensors", owner="tomas", amount=18_400, product="Sensor kit",
        contact="Caio Ferraz", path=(-8,), closes=45,
        events=(mail(-6, "tomas", "Caio asks us to write, not to call: he is in the barn all day."),),
    ),
    Deal(
        company="Verrano Flowers", name="One cold room", owner="lia", amount=9_600, product="Sensor kit",
        contact="Joana Verrano", path=(-5,), closes=20,
        events=(call(-5, "lia", "Roses at 2 °C, one room, wants an alarm on the phone."),
                plan(-2, "lia", "Answer the question on price", 0)),
    ),
    Deal(
        company="Kestrelby School", name="Sensor kit, 6 fridges", owner="lia", amount=7_800, product="Sensor kit",
        contact="Inês Brandt", path=(-3,), closes=30,
        events=(mail(-3, "lia", "Inês wrote through the website; the inspection asked for a log."),
                plan(-3, "lia", "Call Inês", 3, kind="call")),
    ),
    Deal(
        company="Aldermoor Vets", name="Two vaccine fridges", owner="tomas", amount=3_900, product="Sensor kit",
        contact="Teresa Alder", path=(-1,), closes=35,
        events=(plan(-1, "tomas", "First call", 1, at="11:00", kind="call"),),
    ),
    # Site visit
    Deal(
        company="Lumebrook Clinics", name="Vaccine fridges, 9 sites", owner="lia", amount=64_000, product="Sensor kit",
        contact="Vera Soll", path=(-24, -9), closes=28, tags=("vaccines",), decision="Vera and the medical director",
        events=(call(-22, "lia", "Nine sites, 31 fridges. An alarm went off at night and nobody knew whom to call."),
                mail(-10, "lia", "Agreed on the visit in Rua Alta."),
                plan(-10, "lia", "Visit the clinic in Rua Alta", 0, at="15:00", kind="meeting")),
    ),
    Deal(
        company="Ferrowane Foods", name="Freezer hall", owner="ana", amount=41_500, product="Freezer sensors",
        contact="Amir Haddad", path=(-19, -7), closes=40,
        events=(call(-18, "ana", "A hall of 4,000 pallets at -22 °C; the insurer wants a log."),
                plan(-7, "ana", "Visit the hall", 6, at="10:00", kind="meeting")),
    ),
    Deal(
        company="Corvane Chocolates", name="Storage hall", owner="lia", amount=38_700, product="Sensor kit",
        contact="Beatriz Cor", path=(-16, -6), closes=33,
        events=(call(-15, "lia", "Bloom on the pralines in summer; suspects the hall by the gate."),
                plan(-6, "lia", "Visit the storage hall", 4, at="14:00", kind="meeting")),
    ),
    Deal(
        company="Dunmarrow Bakery", name="Yearly service", owner="tomas", amount=12_900, product="Yearly service",
        contact="Dora Lins", path=(-28, -15), closes=12,
        events=(call(-27, "tomas", "Happy with the sensors, wants somebody to look after them."),
                meeting(-14, "tomas", "Walked through both ovens and the cold store."),
                plan(-14, "tomas", "Send the service dates", -2, kind="mail"),
                call(-1, "tomas", "Dora asked about the dates again; they come this week.")),
    ),
    # Proposal
    Deal(
        company="Pontevel Logistics", name="22 reefer trucks", owner="lia", amount=92_000, product="Truck kit",
        contact="Paulo Teller", path=(-38, -27, -11), closes=18, tags=("fleet",), decision="Paulo, with the board",
        events=(call(-37, "lia", "22 trucks, two lost loads last year. Drivers must not have to do anything."),
                meeting(-25, "tomas", "Fitted one truck for a week; the door sensor convinced the dispatcher."),
                mail(-11, "lia", "Sent the proposal with the price per truck."),
                plan(-9, "lia", "Call Paulo about the trucks", 0, at="16:30", kind="call"),
                edit(-1, "ana", amount=86_000)),
    ),
    Deal(
        company="Marrowby Pharmacies", name="Sensor kit, 31 shops", owner="lia", amount=73_500, product="Sensor kit",
        contact="Nelson Paiva", path=(-27, -20, -6), closes=36, tags=("31 shops",),
        events=(call(-25, "lia", "31 shops, one fridge each; asks from how many the price drops."),
                mail(-6, "lia", "Sent the proposal for 31 shops."),
                plan(-6, "lia", "Send references of two pharmacies", 1, kind="mail")),
    ),
    Deal(
        company="Tindley Kitchens", name="Sensor kit, 5 kitchens", owner="ana", amount=22_400, product="Sensor kit",
        contact="Rafael Tindley", path=(-21, -15, -8), closes=15,
        events=(meeting(-14, "ana", "Five kitchens, three of them with walk-in fridges."),
                mail(-8, "ana", "Sent the proposal; Rafael finds the fifth kitchen too dear."),
                plan(-5, "ana", "Send the revised price", 0, kind="mail")),
    ),
    Deal(
        company="Orvanto Foods", name="Audit pack, 3 plants", owner="tomas", amount=57_300, product="Audit pack",
        contact="Ingrid Falk", path=(-52, -40, -21), closes=9, tags=("audits",),
        events=(call(-50, "tomas", "Audit in spring, three plants, papers in folders today."),
                meeting(-38, "tomas", "Sorocaba plant: 60 measuring points, good people, no time."),
                mail(-21, "tomas", "Sent the proposal for the three plants."),
                note(-19, "tomas", "Ingrid forwarded it to somebody who signs; no name yet.")),
    ),
    # Negotiation
    Deal(
        company="Tavrelle Ice Cream", name="Service, 40 freezers", owner="ana", amount=92_000, product="Yearly service",
        contact="Helga Moss", path=(-74, -60, -41, -18), closes=6, decision="Helga alone",
        events=(meeting(-58, "ana", "40 freezers, half of them older than ten years."),
                mail(-41, "ana", "Sent the proposal: service for all, replacement of the worst six."),
                call(-18, "ana", "Wants the six replacements out of the price; needs a new offer."),
                plan(-18, "ana", "Send the new offer", -5, kind="mail")),
    ),
    Deal(
        company="Solvarra Restaurants", name="8 kitchens", owner="lia", amount=27_000, product="Sensor kit",
        contact="Otto Kremm", path=(-34, -26, -17, -4), closes=3, decision="Otto signs himself",
        events=(call(-33, "lia", "Eight kitchens, all with the same fridges; quick decision."),
                meeting(-24, "lia", "Two kitchens seen, the others are alike."),
                mail(-17, "lia", "Sent the proposal."),
                call(-4, "lia", "Agrees to the price; wants to pay in two parts."),
                plan(-4, "lia", "Sign the contract with Otto", 0, at="17:00", kind="meeting")),
    ),
    Deal(
        company="Larkhurst Cellars", name="Wine cellar, 3 rooms", owner="tomas", amount=16_800, product="Sensor kit",
        contact="Gustavo Lark", path=(-30, -22, -14, -5), closes=8,
        events=(call(-25, "tomas", "Humidity matters more than temperature."),
                mail(-14, "tomas", "Sent the proposal with humidity sensors."),
                plan(-5, "tomas", "Send the draft of the contract", 2, kind="mail")),
    ),
    # Won and lost
    Deal(
        company="Brunnholt Dairy", name="Audit pack", owner="tomas", amount=22_500, product="Audit pack",
        contact="Davi Holm", path=(-48, -39, -26, -12, -3), won=True,
        events=(meeting(-37, "tomas", "Two plants, one auditor."), mail(-26, "tomas", "Sent the proposal."),
                call(-3, "tomas", "Signed. Starts next month.")),
    ),
    Deal(
        company="Oskerly Butchers", name="Sensor kit", owner="lia", amount=11_200, product="Sensor kit",
        contact="Olga Skerly", path=(-22, -18, -12, -8, -1), won=True,
        events=(call(-21, "lia", "Three cold rooms, wants it before the holidays."),
                mail(-12, "lia", "Sent the proposal."), call(-1, "lia", "Signed on the phone, the paper follows.")),
    ),
    Deal(
        company="Penhallow Labs", name="Ultra-cold freezers", owner="ana", amount=34_000, product="Freezer sensors",
        contact="Luísa Penha", path=(-55, -45, -30, -6), lost="They chose another supplier",
        events=(call(-54, "ana", "Four freezers at -80 °C."), mail(-30, "ana", "Sent the proposal."),
                mail(-6, "ana", "Luísa writes that the university has a frame contract with Norvik.")),
    ),
    Deal(
        company="Quillmere Catering", name="Three vans", owner="lia", amount=12_600, product="Truck kit",
        path=(-40, -33, -14), lost="No budget this year",
        events=(call(-39, "lia", "Three vans, would like to try one first."),
                call(-14, "lia", "The budget went to a new oven. Ask again after the summer.")),
    ),
    # The other team
    Deal(
        company="Grimsund Seafood", name="Landing hall and two boats", owner="bruno", amount=118_000,
        product="Freezer sensors",
        contact="Jonas Grim", path=(-46, -33, -12), closes=30, decision="The cooperative votes",
        events=(meeting(-31, "bruno", "The hall is simple; the boats have no network for days."),
                mail(-12, "bruno", "Sent the proposal, boats as an option."),
                plan(-12, "bruno", "Call Jonas after the vote", 2, kind="call")),
    ),
    Deal(
        company="Araucária Blood Bank", name="Plasma freezers", owner="helena", amount=76_000,
        product="Freezer sensors",
        contact="Lúcia Prates", path=(-20, -13), closes=50, tags=("public tender",),
        events=(call(-19, "helena", "Public tender; the papers come in two weeks."),
                plan(-13, "helena", "Fetch the tender papers", -1)),
    ),
    Deal(
        company="Hollisand Markets", name="14 shops, dairy shelves", owner="helena", amount=51_800,
        product="Sensor kit",
        path=(-35, -26, -19, -11), closes=7,
        events=(meeting(-25, "helena", "One shop seen; they are all built alike."),
                mail(-19, "helena", "Sent the proposal.")),
    ),
    Deal(
        company="Wexmoor Breweries", name="Fermentation cellar", owner="bruno", amount=24_300, product="Sensor kit",
        path=(-2,), closes=42, events=(note(-2, "bruno", "The brewer has left; find out who decides now."),),
    ),
]  # fmt: skip
