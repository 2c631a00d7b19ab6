"""Who else takes part in a deal: added by name, taken out by the row. Next in the flow: `crm/views/deal_work.py`."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crm import inputs
from crm.models import Opportunity
from crm.views.deal import find
from crm.views.deal_work import put
from crm.views.submit import version_of


@require_POST
def people(request: HttpRequest, pk: int) -> HttpResponse:
    """Take out `participant`, else add `contact`, in a `role`."""
    deal = find(request, pk)
    version_of(request)
    row = request.POST.get("participant", "")
    if row:
        number = int(row) if row.isascii() and row.isdigit() and len(row) < 19 else 0
        faults = {} if number else {"participant": [_("Choose one.")]}
        action, chosen, said = "opportunity.remove_participant", {"participant": number}, _("Taken out.")
        return put(request, deal, action, chosen, faults, form="people", part="add_participant", said=said)
    typed: dict[str, Any]
    typed, faults = inputs.read(request.POST, ["contact"], model=Opportunity, subject=deal)
    if not request.POST.get("contact", "").strip():
        faults = {"contact": [_("Say who takes part.")]}
    role = request.POST.get("role", "").strip()
    if len(role) > 120:
        faults["role"] = [_("At most %(n)d letters; this has %(has)d.") % {"n": 120, "has": len(role)}]
    params = {"contact": typed.get("contact"), "role": role}
    action, said = "opportunity.add_participant", _("Added.")
    return put(request, deal, action, params, faults, form="people", part="add_participant", said=said)
