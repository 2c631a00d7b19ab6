"""URLs: the frame around every page (signing in, search, live news, settling, undo)."""

from django.urls import path

from crm.views import live, preferences, search, settle, sign_in, undo

urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    path("preferences/", preferences.preferences, name="preferences"),
    path("search/", search.search, name="search"),
    path("live/", live.stream, name="live"),
    path("live/check/", live.check, name="live_check"),
    path("live/here/", live.here, name="live_here"),
    path("settle/", settle.settle, name="settle"),
    path("undo/", undo.undo, name="undo"),
]
