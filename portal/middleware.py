"""Middleware of all pages: private caching, refusal pages, and the change of one-time passwords."""

from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from portal.pages.errors.views import SkillMoved, bad_request, page, refusal
from registry.packages.problems import Refusal

GetResponse = Callable[[HttpRequest], HttpResponseBase]
_EXEMPT = frozenset({"password", "sign-out", "set-language", "set-theme"})


class PrivateMiddleware:
    """Marks responses as private, unless the view set ``Cache-Control``."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-cache"
            patch_vary_headers(response, ("Cookie", "Accept-Language"))
        return response


class RefusalMiddleware:
    """Turns ``Refusal`` into an error page or a redirect to sign-in, and ``SkillMoved`` into a redirect.

    Wrong methods get an error page, too, such as a GET of a button's URL after signing in again.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed):
            allowed = response["Allow"]
            response = page(request, response.status_code)
            response["Allow"] = allowed
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if isinstance(exception, DataError):  # PostgreSQL refuses NUL characters and numbers out of range
            return bad_request(request)
        if isinstance(exception, SkillMoved):
            return redirect(exception.address, permanent=False)
        return refusal(request, exception) if isinstance(exception, Refusal) else None


class FirstPasswordMiddleware:
    """Redirects users with a one-time password to the password form."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: object
    ) -> HttpResponseBase | None:
        name = request.resolver_match.url_name if request.resolver_match else None
        if name in _EXEMPT or request.path_info.startswith("/api/"):
            return None
        if request.user.is_authenticated and request.user.must_change_password:
            return redirect(reverse("password"))
        return None
