"""The page of a user's own second factors, and the confirmation before changes."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.reauthentication import reauthenticate_by_password
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from portal.decorators import signed_in_form, signed_in_page
from portal.sign_in.adapters import supports_keys
from portal.sign_in.forms import ConfirmCodeForm, ConfirmKeyForm, ConfirmPasswordForm
from registry.accounts import second_factors
from registry.identity.middleware import ActorRequest
from registry.models import User
from registry.rates.limits import RateLimit, count_request
from registry.single_sign_on.accounts import links_of
from registry.single_sign_on.issuers import issuers


@signed_in_page
def page(request: ActorRequest) -> HttpResponse:
    user = request.actor.user
    assert user
    rows = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    codes = next((row for row in rows if row.type == Authenticator.Type.RECOVERY_CODES), None)
    context = {
        "app": next((row for row in rows if row.type == Authenticator.Type.TOTP), None),
        "keys": [row.wrap() for row in rows if row.type == Authenticator.Type.WEBAUTHN],
        "codes": codes,
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "supports_keys": supports_keys(),
        "is_missing": second_factors.is_missing(user),
    }
    return render(request, "security/page.html", context)


@signed_in_form
def confirm(request: ActorRequest) -> HttpResponse:
    """Asks for the password or a second factor before a change, and returns to ``next``."""
    user, sent = request.actor.user, request.POST if request.method == "POST" else None
    assert user
    target = request.POST.get("next", request.GET.get("next", ""))
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        target = reverse("security")
    if sent is not None:
        count_request(request, request.actor, RateLimit.SIGN_IN)
    offered = _forms(user, sent)
    if any(form.is_valid() and _record(request, form) for form in offered.values()):
        return redirect(target)
    typed = [form for name, form in offered.items() if name != "key"]
    linked = {link.provider for link in links_of(user)}
    context: dict[str, Any] = {
        "forms": typed,
        "key": offered.get("key"),
        "next": target,
        "issuers": [issuer for issuer in issuers() if issuer.url in linked],
    }
    if "key" in offered:
        context["options"] = auth.begin_authentication(user)
    return render(request, "security/confirm.html", context, status=200 if sent is None else 422)


def _forms(user: User, sent: Any) -> dict[str, forms.Form]:
    """The forms with which this user can confirm, by name; the submitted form is bound."""

    def data(field: str) -> Any:
        return sent if sent and field in sent else None

    types = set(second_factors.factors_of(user).values_list("type", flat=True))
    offered: dict[str, forms.Form] = {}
    if user.has_usable_password():
        offered["password"] = ConfirmPasswordForm(data("password"), user=user)
    if types:
        offered["code"] = ConfirmCodeForm(data("code"), user=user)
    if Authenticator.Type.WEBAUTHN in types:
        offered["key"] = ConfirmKeyForm(data("credential"), user=user)
    return offered


def _record(request: ActorRequest, form: Any) -> bool:
    if isinstance(form, ConfirmPasswordForm):
        reauthenticate_by_password(request)
    else:
        form.save()
    return True
