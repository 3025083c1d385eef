"""Decorators of views: the allowed methods, the sign-in, and no caching of pages that depend on the user."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

View = TypeVar("View", bound=Callable[..., HttpResponseBase | Any])


def signed_in_page(view: View) -> View:
    """A page that only shows something."""
    return never_cache(login_required(require_safe(view)))


def signed_in_form(view: View) -> View:
    """A page with a form that is sent to the page itself."""
    return never_cache(login_required(require_http_methods(["GET", "POST"])(view)))


def signed_in_action(view: View) -> View:
    """A change by a button; the answer is usually a redirect."""
    return login_required(require_POST(view))
