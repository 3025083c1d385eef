"""What holds for every page: kept by its reader alone, refusals become pages, a first password is changed."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from portal.views.errors import Moved, bad_request, page, refusal
from registry.packages.problems import Refused

GetResponse = Callable[[HttpRequest], HttpResponseBase]
_FREE = frozenset({"password", "sign-out", "set-language", "set-theme"})


class PrivateMiddleware:
    """No answer of ours is kept by a cache that others share, unless its view says that it may be."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-cache"
            patch_vary_headers(response, ("Cookie", "Accept-Language"))
        return response


class RefusalMiddleware:
    """Turns a ``Refused`` that a page's view let through into the page that says why and what to do.

    A button's address that is opened by hand, or after signing in again, is a page of ours too.
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
        if isinstance(exception, DataError):  # NUL in a text, a number no column holds: PostgreSQL refuses
            return bad_request(request)
        if isinstance(exception, Moved):
            return redirect(exception.address, permanent=False)
        return refusal(request, exception) if isinstance(exception, Refused) else None


class FirstPasswordMiddleware:
    """Whoever signed in with a one-time password sees nothing but the form that ends it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: object
    ) -> HttpResponseBase | None:
        name = request.resolver_match.url_name if request.resolver_match else None
        if name in _FREE or request.path_info.startswith("/api/"):
            return None
        if request.user.is_authenticated and request.user.must_change_password:
            return redirect(reverse("password"))
        return None
