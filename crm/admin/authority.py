"""Authority levels and decisions in the admin: how far each role may decide, kept by administrators; what was decided.

Guarantees that a level is changed through the gate, on the version its page showed: of two administrators the second
is told what the first has set, with all typed still there. Next in the flow: `crm/actions/authority.py`.
"""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from conflicts import actors, gate
from conflicts.admin.columns import display
from conflicts.admin.subjects import SubjectAdmin
from conflicts.exceptions import BadParams
from conflicts.models import AuthorityLevel, Decision
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm import inputs
from crm.admin.money import money
from crm.admin.scope import administers
from crm.authority import Limit, levels
from crm.models import User
from crm.models.user import Role
from crm.views.submit import fresh_key

FIELDS = ("amount", "currency", "discount", "legal", "note")


@admin.register(AuthorityLevel)
class AuthorityLevelAdmin(SubjectAdmin):
    list_display = ("role", "amount", "currency", "discount", "legal", "version_mark")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.set_view)
        return [path("<str:role>/set/", view, name="conflicts_authoritylevel_set"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Every role with its level, whether somebody has set it yet or not."""
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
        rows = {row.role: row for row in AuthorityLevel.objects.all()}
        shown = [
            {"role": role, "label": role.label, "level": rows.get(role), **_words(limit)}
            for role, limit in ((role, levels()[role]) for role in Role)
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": _("Authority levels"),
            "opts": self.opts,
            "rows": shown,
            "may_set": administers(request),
        }
        return TemplateResponse(request, "admin/vigente/authority.html", context)

    def set_view(self, request: HttpRequest, role: str) -> HttpResponse:
        if role not in Role.values:
            raise Http404
        if not administers(request):
            raise PermissionDenied
        level = AuthorityLevel.objects.filter(role=role).first()
        if request.method != "POST":
            return self._form(request, role, level)
        typed = {name: request.POST.get(name, "") for name in FIELDS}
        params, faults = inputs.read({**typed, "legal": typed["legal"] or "0"}, FIELDS, model=AuthorityLevel)
        if faults:
            return self._form(request, role, level, typed=typed, faults=faults, status=422)
        version = request.POST.get("version", "")
        if level is not None and not (version.isascii() and version.isdigit() and 0 < len(version) < 10):
            return self._form(
                request, role, level, typed=typed, stood=_t("Somebody has set this level meanwhile."), status=428
            )
        wish = Proposal(
            action="authority.edit" if level else "authority.create",
            by=actors.person(request.user),
            params=params if level else {**params, "role": role},
            basis=(Read(subject=Ref.of(level), version=int(version)),) if level else (),
            key=f"person:{request.user.pk}:{request.POST.get('key', '')[:100]}" if request.POST.get("key") else "",
            source=request.path[:200],
        )
        try:
            outcome = gate.commit(wish)
        except BadParams as bad:
            return self._form(request, role, level, typed=typed, faults=bad.errors, status=422)
        if not outcome.done:
            fresh = AuthorityLevel.objects.filter(role=role).first()
            stood = str(outcome.sentence or "")
            status = 403 if outcome.result is Result.REFUSED else 409
            return self._form(request, role, fresh, typed=typed, stood=stood, status=status)
        messages.success(request, _t("The level is set."))
        return HttpResponseRedirect(reverse("admin:conflicts_authoritylevel_changelist"))

    def _form(
        self,
        request: HttpRequest,
        role: str,
        level: AuthorityLevel | None,
        *,
        typed: dict[str, str] | None = None,
        faults: dict[str, list[str]] | None = None,
        stood: str = "",
        status: int = 200,
    ) -> HttpResponse:
        limit = levels()[role]
        blank = AuthorityLevel(role=role, amount=limit.amount, currency=limit.currency, discount=limit.discount)
        blank.legal = limit.legal
        context = {
            **self.admin_site.each_context(request),
            "title": Role(role).label,
            "opts": self.opts,
            "level": level,
            "role": role,
            "in_force": _words(limit),
            "inputs": inputs.build(
                level or blank, FIELDS, typed=typed, faults=faults, required=("currency", "discount")
            ),
            "stood": stood,
            "version": level.version if level else "",
            "key": fresh_key(),
        }
        return TemplateResponse(request, "admin/vigente/authority_set.html", context, status=status)


def _words(limit: Limit) -> dict[str, str]:
    return {
        "amount": money(limit.amount, limit.currency) if limit.amount is not None else _t("without limit"),
        "discount": f"{limit.discount:g} %",
        "legal": _t("yes") if limit.legal else _t("no"),
    }


@admin.register(Decision)
class DecisionAdmin(SubjectAdmin):
    list_display = ("changed_at", "kind", "conflict", "reason", "by")
    list_select_related = ("conflict",)
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> Any:
        found, user = super().get_queryset(request), request.user
        if not isinstance(user, User):
            return found.none()
        ours = Q(conflict__team_key=None) | Q(conflict__team_key=user.team_id)
        return found if user.sees_everything else found.filter(ours)

    @display(description=_("by"))
    def by(self, obj: Decision) -> str:
        return obj.author.shown
