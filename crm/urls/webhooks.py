"""URLs: where providers tell us what customers write, and what became of what we wrote."""

from django.urls import path

from crm.views import webhooks

urlpatterns = [
    path("webhooks/whatsapp/", webhooks.whatsapp_webhook, name="whatsapp_webhook"),
    path("webhooks/twilio/", webhooks.twilio_webhook, name="twilio_webhook"),
    path("webhooks/twilio/status/", webhooks.twilio_status, name="twilio_status"),
]
