"""The confirmation that the person at the browser is the signed-in user, required before risky changes."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode


def redirect_to_confirmation(request: HttpRequest, *, back_to: str) -> HttpResponseRedirect | None:
    """Returns a redirect to the confirmation, which then redirects to the path ``back_to``.

    Returns None if the user signed in or confirmed in the last five minutes.
    """
    # The adapter itself: django-allauth's flow never asks users who have only an account at an issuer.
    if not get_adapter(request).is_reauthentication_required(app="allauth.mfa"):
        return None
    return redirect(f"{reverse('security-confirm')}?{urlencode({'next': back_to})}")
