"""Every failure under /api/ in one shape; what each field is for stands at ``documents.ErrorDoc``."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.core import exceptions as django_errors
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from django.utils.translation import gettext
from rest_framework import exceptions as drf_errors
from rest_framework.request import Request

from registry.addresses import absolute
from registry.api import codes  # noqa: F401  (declares them)
from registry.models.identity import new_uid
from registry.packages.problems import CODES, Problem, Refused, problem

_log = logging.getLogger(__name__)
_RETRY_AFTER_S = 1

_TOO_LARGE = (
    django_errors.RequestDataTooBig,
    django_errors.TooManyFieldsSent,
    django_errors.TooManyFilesSent,
)
_BODY_BROKEN = (MultiPartParserError, UnreadablePostError, RawPostDataException, drf_errors.ParseError)


def answer(exception: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's exception handler: never None, so that nothing reaches Django's own error pages."""
    return response_for(exception, context["request"])


def response_for(exception: Exception, request: HttpRequest | Request) -> HttpResponse:
    """The answer to a request that ended in this exception."""
    if isinstance(exception, Refused):
        return problem_response(request, *exception.problems)
    if isinstance(exception, drf_errors.MethodNotAllowed):
        return problem_response(request, problem("METHOD_NOT_ALLOWED", method=str(request.method)[:20]))
    found = _problem_of(exception)
    if found is None:
        _log.error("unexpected error, request %s", request_id(request), exc_info=exception)
        found = problem("INTERNAL")
    return problem_response(request, found)


def problem_response(request: HttpRequest | Request, *problems: Problem) -> HttpResponse:
    """The error document; the first problem gives its code and status."""
    first = problems[0]
    code = CODES[first.code]
    document = {
        "code": first.code,
        "message": first.message(gettext),
        "remedy": first.remedy(gettext),
        "retryable": code.retryable,
        "docs_url": absolute(f"/api/v1/errors/{first.code}"),
        "request_id": request_id(request),
        "problems": [each.document(gettext) for each in problems],
    }
    response = HttpResponse(json.dumps(document), content_type="application/json", status=code.http)
    response["Cache-Control"] = "private, no-store"
    if code.retryable:
        response["Retry-After"] = str(first.params.get("retry_after_s", _RETRY_AFTER_S))
    if code.http == 401:
        response["WWW-Authenticate"] = 'Bearer realm="skillquay"'
    return response


def request_id(request: HttpRequest | Request) -> str:
    """The id under which this request stands in answers and in the server's log."""
    inner = request._request if isinstance(request, Request) else request
    if not hasattr(inner, "request_id"):
        inner.request_id = new_uid()  # type: ignore[attr-defined]
    return str(inner.request_id)  # type: ignore[attr-defined]


def status_problem(status: int, request: HttpRequest) -> Problem:
    """The problem for an answer that Django or another library made by itself."""
    code = _STATUSES.get(status, "INTERNAL" if status >= 500 else "REQUEST_UNREADABLE")
    return problem(code, method=str(request.method)[:20], limit=_limit())


_STATUSES = {
    401: "SIGN_IN_REQUIRED",
    403: "CSRF_FAILED",  # the one refusal of Django's that is not made by a view of ours
    404: "PATH_UNKNOWN",
    405: "METHOD_NOT_ALLOWED",
    413: "BODY_TOO_LARGE",
    503: "UNAVAILABLE",
}

_READINGS: tuple[tuple[tuple[type[Exception], ...], Callable[[Any], Problem]], ...] = (
    (_TOO_LARGE, lambda e: problem("BODY_TOO_LARGE", limit=_limit())),
    (_BODY_BROKEN, lambda e: problem("BODY_INVALID", reason=str(e)[:200])),
    ((Http404, drf_errors.NotFound), lambda e: problem("PATH_UNKNOWN")),
    (
        (django_errors.PermissionDenied, drf_errors.PermissionDenied),
        lambda e: problem("FORBIDDEN", action="this"),
    ),
    (
        (drf_errors.NotAuthenticated, drf_errors.AuthenticationFailed),
        lambda e: problem("SIGN_IN_REQUIRED"),
    ),
    (
        (drf_errors.UnsupportedMediaType,),
        lambda e: problem("MEDIA_TYPE_UNSUPPORTED", type=str(e.detail)[:100], accepted="application/json"),
    ),
    ((django_errors.SuspiciousOperation, UnicodeError), lambda e: problem("REQUEST_UNREADABLE")),
)


def _problem_of(exception: Exception) -> Problem | None:
    if isinstance(exception, OperationalError | InterfaceError):
        _log.warning("the database does not answer: %s", exception)
        return problem("UNAVAILABLE")
    readings = (make(exception) for kinds, make in _READINGS if isinstance(exception, kinds))
    return next(readings, None)


def _limit() -> int:
    from django.conf import settings

    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
