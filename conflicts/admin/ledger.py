"""The ledger, to be looked up by idempotency key: was this done, by whom, and what was answered?"""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyAdmin
from conflicts.models import LedgerEntry


@admin.register(LedgerEntry)
class LedgerAdmin(ReadOnlyAdmin):
    list_display = ("key", "who", "result", "written_at")
    search_fields = ("=key", "actor")
    search_help_text = _("The whole key, or part of a name")
    ordering = ("-id",)
    fields = ("key", "who", "result", "answer", "fingerprint", "written_at")
    readonly_fields = ("who", "result")

    @display(description=_("who"))
    def who(self, obj: LedgerEntry) -> str:
        return Actor.parse(obj.actor).name

    @display(description=_("answer"), label=True)
    def result(self, obj: LedgerEntry) -> str:
        return str(obj.answer.get("result", ""))
