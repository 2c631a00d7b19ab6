"""Stock: the list, a new item, and the record with what is promised of it, to whom and until when.

Guarantees that a promise is made on the version that was shown, that a deal is named only to those who may see it, and
that of those who want the last units whoever was too late is told by whom. Next in the flow: `crm/actions/stock.py`.
"""

import datetime as dt
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from conflicts.outcomes import Outcome
from crm import desk, inputs, lists, naming
from crm.clock import today_for
from crm.models import Contract, Opportunity, Reservation, StockItem, User
from crm.models.stock import ReservationState
from crm.timeline import Line
from crm.views import papers, records
from crm.views.records_history import told_by
from crm.views.submit import fresh_key, submit

NEW = ("name", "sku", "product", "location", "unit", "on_hand", "note", "tags")
ENDED = 10
NAMES = 100
HOLD = dt.timedelta(days=14)
"""How long a promise is suggested for."""


@require_GET
def stock(request: HttpRequest) -> HttpResponse:
    filters = desk.Filters.read(request.GET, states=desk.STOCK_STATES)
    page = lists.page(desk.stock(filters), sort="", after=request.GET.get("after", ""))
    context = {"page": page, "filters": filters, "states": desk.STOCK_STATES}
    context["for_deal"] = records.number(request, "deal")  # from whose page one came, to reserve
    return papers.answer_list(request, "desk/stock.html", context)


# ------------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> StockItem:
    found = StockItem.objects.select_related("product").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


@require_safe
def stock_item(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, find(pk))


@require_safe
def stock_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, find(pk))


@require_POST
def stock_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, find(pk))


def _around(request: HttpRequest, item: StockItem) -> dict[str, Any]:
    user: User = request.user  # type: ignore[assignment]
    rows = item.reservations.select_related("opportunity", "contract")
    held = list(rows.filter(state=ReservationState.HELD).order_by("until", "pk")[:200])
    ended = list(rows.exclude(state=ReservationState.HELD).order_by("-ended_at")[:ENDED])
    seen = set(
        Opportunity.objects.visible_to(user)
        .filter(pk__in=[row.opportunity_id for row in (*held, *ended) if row.opportunity_id])
        .values_list("pk", flat=True)
    )
    for row in (*held, *ended):
        row.shows_deal = row.opportunity_id in seen  # type: ignore[attr-defined]
    deals = Opportunity.objects.visible_to(user).open()
    return {
        "item": item,
        "held": held,
        "ended": ended,
        "deals": list(deals.filter(owner=user).order_by("-changed_at").values_list("name", flat=True)[:NAMES]),
        "for_name": _for_name(request, user),
        "until": today_for(user, now=timezone.now()) + HOLD,
        "back": papers.Returned(),
    }


def _for_name(request: HttpRequest, user: User) -> str:
    """The deal from whose page one came."""
    pk = records.number(request, "deal")
    found = Opportunity.objects.visible_to(user).filter(pk=pk).first() if pk else None
    return found.name if found else ""


KIND = records.Kind(
    template="desk/stock_item.html",
    action="stock.edit",
    facts={
        "name": ("name",),
        "sku": ("sku",),
        "product": ("product",),
        "location": ("location",),
        "unit": ("unit",),
        "tags": ("tags",),
        "note": ("note",),
    },
    find=find,
    context=_around,
    address=lambda item: reverse("stock_item", args=[item.pk]),
)


# ----------------------------------------------------------------------------------------------------- what is done


def _count(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"on_hand": _units(request, "on_hand", faults, least=0)}


def _reserve(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {
        "quantity": _units(request, "quantity", faults, least=1),
        "until": end_of_day(request, "until", faults),
        "note": papers.line(request, "note", faults),
        **_for_what(request, faults),
    }


def _for_what(request: HttpRequest, faults: papers.Faults) -> dict[str, Any]:
    """The deal or the contract of the typed name that the person may see; a deal goes first."""
    user: User = request.user  # type: ignore[assignment]
    text = papers.line(request, "what", faults, needed=_("Say what it is for: a deal or a contract."))
    if not text:
        return {}
    deals = Opportunity.objects.visible_to(user).filter(name__iexact=text)
    contracts = Contract.objects.visible_to(user).filter(name_key=naming.key(text))
    for name, rows in (("opportunity", deals.open()), ("contract", contracts)):
        keys = list(rows.values_list("pk", flat=True)[:2])
        if len(keys) > 1:
            faults["what"] = [_("More than one is called “%(name)s”. Reserve from its own page.") % {"name": text[:60]}]
            return {}
        if keys:
            return {name: keys[0]}
    faults["what"] = [_("No open deal and no contract is called “%(name)s”.") % {"name": text[:60]}]
    return {}


def _units(request: HttpRequest, name: str, faults: papers.Faults, *, least: int) -> int:
    number = papers.whole(request, name)
    if number is None or number < least or number > 2_147_483_647:
        words = ngettext("A whole number, at least %(n)d.", "A whole number, at least %(n)d.", least)
        faults[name] = [words % {"n": least}]
        return least
    return number


def end_of_day(request: HttpRequest, name: str, faults: papers.Faults) -> dt.datetime | None:
    """The end of the day that was typed, where the person is."""
    try:
        day = dt.date.fromisoformat(request.POST.get(name, "").strip())
    except ValueError:
        faults[name] = [_("Choose the day.")]
        return None
    if not 1900 <= day.year <= 2200:
        faults[name] = [_("The year %(year)d is too far away.") % {"year": day.year}]
        return None
    return timezone.make_aware(dt.datetime.combine(day, dt.time(23, 59)))


def _one(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    number = papers.whole(request, "reservation")
    if number is None:
        raise Http404
    return {"reservation": number}


def _extend(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {**_one(request, subject, faults), "until": end_of_day(request, "until", faults)}


ACTS = {
    "count": papers.Act(action="stock.count", said=gettext_lazy("Counted."), read=_count),
    "reserve": papers.Act(action="stock.reserve", said=gettext_lazy("Reserved."), read=_reserve),
    "hand-out": papers.Act(action="stock.consume", said=gettext_lazy("Handed out."), read=_one),
    "give-back": papers.Act(action="stock.release", said=gettext_lazy("Given back."), read=_one),
    "hold-longer": papers.Act(action="stock.extend", said=gettext_lazy("Held longer."), read=_extend),
}


@require_POST
def stock_act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    if verb not in ACTS:
        raise Http404
    return papers.act(request, KIND, find(pk), verb, ACTS[verb])


# ------------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def stock_new(request: HttpRequest) -> HttpResponse:
    blank = StockItem(name=request.GET.get("name", "")[:200])
    if request.method == "GET":
        return _form(request, blank)
    params, faults = inputs.read(request.POST, [name for name in NEW if name != "on_hand"], model=StockItem)
    params["on_hand"] = _units(request, "on_hand", faults, least=0) if request.POST.get("on_hand") else 0
    if faults:
        return _form(request, blank, faults=faults, status=422)
    given = {name: value for name, value in params.items() if value not in (None, "", [])}
    submission = submit(request, action="stock.create", params=given)
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(name)s is added.") % {"name": params["name"]})
        return redirect("stock_item", outcome.settled.subject.pk)
    return _form(request, blank, refused=outcome, status=422)


def _form(
    request: HttpRequest,
    blank: StockItem,
    *,
    faults: records.Faults | None = None,
    refused: Outcome | None = None,
    status: int = 200,
) -> HttpResponse:
    typed = {name: request.POST[name] for name in NEW if name in request.POST}
    context = {
        "fields": inputs.build(blank, NEW, typed=typed, faults=faults),
        "faults": faults or {},
        "refused": str(refused.settled.sentence or "") if refused else "",
        # A key that was refused has its answer; another try is another act.
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "desk/stock_new.html", context, status=status)


# ------------------------------------------------------------------------------------------------ told in its story


def _reservation_told(row: Any) -> Line:
    """Without the deal: the story is read by all who see the item."""
    facts = {"n": row.quantity, "day": papers.weekday(timezone.localtime(row.until).date())}
    match (row.pgh_label, row.state):
        case ("insert", _state):
            words = ngettext("reserved %(n)d unit, until %(day)s", "reserved %(n)d units, until %(day)s", row.quantity)
        case (_label, ReservationState.CONSUMED):
            words = ngettext("handed %(n)d reserved unit out", "handed %(n)d reserved units out", row.quantity)
        case (_label, ReservationState.RELEASED):
            words = ngettext("gave %(n)d reserved unit back", "gave %(n)d reserved units back", row.quantity)
        case (_label, ReservationState.EXPIRED):
            words = ngettext(
                "ended the reservation of %(n)d unit: its time was over",
                "ended the reservation of %(n)d units: its time was over",
                row.quantity,
            )
        case _:
            words = ngettext(
                "holds %(n)d unit longer, until %(day)s", "holds %(n)d units longer, until %(day)s", row.quantity
            )
    return Line(words=words % facts, said=row.note, aspect=Reservation.aspect)


told_by(Reservation, _reservation_told)
