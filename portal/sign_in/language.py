"""The cookie of a user's language."""

from django.conf import settings
from django.http import HttpResponse

YEAR = 365 * 24 * 3600  # seconds


def remember_language(response: HttpResponse, language: str) -> None:
    response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=YEAR, samesite="Lax")
