"""The pages of the CRM, one file per room."""

from crm.urls import board, day, deals, desk, frame, inbox, mail, papers, records, webchat, webhooks

urlpatterns = [
    *frame.urlpatterns,
    *day.urlpatterns,
    *board.urlpatterns,
    *deals.urlpatterns,
    *records.urlpatterns,
    *papers.urlpatterns,
    *desk.urlpatterns,
    *inbox.urlpatterns,
    *mail.urlpatterns,
    *webchat.urlpatterns,
    *webhooks.urlpatterns,
]
