"""Views that add, rename and remove a user's own second factors.

All require a recent sign-in or confirmation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.sign_in import factors
from portal.sign_in.adapters import supports_keys
from portal.sign_in.confirmation import redirect_to_confirmation
from portal.sign_in.forms import AppForm, NewKeyForm
from registry.accounts.second_factors import factors_of
from registry.identity.middleware import ActorRequest

View = Callable[..., HttpResponse]


def _recently_confirmed(view: View) -> View:
    """Decorates a view: redirects to the confirmation unless the user signed in or confirmed in the last five
    minutes.
    """

    @wraps(view)
    def confirmed(request: ActorRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        target = request.get_full_path() if request.method == "GET" else reverse("security")
        return redirect_to_confirmation(request, back_to=target) or view(request, *args, **kwargs)

    return confirmed


@signed_in_form
@_recently_confirmed
def add_app(request: ActorRequest) -> HttpResponse:
    """Shows the secret of a new authenticator app; a POST with a correct code adds the app."""
    user = request.actor.user
    assert user
    if factors_of(user).filter(type=Authenticator.Type.TOTP).exists():
        return redirect("security")
    form = AppForm(request.POST if request.method == "POST" else None, user=user)
    if form.is_valid():
        codes = factors.add_app(request, user, form)
        messages.success(request, _("The authenticator app was added."))
        return _show_codes(request, codes)
    url = get_adapter().build_totp_url(user, form.secret)
    context = {
        "form": form,
        "secret": " ".join(form.secret[start : start + 4] for start in range(0, len(form.secret), 4)),
        "url": url,
        "picture": mark_safe(get_adapter().build_totp_svg(url)),
    }
    return render(request, "security/app.html", context, status=422 if form.is_bound else 200)


@signed_in_form
@_recently_confirmed
def add_key(request: ActorRequest) -> HttpResponse:
    user = request.actor.user
    assert user
    if not supports_keys():
        raise Http404
    form = NewKeyForm(request.POST if request.method == "POST" else None, user=user)
    if form.is_valid():
        codes = factors.add_key(request, user, form)
        messages.success(request, _("The passkey or security key was added."))
        return _show_codes(request, codes)
    context = {"form": form, "options": auth.begin_registration(user, False)}
    return render(request, "security/key.html", context, status=422 if form.is_bound else 200)


@signed_in_action
def rename_key(request: ActorRequest, pk: int) -> HttpResponse:
    factor = get_object_or_404(Authenticator, pk=pk, user=request.actor.user, type="webauthn")
    if name := request.POST.get("name", "").replace("\0", "").strip()[:60]:
        factors.rename_key(factor, name)
    return redirect("security")


@signed_in_action
@_recently_confirmed
def remove(request: ActorRequest, pk: int) -> HttpResponse:
    user = request.actor.user
    assert user
    factors.remove(request, user, get_object_or_404(factors_of(user), pk=pk))
    messages.success(request, _("The second factor was removed."))
    return redirect("security")


@signed_in_action
@_recently_confirmed
def renew_codes(request: ActorRequest) -> HttpResponse:
    user = request.actor.user
    assert user
    if not factors_of(user).exists():
        return redirect("security")
    return _show_codes(request, factors.renew_codes(request, user))


def _show_codes(request: ActorRequest, codes: list[str]) -> HttpResponse:
    """Shows new recovery codes, which no later response contains. Redirects if there are no new codes."""
    if not codes:
        return redirect("security")
    text = "\n".join(codes)
    response = render(
        request,
        "security/codes.html",
        {"text": text, "download": f"data:text/plain;charset=utf-8,{quote(text)}"},
    )
    response["Cache-Control"] = "private, no-store"
    return response
