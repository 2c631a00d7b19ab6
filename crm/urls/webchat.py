"""URLs: the web chat, for visitors who are nobody's account."""

from django.urls import path

from crm.views import webchat

urlpatterns = [
    path("chat/<slug:slug>/", webchat.page, name="chat"),
    path("chat/<slug:slug>/say/", webchat.say, name="chat_say"),
    path("chat/<slug:slug>/thread/", webchat.thread, name="chat_thread"),
    path("chat/<slug:slug>/stream/", webchat.stream, name="chat_stream"),
    path("chat/<slug:slug>/typing/", webchat.types, name="chat_typing"),
]
