"""Tickets, stock items and access requests for tests, built through the gate as the product does it."""

import datetime as dt
from typing import Any

from django.utils import timezone

from conflicts.outcomes import Outcome
from crm.models import AccessRequest, Company, Reservation, StockItem, Ticket, User
from tests import cast

PAST = dt.timedelta(days=-1)


def company(name: str = "Cold Chain Ltd") -> Company:
    found = Company.objects.filter(name=name).first()
    if found:
        return found
    outcome = cast.propose("company.create", by=cast.alice(), name=name)
    return Company.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def ticket(name: str = "The door sensor is silent", **params: Any) -> Ticket:
    params = {"company": company().pk, "team": cast.team().pk, **params}
    outcome = cast.propose("ticket.create", by=cast.alice(), name=name, **params)
    assert outcome.written, outcome
    return Ticket.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def item(name: str = "Door sensor", *, on_hand: int = 3, **params: Any) -> StockItem:
    outcome = cast.propose("stock.create", by=cast.alice(), name=name, on_hand=on_hand, **params)
    assert outcome.written, outcome
    return StockItem.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def soon(days: float = 7) -> dt.datetime:
    return timezone.now() + dt.timedelta(days=days)


def reserve(of: StockItem, quantity: int = 1, *, by: Any = None, **params: Any) -> Reservation:
    """Units of the item, promised to a deal of Alice's; the item in memory is brought up to date."""
    if "opportunity" not in params and "contract" not in params:
        params["opportunity"] = cast.deal(f"Deal for {quantity}").pk
    outcome = cast.propose("stock.reserve", of, by=by or cast.alice(), quantity=quantity, **{"until": soon(), **params})
    assert outcome.written, outcome
    of.refresh_from_db()
    return Reservation.objects.get(pk=outcome.created["crm.reservation"])


def ask(by: User | None = None, **params: Any) -> AccessRequest:
    """Charlie of the South asks to see the deals of the North."""
    wanted = {
        "kind": "team",
        "team": cast.team().pk,
        "reason": "Covers for Bob in July",
        "wanted_until": timezone.now().date() + dt.timedelta(days=30),
        **params,
    }
    outcome = cast.propose("access.ask", by=by or cast.charlie(), **wanted)
    assert outcome.written, outcome
    return AccessRequest.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def grant(request: AccessRequest, *, by: User | None = None, **params: Any) -> Outcome:
    """A yes to the request as it is in memory."""
    wanted = {"fingerprint": request.fingerprint, "expires_at": soon(30), **params}
    return cast.propose("access.grant", request, by=by or cast.manager(), **wanted)
