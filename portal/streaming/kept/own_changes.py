"""Shows people the result of their own changes at once, although kept pages may be a second old."""

import math
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from portal.streaming.kept.request import CHANGED_COOKIE
from registry.changes.drafts import PAGE_S

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REDIRECTS = range(300, 400)  # also of a GET that changes something, such as opening a notification
_LASTS_S = math.ceil(PAGE_S) + 1  # cookies end at full seconds


class OwnChangeMiddleware:
    """Marks the browser of a signed-in person after a change. Until the kept pages of before have ended,
    Django answers this browser.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        may_change = request.method not in _SAFE or response.status_code in _REDIRECTS
        if may_change and settings.SESSION_COOKIE_NAME in request.COOKIES:
            response.set_cookie(
                CHANGED_COOKIE,
                "1",
                max_age=_LASTS_S,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response
