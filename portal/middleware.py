"""What holds for every page: refusals become pages, and a first password is changed before anything else."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from portal.views.errors import refusal
from registry.packages.problems import Refused

GetResponse = Callable[[HttpRequest], HttpResponseBase]
_FREE = frozenset({"password", "sign-out", "set-language", "set-theme"})


class RefusalMiddleware:
    """Turns a ``Refused`` that a page's view let through into the page that says why and what to do."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
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
