"""URLs: the inbox, one conversation, and what is done in it; the channels and their templates."""

from django.urls import URLPattern, path

from crm.views import channels, inbox, inbox_acts, inbox_start

urlpatterns: list[URLPattern] = [
    path("inbox/", inbox.inbox_list, name="inbox"),
    path("inbox/new/", inbox_start.start, name="conversation_new"),
    path("inbox/rows/", inbox.rows, name="inbox_rows"),
    path("inbox/channels/", channels.channels, name="inbox_channels"),
    path("inbox/channels/new/", channels.channel_new, name="inbox_channel_new"),
    path("inbox/channels/<int:pk>/", channels.channel, name="inbox_channel"),
    path("inbox/templates/new/", channels.template_new, name="inbox_template_new"),
    path("inbox/templates/<int:pk>/", channels.template, name="inbox_template"),
    path("inbox/<int:pk>/", inbox.conversation, name="conversation"),
    path("inbox/<int:pk>/parts/", inbox.parts, name="conversation_parts"),
    path("inbox/<int:pk>/send/", inbox_acts.send, name="conversation_send"),
    path("inbox/<int:pk>/typing/", inbox_acts.types, name="conversation_typing"),
    path("inbox/<int:pk>/note/", inbox_acts.note, name="conversation_note"),
    path("inbox/<int:pk>/take-over/", inbox_acts.take_over, name="conversation_take_over"),
    path("inbox/<int:pk>/give-back/", inbox_acts.give_back, name="conversation_give_back"),
    path("inbox/<int:pk>/assign/", inbox_acts.assign, name="conversation_assign"),
    path("inbox/<int:pk>/status/", inbox_acts.status, name="conversation_status"),
    path("inbox/<int:pk>/deal/", inbox_acts.deal, name="conversation_deal"),
]
