"""Error responses of the API, all with the fields of ``ErrorDoc``."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.core import exceptions as django_errors
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from django.utils.translation import gettext
from rest_framework import exceptions as drf_errors
from rest_framework.request import Request

from registry import log_context
from registry.api import errors
from registry.core.addresses import absolute_url
from registry.core.errors import UNAVAILABLE
from registry.identity.errors import FORBIDDEN, SIGN_IN_REQUIRED
from registry.models.identity import new_uid
from registry.packages.archive.paths import printable
from registry.packages.problems import Problem, Refusal, code_named
from registry.storage.errors import DISK_FULL
from registry.storage.failures import RETRY_AFTER_S, storage_problem

_log = logging.getLogger(__name__)
_RETRY_AFTER_S = 1

_TOO_LARGE = (
    django_errors.RequestDataTooBig,
    django_errors.TooManyFieldsSent,
    django_errors.TooManyFilesSent,
)
_BODY_BROKEN = (MultiPartParserError, UnreadablePostError, RawPostDataException, drf_errors.ParseError)


def handle_exception(exception: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's exception handler. Always returns an error response, so that clients never get Django's HTML
    pages.
    """
    return response_for(exception, context["request"])


def response_for(exception: Exception, request: HttpRequest | Request) -> HttpResponse:
    """The error response for the exception. An unexpected exception is logged and gets the code INTERNAL."""
    if isinstance(exception, Refusal):
        return problem_response(request, *exception.problems)
    if isinstance(exception, drf_errors.MethodNotAllowed):
        return problem_response(request, errors.METHOD_NOT_ALLOWED.problem(method=str(request.method)[:20]))
    if isinstance(exception, drf_errors.UnsupportedMediaType):
        kind = printable(str(request.META.get("CONTENT_TYPE") or "-"), 100)
        unsupported = errors.MEDIA_TYPE_UNSUPPORTED.problem(type=kind, accepted="application/json")
        return problem_response(request, unsupported)
    found = _problem_of(exception)
    if found is None:
        _log.error("unexpected error", exc_info=exception)
        found = errors.INTERNAL.problem()
    return problem_response(request, found)


def problem_response(request: HttpRequest | Request, *problems: Problem) -> HttpResponse:
    """The error response for the problems, in the active language. The first problem determines code, status
    and Retry-After.
    """
    first = problems[0]
    code = code_named(first.code)
    document = {
        "code": first.code,
        "message": first.message(gettext),
        "remedy": first.remedy(gettext),
        "retryable": code.retryable,
        "docs_url": absolute_url(f"/docs/reference/errors/{first.code}/"),
        "request_id": request_id(request),
        "problems": [each.document(gettext) for each in problems],
    }
    text = json.dumps(document, ensure_ascii=False).encode(errors="backslashreplace")  # for lone surrogates
    response = HttpResponse(text, content_type="application/json", status=code.http)
    response["Cache-Control"] = "private, no-store"
    if code.retryable:
        response["Retry-After"] = str(first.params.get("retry_after_s", _RETRY_AFTER_S))
    if code.http == 401:
        response["WWW-Authenticate"] = 'Bearer realm="skillquay"'
    return response


def request_id(request: HttpRequest | Request) -> str:
    """The request's id, which is in the response and the log. The first call creates it."""
    inner = request._request if isinstance(request, Request) else request
    if not hasattr(inner, "request_id"):
        inner.request_id = log_context.current_id("request") or new_uid()  # type: ignore[attr-defined]
    return str(inner.request_id)  # type: ignore[attr-defined]


def status_problem(status: int, request: HttpRequest) -> Problem:
    """The problem to send instead of an error response that Django or another library created."""
    if status == 405:
        return errors.METHOD_NOT_ALLOWED.problem(method=str(request.method)[:20])
    if status == 413:
        return errors.BODY_TOO_LARGE.problem(limit=_limit())
    if status == 507:
        return DISK_FULL.problem(retry_after_s=RETRY_AFTER_S)
    return _STATUSES.get(status, errors.INTERNAL if status >= 500 else errors.REQUEST_UNREADABLE).problem()


_STATUSES = {
    401: SIGN_IN_REQUIRED,
    403: errors.CSRF_FAILED,  # the only 403 that Django sends by itself
    404: errors.PATH_UNKNOWN,
    503: UNAVAILABLE,
}

_PROBLEM_RULES: tuple[tuple[tuple[type[Exception], ...], Callable[[Any], Problem]], ...] = (
    (_TOO_LARGE, lambda e: errors.BODY_TOO_LARGE.problem(limit=_limit())),
    (_BODY_BROKEN, lambda e: errors.BODY_INVALID.problem(reason=str(e)[:200])),
    ((Http404, drf_errors.NotFound), lambda e: errors.PATH_UNKNOWN.problem()),
    (
        (django_errors.PermissionDenied, drf_errors.PermissionDenied),
        lambda e: FORBIDDEN.problem(action="make this request"),
    ),
    (
        (drf_errors.NotAuthenticated, drf_errors.AuthenticationFailed),
        lambda e: SIGN_IN_REQUIRED.problem(),
    ),
    ((django_errors.SuspiciousOperation, UnicodeError), lambda e: errors.REQUEST_UNREADABLE.problem()),
)


def _problem_of(exception: Exception) -> Problem | None:
    problems = (make(exception) for kinds, make in _PROBLEM_RULES if isinstance(exception, kinds))
    return storage_problem(exception) or next(problems, None)


def _limit() -> int:
    from django.conf import settings

    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
