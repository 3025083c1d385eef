"""Views that set the language and the theme in cookies; the language is also saved in the account."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from portal.context import THEMES
from portal.sign_in.language import YEAR, remember_language
from registry.models import User


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    response = redirect(next_url(request))
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES):
        remember_language(response, language)
        if isinstance(request.user, User):
            User.objects.filter(pk=request.user.pk).update(language=language)
    return response


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    response = redirect(next_url(request))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie("theme", theme, max_age=YEAR, samesite="Lax")
    return response


def next_url(request: HttpRequest) -> str:
    """The URL to return to: the form's ``next`` if it is a path of this site, otherwise the home page."""
    url = request.POST.get("next", "")
    return url if url_has_allowed_host_and_scheme(url, allowed_hosts=None) else reverse("home")
