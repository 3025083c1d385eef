"""Middleware for security and cache headers, error pages and the change of one-time passwords."""

from collections.abc import Callable

from csp.constants import HEADER as CONTENT_SECURITY_POLICY
from csp.utils import build_policy
from django.db import DataError
from django.http import HttpRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from portal.forms.resumable_uploads import discard_attached
from portal.pages.errors.views import SkillMoved, bad_request, page, refusal
from registry.accounts import second_factors
from registry.identity.middleware import session_actor
from registry.packages.problems import Refusal

GetResponse = Callable[[HttpRequest], HttpResponseBase]
_EXEMPT = frozenset({"password", "sign-out", "set-language", "set-theme"})


class ContentPolicyMiddleware:
    """Sets the ``Content-Security-Policy`` of the settings unless the view has set another one. The
    middleware of django-csp would build it again for each response, because its policies may differ by view.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response, self.policy = get_response, build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault(CONTENT_SECURITY_POLICY, self.policy)
        return response


class PrivateMiddleware:
    """Sets ``Cache-Control: private, no-cache`` and ``Vary`` unless the view has set ``Cache-Control``."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-cache"
            patch_vary_headers(response, ("Cookie", "Accept-Language"))
        return response


class UploadMiddleware:
    """Answers an upload by ``skillquay.js`` with 204 and ``X-Location`` instead of a redirect, which the
    script's request would follow, so that the messages would be lost. Deletes the uploads in chunks that an
    accepted form has used; after a refusal, the next attempt uses them.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "X-Upload" in request.headers and response.status_code in (301, 302):
            discard_attached(request)
            response["X-Location"] = response["Location"]
            del response["Location"]
            response.status_code = 204
        return response


class RefusalMiddleware:
    """Turns ``Refusal`` into an error page or a redirect to sign-in, and ``SkillMoved`` into a redirect.

    Values that the database can't store get an error page, too. So do wrong methods, for example if sign-in
    redirects to the URL of a button.
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


class FirstStepMiddleware:
    """Redirects users with a one-time password to the password form, and users without a required second
    factor to its pages.

    The views in ``_EXEMPT`` and the API are exempt; the API checks this itself.
    """

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
        # Views ask for its rights dozens of times, and each attribute of a lazy object takes a call.
        request.actor = session_actor(request)  # type: ignore[attr-defined]
        if not request.user.is_authenticated:
            return None
        if request.user.must_change_password:
            return redirect(reverse("password"))
        if not (name or "").startswith("security") and second_factors.is_missing(request.user):
            return redirect(reverse("security"))
        return None
