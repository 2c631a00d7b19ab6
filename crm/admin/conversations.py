"""Channels, templates and conversations in the admin: read. They are changed on the product's pages, at the gate."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyInline
from conflicts.admin.subjects import SubjectAdmin
from crm.admin.subjects import PEOPLE
from crm.models import ChannelAccount, Conversation, Message, MessageTemplate, User


@admin.register(ChannelAccount)
class ChannelAccountAdmin(SubjectAdmin):
    list_display = ("name", "provider", "medium", "address", "active", "agent_answers", "version_mark", "changed_at")
    list_filter = ("provider", "active")
    search_fields = ("name", "address")
    ordering = ("name", "id")


@admin.register(MessageTemplate)
class MessageTemplateAdmin(SubjectAdmin):
    list_display = ("name", "slug", "language", "stage", "medium", "approved_as", "active", "version_mark")
    list_select_related = ("stage",)
    list_filter = ("language", "medium", "active")
    search_fields = ("name", "slug", "text")
    ordering = ("name", "language", "id")


class Messages(ReadOnlyInline):
    model = Message
    fields = ("at", "direction", "who", "text", "automatic", "late", "withdrawn", "subject_version")
    readonly_fields = ("who", "subject_version")
    ordering = ("-at", "-id")

    @display(description=_("who"))
    def who(self, obj: Message) -> str:
        return obj.maker.shown


@admin.register(Conversation)
class ConversationAdmin(SubjectAdmin):
    readonly_preprocess_fields = PEOPLE
    list_display = ("title", "contact", "account", "owner_kind", "owner", "waiting_since", "version_mark", "changed_at")
    list_select_related = ("contact", "account", "owner")
    list_filter = ("status", "owner_kind", "medium")
    search_fields = ("title", "contact__name", "peer")
    ordering = ("-id",)
    inlines = (Messages,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        found: QuerySet[Conversation] = super().get_queryset(request)
        user = request.user
        return found & Conversation.objects.visible_to(user) if isinstance(user, User) else found.none()
