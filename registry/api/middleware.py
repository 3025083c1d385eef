from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation

from registry.api.errors import problem_response, request_id, response_for, status_problem

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_OURS = ("/api/", "/hooks/")
_KEPT_HEADERS = ("Allow", "Retry-After")


class ApiMiddleware:
    """Outermost under /api/ and /hooks/: an id on every answer, and no error in any other shape than ours."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(_OURS):
            return self.get_response(request)
        given = request.headers.get("X-Request-ID", "")
        if _GIVEN_ID.fullmatch(given):
            request.request_id = given  # type: ignore[attr-defined]
        response = self.get_response(request)
        if response.status_code >= 400 and response.get("Content-Type") != "application/json":
            response = _reshaped(request, response)
        response["X-Request-ID"] = request_id(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """For views that are not DRF's; DRF's answer for themselves."""
        return response_for(exception, request) if request.path_info.startswith(_OURS) else None


def _reshaped(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    language = translation.get_language_from_request(request)
    with translation.override(language):
        ours = problem_response(request, status_problem(response.status_code, request))
    for header in (*_KEPT_HEADERS, "Content-Security-Policy", "X-Content-Type-Options"):
        if header in response:
            ours[header] = response[header]
    ours["Content-Language"] = language or settings.LANGUAGE_CODE
    return ours
