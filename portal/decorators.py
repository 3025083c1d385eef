"""Decorators of views: the allowed methods, the sign-in, and no caching of pages that depend on the user."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

View = TypeVar("View", bound=Callable[..., HttpResponseBase | Any])


def signed_in_page(view: View) -> View:
    """For pages without a form: requires sign-in and GET, and disables caching."""
    return never_cache(login_required(require_safe(view)))


def signed_in_form(view: View) -> View:
    """For pages with a form that posts to the same URL: requires sign-in, and disables caching."""
    return never_cache(login_required(require_http_methods(["GET", "POST"])(view)))


def signed_in_action(view: View) -> View:
    """For changes by a button, usually answered by a redirect: requires sign-in and POST."""
    return login_required(require_POST(view))
