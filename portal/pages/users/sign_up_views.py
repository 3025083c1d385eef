"""Pages for people who can't sign in: sign-up, and a new password by mail. They don't reveal which accounts
exist.
"""

from __future__ import annotations

from collections.abc import Callable

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.errors import add_refusals
from registry.accounts import mail, sign_up
from registry.identity.actors import ANONYMOUS
from registry.rates.limits import RateLimit, count_request


class AddressForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class NoAddressForm(forms.Form):
    """A form without an email address, for sites without a mail server."""


@never_cache
@require_http_methods(["GET", "POST"])
def create_account(request: HttpRequest) -> HttpResponse:
    """Mails a link to create an account. If no mail server is configured, redirects to the page behind that
    link.
    """
    if not sign_up.is_open():
        raise Http404
    form_class = AddressForm if sign_up.verifies_email() else NoAddressForm
    form = form_class(request.POST if request.method == "POST" else None)
    return _page(request, "users/sign_up.html", form, sign_up.request_account)


@never_cache
@require_http_methods(["GET", "POST"])
def forgot_password(request: HttpRequest) -> HttpResponse:
    if not mail.is_configured():
        raise Http404
    return _page(request, "users/forgot_password.html", AddressForm(request.POST or None), _forget)


def _forget(email: str) -> str:
    sign_up.forget_password(email)
    return ""


def _page(request: HttpRequest, template: str, form: forms.Form, send: Callable[[str], str]) -> HttpResponse:
    """Shows the form; after a POST, shows the same text for every email address.

    ``send`` may return a URL to redirect to.
    """
    context = {"form": form, "domains": settings.SKILLQUAY_SIGN_UP_DOMAINS}
    if request.method == "POST":
        count_request(request, ANONYMOUS, RateLimit.SIGN_IN)
        if form.is_valid():
            with add_refusals(form):
                url = send(form.cleaned_data.get("email", ""))
                return redirect(url) if url else render(request, template, {"sent": True})
    return render(request, template, context, status=422 if form.errors else 200)
