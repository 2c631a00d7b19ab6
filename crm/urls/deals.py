"""URLs: one deal. Moving a card, and a new deal, stand with the board (crm/urls/board.py)."""

from django.urls import path

from crm.views import deal, deal_people, deal_work

urlpatterns = [
    path("deals/<int:pk>/", deal.deal, name="deal"),
    path("deals/<int:pk>/parts/", deal.parts, name="deal_parts"),
    path("deals/<int:pk>/edit/", deal_work.edit, name="deal_edit"),
    path("deals/<int:pk>/stage/", deal_work.stage, name="deal_stage"),
    path("deals/<int:pk>/plan/", deal_work.plan, name="deal_plan"),
    path("deals/<int:pk>/log/", deal_work.log, name="deal_log"),
    path("deals/<int:pk>/people/", deal_people.people, name="deal_people"),
    path("deals/<int:pk>/tasks/<int:task>/<slug:verb>/", deal_work.task, name="deal_task"),
]
