"""The web application of the lab: the product's, and beside its routes one that is written the usual way."""

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from config import asgi, urls  # asgi first: it sets Django up
from config.lab import naive
from config.lab.world import SOON
from conflicts.refs import Ref
from crm.models import Activity


@csrf_exempt
@login_not_required
def log_naively(request: HttpRequest, pk: int) -> HttpResponse:
    with transaction.atomic():
        deal = naive.load(Ref("crm.opportunity", pk))
        deal.decision = request.POST["text"]
        naive.save_only(deal, "decision")
        Activity.objects.create(opportunity=deal, kind="mail", at=f"{SOON}T12:00Z", by="web", text=request.POST["text"])
    return HttpResponse(status=204)


urls.urlpatterns += [path("lab/", include([path("naive/<int:pk>/", log_naively)]))]
application = asgi.application
