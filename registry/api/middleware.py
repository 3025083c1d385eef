"""Middleware that gives requests an id, and turns errors under the API's paths into error documents."""

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation

from registry import log_context
from registry.api.error_response import problem_response, request_id, response_for, status_problem

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
API_PREFIXES = ("/api/", "/hooks/")
_KEPT_HEADERS = ("Allow", "Retry-After")


class RequestIdMiddleware:
    """Gives each request an id: the client's ``X-Request-ID`` if it is valid, otherwise a new one. The
    response header ``X-Request-ID`` and the log lines contain it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        client_id = request.headers.get("X-Request-ID", "")
        if is_request_id(client_id):
            request.request_id = client_id  # type: ignore[attr-defined]
        with log_context.bind("request", request_id(request)):
            response = self.get_response(request)
        response["X-Request-ID"] = request_id(request)
        return response


def is_request_id(text: str) -> bool:
    """Whether a client may choose this text as request id: 8 to 64 letters, digits, dots, hyphens or
    underscores.
    """
    return _REQUEST_ID.fullmatch(text) is not None


class ApiMiddleware:
    """Under /api/ and /hooks/, turns error responses that are not JSON, and exceptions outside DRF, into
    error documents.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(API_PREFIXES):
            return self.get_response(request)
        response = self.get_response(request)
        if response.status_code >= 400 and response.get("Content-Type") != "application/json":
            response = _to_problem_response(request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """The error response to an exception outside DRF; None for paths outside /api/ and /hooks/."""
        return response_for(exception, request) if request.path_info.startswith(API_PREFIXES) else None


def _to_problem_response(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    language = translation.get_language_from_request(request)
    with translation.override(language):
        answer = problem_response(request, status_problem(response.status_code, request))
    for header in (*_KEPT_HEADERS, "Content-Security-Policy", "X-Content-Type-Options"):
        if header in response:
            answer[header] = response[header]
    answer["Content-Language"] = language or settings.LANGUAGE_CODE
    return answer
