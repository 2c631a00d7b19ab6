"""How the admin looks and what its sidebar holds. The same paper, ink and blue as the product's pages.

Names of links are looked up when a page is made, so that this file can be read before any app is loaded.
Next in the flow: `crm/admin/`, `agents/admin.py`, `conflicts/admin/`.
"""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _


def _shade(lightness: float, chroma: float, hue: float) -> str:
    return f"oklch({lightness}% {chroma} {hue})"


PAPER = dict(
    zip(
        ("50", "100", "200", "300", "400", "500", "600", "700", "800", "900", "950"),
        [
            _shade(98, 0.003, 85),
            _shade(96.4, 0.004, 85),
            _shade(91.8, 0.005, 85),
            _shade(86, 0.006, 85),
            _shade(70, 0.008, 80),
            _shade(51, 0.009, 75),
            _shade(42, 0.009, 75),
            _shade(34, 0.007, 75),
            _shade(27, 0.006, 75),
            _shade(20.2, 0.004, 75),
            _shade(17, 0.004, 75),
        ],
        strict=True,
    )
)
BLUE = dict(
    zip(
        PAPER,
        [
            _shade(96.2, 0.016, 264),
            _shade(93, 0.03, 264),
            _shade(86, 0.055, 264),
            _shade(79, 0.095, 264),
            _shade(70, 0.12, 264),
            _shade(60, 0.15, 264),
            _shade(45, 0.155, 264),
            _shade(39, 0.15, 264),
            _shade(33, 0.12, 264),
            _shade(28, 0.08, 264),
            _shade(24, 0.05, 264),
        ],
        strict=True,
    )
)


def _link(title: Any, icon: str, name: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{name}_changelist"), **more}


COUNT = "crm.admin.review_queue.waiting_count"


def administers(request: Any) -> bool:
    from crm.admin.scope import administers as may

    return may(request)


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Vigente",
    "SITE_HEADER": "Vigente",
    "SITE_SUBHEADER": _("Behind the scenes"),
    "SITE_URL": "/",
    "SITE_ICON": lambda request: static("icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("icon.svg")}],
    "STYLES": [lambda request: static("css/admin.css")],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "COLORS": {"base": PAPER, "primary": BLUE},
    "DASHBOARD_CALLBACK": "crm.admin.front.front_page",
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            {
                "items": [
                    {"title": _("Overview"), "icon": "home", "link": reverse_lazy("admin:index")},
                    _link(
                        _("Review queue"), "rule", "conflicts_conflict", badge="crm.admin.review_queue.waiting_count"
                    ),
                ]
            },
            {
                "title": _("Sales"),
                "separator": True,
                "items": [
                    _link(_("Deals"), "handshake", "crm_opportunity"),
                    _link(_("Companies"), "domain", "crm_company"),
                    _link(_("Contacts"), "contacts", "crm_contact"),
                    _link(_("Contracts"), "contract", "crm_contract"),
                    _link(_("Invoices"), "receipt_long", "crm_invoice"),
                    _link(_("Products"), "inventory_2", "crm_product"),
                    _link(_("Tickets"), "confirmation_number", "crm_ticket"),
                    _link(_("Stock"), "shelves", "crm_stockitem"),
                    _link(_("Access"), "key", "crm_accessrequest"),
                    _link(_("Pipelines"), "view_kanban", "crm_pipeline"),
                ],
            },
            {
                "title": _("Inbox"),
                "separator": True,
                "items": [
                    _link(_("Conversations"), "forum", "crm_conversation"),
                    _link(_("Agent's turns"), "edit_note", "agents_turn"),
                    _link(_("Channels"), "dialpad", "crm_channelaccount"),
                    _link(_("Templates"), "article", "crm_messagetemplate"),
                ],
            },
            {
                "title": _("Agents"),
                "separator": True,
                "items": [
                    _link(_("Suggestions"), "lightbulb", "agents_recommendation"),
                    _link(_("Left alone, and why"), "do_not_touch", "agents_verdict"),
                    _link(_("Sweeps"), "radar", "agents_sweeprun"),
                    _link(_("How far they may go"), "tune", "agents_autonomypolicy", permission=administers),
                ],
            },
            {
                "title": _("Work that waits"),
                "separator": True,
                "items": [
                    _link(_("Jobs"), "pending_actions", "conflicts_job"),
                    _link(_("Outbox"), "outbox", "conflicts_outboxmessage"),
                    _link(_("Leases"), "lock_clock", "conflicts_lease"),
                    _link(_("Job events"), "help_center", "conflicts_jobevent", permission=administers),
                    _link(_("Lease events"), "lock_reset", "conflicts_leaseevent", permission=administers),
                ],
            },
            {
                "title": _("Workspace"),
                "separator": True,
                "items": [
                    _link(_("People"), "group", "crm_user", permission=administers),
                    _link(_("Teams"), "groups", "crm_team", permission=administers),
                    _link(_("Authority levels"), "gavel", "conflicts_authoritylevel"),
                    _link(_("Decisions"), "checklist", "conflicts_decision"),
                    _link(_("Ledger"), "receipt_long", "conflicts_ledgerentry"),
                    {"title": _("Rules for changes"), "icon": "merge", "link": reverse_lazy("policies")},
                ],
            },
        ],
    },
}
