"""Error pages. The page for an invisible object does not differ from the page for a missing one."""

import sys
from http import HTTPStatus

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from registry.api.error_response import request_id
from registry.packages.problems import Problem, Refusal, code_named
from registry.storage.failures import storage_problem

_TEXTS = {
    400: (_("Invalid request"), _("Go back, reload the page and try again.")),
    403: (
        _("You don't have permission to do this"),
        _("Ask a team owner or an administrator to perform the action, or to change your role."),
    ),
    404: (
        _("Page not found"),
        _("Check the address. You may need to sign in, or to join the team, to see this page."),
    ),
    405: (_("This address can't be opened directly"), _("Go back and use the button on the page.")),
    413: (
        _("The form is too large"),
        _("Nothing was changed. Go back, then shorten your input or upload files instead."),
    ),
    500: (
        _("The server could not complete the request"),
        _(
            "Your changes may not have been saved: check before you try again. If "
            "the error persists, give an administrator the request ID."
        ),
    ),
}


class SkillMoved(Exception):
    """Raised if a skill has moved to ``address``; ``RefusalMiddleware`` redirects there."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


def refusal(request: HttpRequest, refused: Refusal) -> HttpResponse:
    """The error page of a refusal, or a redirect to sign-in.

    Redirects for status 401, and for status 403 if the user is anonymous.
    """
    code = code_named(refused.code)
    if code.http == 401 or (code.http == 403 and not request.user.is_authenticated):
        return redirect_to_login(request.get_full_path())
    if code.http in (403, 404):
        return page(request, code.http)
    problems = [problem.document(gettext) for problem in refused.problems]
    response = render(request, "errors/refused.html", {"problems": problems}, status=code.http)
    if code.retryable and (seconds := refused.problems[0].params.get("retry_after_s")):
        response["Retry-After"] = str(seconds)
    return response


def page(request: HttpRequest, status: int) -> HttpResponse:
    title, advice = _TEXTS[status]
    if status == 404 and request.user.is_authenticated:
        advice = _("Check the address. You may need to join the team to see this page.")
    phrase = HTTPStatus(status).phrase
    context = {"status_code": status, "phrase": phrase, "heading": title, "advice": advice}
    return render(request, "errors/page.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return page(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return page(request, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return page(request, 404)


def broken(request: HttpRequest) -> HttpResponse:
    """The page for an unhandled exception, with status 500 or the status of a storage failure.

    Does not use the database, because it may have failed.
    """
    if problem := storage_problem(sys.exception()):
        return standalone(request, problem)
    title, advice = _TEXTS[500]
    context = {
        "code": 500,
        "status_code": 500,
        "heading": title,
        "advice": advice,
        "request_id": request_id(request),
    }
    return render(None, "errors/broken.html", context, status=500)


def standalone(request: HttpRequest, problem: Problem) -> HttpResponse:
    """The error page of a problem, rendered without session and database."""
    code = code_named(problem.code)
    texts = {"heading": problem.message(gettext), "advice": problem.remedy(gettext)}
    context = {"code": code.name, "status_code": code.http, "request_id": request_id(request), **texts}
    response = render(None, "errors/broken.html", context, status=code.http)
    response["Cache-Control"] = "no-store"
    if code.retryable:
        response["Retry-After"] = str(problem.params.get("retry_after_s", 1))
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The 403 page for a failed CSRF check, such as after sign-in in another tab or without cookies."""
    return render(request, "errors/csrf.html", status=403)
