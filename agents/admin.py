"""The agents in the admin: what they proposed, what they left alone and why (read), how far they may go (kept)."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminSelectWidget

from agents.models import Approval, AutonomyPolicy, Recommendation, SweepRun, Turn, Verdict
from conflicts import actions
from conflicts.actors import Actor
from conflicts.admin import evidence
from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from conflicts.admin.seen import SeenForm
from conflicts.admin.words import label
from conflicts.exceptions import UnknownAction
from conflicts.sentences import Sentence
from crm.admin.people import KeptByAdministrators
from crm.models import Conversation, Opportunity, User

TONES = {
    "proposed": "info",
    "approved": "info",
    "applied": "success",
    "superseded": "warning",
    "declined": "",
    "snoozed": "",
    "expired": "",
    "failed": "danger",
}


TURNS = {"running": "info", "queued": "success", "superseded": "warning", "handed_over": "", "failed": "danger"}


def words_for(action: str) -> str:
    try:
        return str(actions.get(action).words)
    except UnknownAction:
        return action


def of_my_deals(found: Any, request: HttpRequest) -> Any:
    user = request.user
    if not isinstance(user, User):
        return found.none()
    return found if user.sees_everything else found.filter(opportunity__in=Opportunity.objects.visible_to(user))


class ApprovalInline(ReadOnlyInline):
    """Each yes: to what, by whom, for how long, and whether it was used."""

    model = Approval
    readonly_fields = ("person", "shown_state", "read_words", "given_at", "expires_at", "settled_at", "reason_void")
    fields = readonly_fields
    ordering = ("-id",)

    @display(description=_("given by"))
    def person(self, obj: Approval) -> str:
        return obj.giver.shown

    @display(description=_("state"), label={"given": "info", "used": "success", "void": "warning"})
    def shown_state(self, obj: Approval) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("what was read"))
    def read_words(self, obj: Approval) -> str:
        return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in obj.shown.get("lines", ())))

    @display(description=_("why it is void"))
    def reason_void(self, obj: Approval) -> str:
        return str(obj.void_because or "–")


@admin.register(Recommendation)
class RecommendationAdmin(ReadOnlyAdmin):
    list_display = ("what", "opportunity", "shown_state", "rule", "agent_name", "version_read", "created_at")
    list_select_related = ("opportunity",)
    list_filter = ("state", "rule")
    search_fields = ("opportunity__name",)
    ordering = ("-id",)
    inlines = (ApprovalInline,)
    readonly_fields = ("what", "reasons", "agent_name", "rests_on", "would_do", "decider", "overtaker")
    fieldsets = (
        (None, {"fields": ("what", "reasons", ("opportunity", "state"), ("agent_name", "rule", "priority"))}),
        (_("What it rests on"), {"fields": ("rests_on", ("version_read", "read_at"))}),
        (_("What it would do"), {"fields": ("would_do", "revision")}),
        (
            _("What became of it"),
            {
                "fields": (
                    ("created_at", "expires_at", "snoozed_until"),
                    ("decider", "decided_at", "decline_reason"),
                    ("overtaker", "overtaken_version"),
                    "conflict",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return of_my_deals(super().get_queryset(request), request)

    @display(description=_("what"))
    def what(self, obj: Recommendation) -> str:
        return str(obj.headline)

    @display(description=_("why"))
    def reasons(self, obj: Recommendation) -> str:
        return str(obj.reason)

    @display(description=_("state"), ordering="state", label=TONES)
    def shown_state(self, obj: Recommendation) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("agent"))
    def agent_name(self, obj: Recommendation) -> str:
        return Actor.parse(obj.agent).shown

    @display(description=_("read"))
    def rests_on(self, obj: Recommendation) -> str:
        """Each record with the version that was read, and what of it the suggestion rests on."""
        lines = []
        for read in obj.reads:
            model = read.subject.model
            said = [f"{what}: {value}" for what, value in evidence.described(model, read.values)]
            said += [label(model, aspect) for aspect in sorted(read.aspects)]
            lines.append((f"{model._meta.verbose_name} v{read.version}", ", ".join(said)))
        return format_html_join(mark_safe("<br>"), "<b>{}</b> {}", lines)

    @display(description=_("action"))
    def would_do(self, obj: Recommendation) -> str:
        said = ", ".join(f"{what}: {value}" for what, value in evidence.described(Opportunity, obj.params))
        return format_html("<b>{}</b> {}", words_for(obj.action), said)

    @display(description=_("decided by"))
    def decider(self, obj: Recommendation) -> str:
        return Actor.parse(obj.decided_by).shown if obj.decided_by else "–"

    @display(description=_("overtaken by"))
    def overtaker(self, obj: Recommendation) -> str:
        return Actor.parse(obj.overtaken_by).shown if obj.overtaken_by else "–"


@admin.register(SweepRun)
class SweepRunAdmin(ReadOnlyAdmin):
    list_display = ("started_at", "finished_at", "looked_at", "proposed", "acted")
    ordering = ("-id",)


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ("opportunity", "why_words", "code", "version_read", "review_on", "judged_at")
    list_select_related = ("opportunity",)
    list_filter = ("code",)
    search_fields = ("opportunity__name",)
    ordering = ("-judged_at",)
    fields = ("opportunity", "why_words", "code", "version_read", "review_on", "judged_at")
    readonly_fields = ("why_words",)

    def get_queryset(self, request: HttpRequest) -> Any:
        return of_my_deals(super().get_queryset(request), request)

    @display(description=_("why"))
    def why_words(self, obj: Verdict) -> str:
        return str(Sentence.from_json(obj.why))


def choices() -> list[tuple[str, Any]]:
    """What may be chosen: the actions that change something which is there."""
    found = [(name, action.words) for name, action in actions.registered().items() if not action.creates]
    return sorted(found, key=lambda choice: str(choice[1]))


class PolicyForm(SeenForm):
    """A policy for an action that is not registered would wait for ever, so there is only a choice."""

    action = forms.ChoiceField(label=_("action"), choices=choices, widget=UnfoldAdminSelectWidget)


@admin.register(AutonomyPolicy)
class AutonomyPolicyAdmin(KeptByAdministrators, ModelAdmin):
    form = PolicyForm
    actions = None
    list_display = ("words", "action", "mode", "amount_limit")
    fields = ("seen", "action", "mode", "amount_limit")

    @display(description=_("what"))
    def words(self, obj: AutonomyPolicy) -> str:
        return words_for(obj.action)


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    """Each attempt to answer a customer: what it had read, what it wrote, what became of it."""

    list_display = ("conversation", "shown_state", "told", "counter", "responder", "calls", "started_at", "ended_at")
    list_select_related = ("conversation",)
    list_filter = ("state", "responder")
    ordering = ("-id",)
    readonly_fields = ("told",)
    fields = (
        ("conversation", "state"),
        "text",
        "told",
        ("counter", "answered", "epoch", "fence", "final"),
        ("responder", "calls", "facts"),
        ("started_at", "ended_at", "record"),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        found, user = super().get_queryset(request), request.user
        if not isinstance(user, User):
            return found.none()
        seen = Conversation.objects.visible_to(user)
        return found if user.sees_everything else found.filter(conversation__in=seen)

    @display(description=_("state"), ordering="state", label=TURNS)
    def shown_state(self, obj: Turn) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("why"))
    def told(self, obj: Turn) -> str:
        return str(obj.why or "")
