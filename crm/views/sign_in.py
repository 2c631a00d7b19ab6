"""Sign in and out. Everything else asks for a signed-in person (LoginRequiredMiddleware in config/settings.py)."""

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST


@login_not_required
@sensitive_post_parameters()
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """After it: the page that was asked for, if it is one of ours, else My day."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    if request.user.is_authenticated:
        return HttpResponseRedirect(_safe(request, wanted))
    form = AuthenticationForm(request, data=request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return HttpResponseRedirect(_safe(request, wanted))
    status = 422 if form.errors else 200
    return TemplateResponse(request, "sign_in.html", {"form": form, "next": wanted}, status=status)


@login_not_required
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return HttpResponseRedirect(resolve_url("sign_in"))


def _safe(request: HttpRequest, url: str) -> str:
    ours = url_has_allowed_host_and_scheme(url, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return url if ours else "/"
