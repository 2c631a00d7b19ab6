"""The doors to tickets, stock and access; `tests/doors.py` takes them into its table."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from conflicts import actors, guard
from conflicts.models import VersionedModel
from crm.models import AccessRequest, Reservation, StockItem, Ticket, TicketNote
from tests import cast, governed
from tests.doors import ADDS, Deed, Door, Values, World

TOLD = frozenset({422})
"""The page comes back and says by whom it was settled."""


def build(w: World) -> None:
    """A free ticket, an item with one unit promised, and a request of Alice's for the South."""
    w.ticket = governed.ticket("The door sensor is silent", company=w.company.pk)
    w.item = governed.item("Door sensor", on_hand=3)
    w.reservation = governed.reserve(w.item, 1)
    w.asked = governed.ask(by=w.alice, team=cast.team("South").pk)


def of(name: str) -> Callable[[World], Values]:
    return lambda w: {"pk": getattr(w, name).pk}


def act(name: str, verb: str) -> Callable[[World], Values]:
    return lambda w: {"pk": getattr(w, name).pk, "verb": verb}


def raised(subject: VersionedModel, **values: Any) -> None:
    """The record at its next version, with what no action writes by itself."""
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        now = type(subject)._base_manager.get(pk=subject.pk)
        for name, value in values.items():
            setattr(now, name, value)
        now.save()


def bob_takes(w: World) -> Any:
    return w.before("ticket.claim", "ticket")


def bob_closes(w: World) -> Any:
    return w.before("ticket.move", "ticket", state="closed", resolution="New battery")


def bob_gives_back(w: World) -> Any:
    return w.before("stock.release", "item", reservation=w.reservation.pk)


def bob_takes_the_rest(w: World) -> Any:
    return w.before("stock.reserve", "item", quantity=2, opportunity=w.deal.pk, until=governed.soon())


def alice_thinks_again(w: World) -> Any:
    return w.before("access.edit", "asked", by=w.alice, reason="Only the two large deals")


def alice_withdraws(w: World) -> Any:
    return w.before("access.withdraw", "asked", by=w.alice)


def granted(w: World) -> None:
    assert governed.grant(w.fresh("asked"), by=cast.administrator()).written


def over(w: World) -> None:
    """Its time has passed."""
    granted(w)
    raised(w.asked, expires_at=timezone.now() - dt.timedelta(seconds=1))


def run_out(w: World) -> None:
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        item = StockItem.objects.get(pk=w.item.pk)
        item.save()
        Reservation.objects.filter(pk=w.reservation.pk).update(until=timezone.now() - dt.timedelta(seconds=1))


def taken_back(w: World) -> Any:
    return w.before("access.revoke", "asked", by=cast.administrator(), note="Over")


def is_bobs(w: World) -> bool:
    return bool(w.fresh("ticket").claimed_by == w.bob)


def closed_by_bob(w: World) -> bool:
    return bool(w.fresh("ticket").resolution == "New battery")


def back_by_bob(w: World) -> bool:
    return bool(w.fresh("reservation").state == "released" and w.fresh("reservation").author.name == "Bob Borges")


def all_promised(w: World) -> bool:
    return bool(w.fresh("item").held == 3)


def note(text: str) -> Callable[[World], bool]:
    return lambda w: TicketNote.objects.filter(ticket=w.ticket, text=text).count() == 1


DOORS: dict[str, tuple[Door, ...]] = {
    "ticket_edit": (
        Door(
            subject="ticket",
            url=of("ticket"),
            sent=lambda w: {"fact": "name", "name": "Sensor 9 is silent"},
            done=lambda w: w.fresh("ticket").name == "Sensor 9 is silent",
            clash=lambda w: w.before("ticket.edit", "ticket", name="Room 9"),
            kept=lambda w: w.fresh("ticket").name == "Room 9",
        ),
    ),
    "ticket_act": (
        Door(
            subject="ticket",
            url=act("ticket", "take"),
            sent=lambda w: {},
            done=lambda w: w.fresh("ticket").claimed_by == w.alice,
            clash=bob_takes,
            kept=is_bobs,
            stale=TOLD,
        ),
        Door(
            subject="ticket",
            url=act("ticket", "move"),
            sent=lambda w: {"state": "closed", "resolution": "Replaced"},
            done=lambda w: w.fresh("ticket").resolution == "Replaced",
            clash=bob_closes,
            kept=closed_by_bob,
            stale=ADDS,  # closed is closed; the page says who was first
        ),
        Door(
            subject="ticket",
            url=act("ticket", "move"),
            sent=lambda w: {"state": "waiting"},
            done=lambda w: w.fresh("ticket").state == "waiting",
            clash=bob_takes,
            kept=is_bobs,
        ),
        Door(
            subject="ticket",
            url=act("ticket", "assign"),
            sent=lambda w: {"assignee": cast.manager().pk},
            done=lambda w: w.fresh("ticket").assignee == cast.manager(),
            clash=lambda w: w.before("ticket.assign", "ticket", assignee=w.bob.pk),
            kept=lambda w: w.fresh("ticket").assignee == w.bob,
        ),
        Door(
            subject="ticket",
            url=act("ticket", "note"),
            sent=lambda w: {"text": "Called them"},
            done=note("Called them"),
            clash=lambda w: w.before("ticket.note", "ticket", text="Bob was here"),
            kept=note("Bob was here"),
            stale=ADDS,
        ),
    ),
    "stock_edit": (
        Door(
            subject="item",
            url=of("item"),
            sent=lambda w: {"fact": "location", "location": "A 3"},
            done=lambda w: w.fresh("item").location == "A 3",
            clash=lambda w: w.before("stock.edit", "item", location="B 7"),
            kept=lambda w: w.fresh("item").location == "B 7",
        ),
    ),
    "stock_act": (
        Door(
            subject="item",
            url=act("item", "reserve"),
            sent=lambda w: {"quantity": "2", "what": w.deal.name, "until": governed.soon().date().isoformat()},
            done=all_promised,
            clash=bob_takes_the_rest,
            kept=all_promised,
            stale=TOLD,
        ),
        Door(
            subject="item",
            url=act("item", "count"),
            sent=lambda w: {"on_hand": "2"},
            done=lambda w: w.fresh("item").on_hand == 2,
            clash=bob_takes_the_rest,
            kept=all_promised,
            stale=TOLD,
        ),
        Door(
            subject="item",
            url=act("item", "hand-out"),
            sent=lambda w: {"reservation": w.reservation.pk},
            done=lambda w: w.fresh("item").on_hand == 2,
            clash=bob_gives_back,
            kept=back_by_bob,
            stale=TOLD,
        ),
        Door(
            subject="item",
            url=act("item", "hold-longer"),
            sent=lambda w: {"reservation": w.reservation.pk, "until": governed.soon(20).date().isoformat()},
            done=lambda w: w.fresh("reservation").until > governed.soon(19),
            clash=lambda w: w.before("stock.extend", "item", reservation=w.reservation.pk, until=governed.soon(9)),
            kept=lambda w: governed.soon(8) < w.fresh("reservation").until < governed.soon(10),
        ),
    ),
    "access_edit": (
        Door(
            subject="asked",
            url=of("asked"),
            sent=lambda w: {"fact": "reason", "reason": "Covers for Charlie"},
            done=lambda w: w.fresh("asked").reason == "Covers for Charlie",
            clash=alice_thinks_again,
            kept=lambda w: w.fresh("asked").reason == "Only the two large deals",
        ),
    ),
    "access_act": (
        Door(
            subject="asked",
            url=act("asked", "withdraw"),
            sent=lambda w: {},
            done=lambda w: w.fresh("asked").state == "withdrawn",
            clash=lambda w: granted(w),
            kept=lambda w: w.fresh("asked").state == "granted",
            stale=TOLD,
        ),
    ),
}

CREATES: dict[str, tuple[Any, Callable[[World], Values]]] = {
    "ticket_new": (
        Ticket,
        lambda w: {"name": "Another ticket", "company": w.company.name, "priority": 2, "team": cast.team().pk},
    ),
    "stock_new": (StockItem, lambda w: {"name": "Gateway", "on_hand": "4"}),
    "access_new": (
        AccessRequest,
        lambda w: {
            "kind": "company",
            "company": w.company.name,
            "reason": "The whole account",
            "wanted_until": governed.soon().date().isoformat(),
        },
    ),
}


def one(w: World) -> Values:
    return {"reservation": w.reservation.pk}


def shown(w: World) -> Values:
    return {"fingerprint": w.asked.fingerprint}


DEEDS: dict[str, Deed] = {
    "ticket.edit": Deed(
        subject="ticket",
        params=lambda w: {"name": "Sensor 9"},
        clash=lambda w: w.before("ticket.edit", "ticket", name="Room 9"),
    ),
    "ticket.assign": Deed(
        subject="ticket",
        params=lambda w: {"assignee": cast.manager().pk},
        clash=lambda w: w.before("ticket.assign", "ticket", assignee=w.bob.pk),
    ),
    "ticket.move": Deed(subject="ticket", params=lambda w: {"state": "waiting"}, clash=bob_closes),
    "ticket.claim": Deed(subject="ticket", params=lambda w: {}, clash=bob_takes),
    "ticket.take_next": Deed(subject="ticket", params=lambda w: {}, clash=bob_takes),
    "ticket.release": Deed(
        subject="ticket",
        prepare=lambda w: w.before("ticket.claim", "ticket", by=w.alice),
        params=lambda w: {},
        clash=lambda w: w.before("ticket.release", "ticket", by=cast.manager()),
    ),
    "ticket.reopen": Deed(
        subject="ticket",
        prepare=bob_closes,
        params=lambda w: {},
        clash=lambda w: w.before("ticket.reopen", "ticket"),
    ),
    "ticket.note": Deed(
        subject="ticket",
        params=lambda w: {"text": "Nobody has called"},
        clash=lambda w: w.before("ticket.note", "ticket", text="I have"),
        rests_on=(TicketNote.aspect,),
    ),
    "stock.edit": Deed(
        subject="item",
        params=lambda w: {"location": "A 3"},
        clash=lambda w: w.before("stock.edit", "item", location="B 7"),
    ),
    "stock.count": Deed(subject="item", params=lambda w: {"on_hand": 2}, clash=bob_takes_the_rest),
    "stock.reserve": Deed(
        subject="item",
        params=lambda w: {"quantity": 2, "opportunity": w.deal.pk, "until": governed.soon()},
        clash=bob_takes_the_rest,
    ),
    "stock.extend": Deed(
        subject="item",
        params=lambda w: {**one(w), "until": governed.soon(20)},
        clash=lambda w: w.before("stock.extend", "item", reservation=w.reservation.pk, until=governed.soon(9)),
    ),
    "stock.release": Deed(subject="item", params=one, clash=bob_gives_back),
    "stock.consume": Deed(subject="item", params=one, clash=bob_gives_back),
    "stock.expire": Deed(subject="item", prepare=run_out, params=lambda w: {}, clash=bob_gives_back),
    "access.edit": Deed(subject="asked", params=lambda w: {"reason": "Covers for Charlie"}, clash=alice_thinks_again),
    "access.withdraw": Deed(subject="asked", params=lambda w: {}, clash=lambda w: granted(w)),
    "access.grant": Deed(
        subject="asked",
        by=cast.administrator,
        params=lambda w: {**shown(w), "expires_at": governed.soon()},
        clash=alice_thinks_again,
    ),
    "access.decline": Deed(
        subject="asked",
        by=cast.administrator,
        params=lambda w: {**shown(w), "note": "Not now"},
        clash=alice_withdraws,
    ),
    "access.revoke": Deed(subject="asked", prepare=granted, params=lambda w: {"note": "Over"}, clash=taken_back),
    "access.expire": Deed(subject="asked", prepare=over, params=lambda w: {}, clash=taken_back),
    "opportunity.reassign_task": Deed(
        subject="deal",
        params=lambda w: {"task": w.task.pk, "owner": w.bob.pk},
        clash=lambda w: w.before("opportunity.complete_task", "deal", task=w.task.pk),
    ),
}


def elsewhere(w: World, name: str) -> bool:
    """Something of the record moves that no action here rests on. False: it is none of these records."""
    if name not in ("ticket", "item", "asked"):
        return False
    raised(getattr(w, name), **({"decision_note": "moved"} if name == "asked" else {"tags": ["moved"]}))
    return True
