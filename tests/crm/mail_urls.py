"""The product's addresses as they are where a secret for the mail service's webhooks is set."""

from anymail.urls import urlpatterns as webhooks
from django.urls import include, path

from config.urls import handler400, handler403, handler404, handler500
from config.urls import urlpatterns as ours
from crm.urls.mail import open_to_services

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
urlpatterns = [path("anymail/", include((open_to_services(webhooks), "anymail"))), *ours]
