"""The pages of the CRM, one file per room."""

from crm.urls import board, day, deals, frame, papers, records, webchat, webhooks

urlpatterns = [
    *frame.urlpatterns,
    *day.urlpatterns,
    *board.urlpatterns,
    *deals.urlpatterns,
    *records.urlpatterns,
    *papers.urlpatterns,
    *webchat.urlpatterns,
    *webhooks.urlpatterns,
]
