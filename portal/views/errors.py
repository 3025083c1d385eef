"""Pages for what went wrong. What does not exist and what may not be seen answer alike, byte for byte."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from registry.packages.problems import CODES, Refused

_TEXTS = {
    400: (_("That request cannot be read"), _("Go back, reload the page and try again.")),
    403: (_("You may not do this"), _("Ask an owner of the team to do it, or to give you the role for it.")),
    404: (
        _("There is nothing here"),
        _("Check the address. If somebody sent it to you, you may need to sign in, or to be on their team."),
    ),
    405: (_("This address is not for that"), _("Go back and use the button on the page.")),
    413: (
        _("The form holds too much"),
        _("Nothing was changed. Go back: what you typed is still there. Shorten it, or upload the files."),
    ),
    500: (
        _("Something broke on our side"),
        _("Nothing of yours was lost. Try again; if it stays, tell the administrator when it happened."),
    ),
}


class Moved(Exception):
    """The skill has another address now; whoever may see it is led there."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    """The page of a refusal, with the HTTP status of its code; a stranger is asked to sign in first."""
    code = CODES[refused.code]
    if code.http == 401 or (code.http == 403 and not request.user.is_authenticated):
        return redirect_to_login(request.get_full_path())
    if code.http in (403, 404):
        return page(request, code.http)
    problems = [problem.document(gettext) for problem in refused.problems]
    return render(request, "errors/refused.html", {"problems": problems}, status=code.http)


def page(request: HttpRequest, status: int) -> HttpResponse:
    title, advice = _TEXTS[status]
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
    """Asks nothing of the database, which may be what broke."""
    title, advice = _TEXTS[500]
    context = {"status_code": 500, "heading": title, "advice": advice}
    return render(None, "errors/broken.html", context, status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that was open too long, or a browser without cookies."""
    return render(request, "errors/csrf.html", status=403)
