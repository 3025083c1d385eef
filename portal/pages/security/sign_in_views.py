"""The second step of sign-in, and sign-in with a passkey alone."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.stagekit import clear_login
from allauth.account.models import Login
from allauth.account.stages import LoginStageController
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.sign_in.adapters import supports_keys
from portal.sign_in.forms import CodeForm, KeyForm, PasskeyForm
from portal.sign_in.stages import SecondFactorStage
from registry.accounts.second_factors import factors_of
from registry.identity.actors import ANONYMOUS
from registry.identity.middleware import ActorRequest
from registry.rates.limits import RateLimit, count_request


@never_cache
@require_http_methods(["GET", "POST"])
def second_factor(request: ActorRequest) -> HttpResponse:
    """Requires a code or a key after the password; redirects to sign-in if the password step is missing or
    expired.
    """
    stage: Any = LoginStageController.enter(request, SecondFactorStage.key)
    if request.actor.user or stage is None:
        return redirect("sign-in")
    user = stage.login.user
    if not stage.is_valid():
        clear_login(request)
        return redirect("sign-in")
    sent = request.POST if request.method == "POST" else None
    if sent is not None:
        count_request(request, ANONYMOUS, RateLimit.SIGN_IN)
    code = CodeForm(sent if sent and "credential" not in sent else None, user=user)
    key = KeyForm(sent if sent and "credential" in sent else None, user=user)
    for form in (code, key):
        if form.is_valid():
            form.save()
            response: HttpResponse = stage.exit()
            return response
    context: dict[str, Any] = {"code": code, "key": key}
    if factors_of(user).filter(type=Authenticator.Type.WEBAUTHN).exists():
        context["options"] = auth.begin_authentication(user)
    return render(request, "security/second_factor.html", context, status=200 if sent is None else 422)


@never_cache
@require_http_methods(["GET", "POST"])
def passkey(request: ActorRequest) -> HttpResponse:
    """A GET returns the options of the browser's passkey dialog as JSON; a POST signs in with the dialog's
    answer.
    """
    count_request(request, ANONYMOUS, RateLimit.SIGN_IN)
    if request.actor.user:
        return redirect("home")
    if not supports_keys():
        raise Http404
    if request.method == "GET":
        return JsonResponse(auth.begin_authentication())
    form = PasskeyForm(request.POST)
    if not form.is_valid():
        messages.error(
            request,
            _(
                "Can't sign in with this passkey. Use your password, or another passkey that you "
                "added to your account."
            ),
        )
        return redirect("sign-in")
    authenticator = form.cleaned_data["credential"]
    target = request.POST.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    login = Login(user=authenticator.user, redirect_url=target if is_safe else None)
    return perform_passwordless_login(request, authenticator, login)
