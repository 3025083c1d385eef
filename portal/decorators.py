"""Decorators and checks that restrict views by method, sign-in and administrator rights, and disable
caching.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.identity.actors import Actor

View = TypeVar("View", bound=Callable[..., HttpResponseBase | Any])


def signed_in_page(view: View) -> View:
    """Decorates a page without a form: allows GET and HEAD, requires sign-in, and disables caching."""
    return never_cache(login_required(require_safe(view)))


def signed_in_form(view: View) -> View:
    """Decorates a page whose form posts to its own URL: allows GET and POST, requires sign-in, and disables
    caching.
    """
    return never_cache(login_required(require_http_methods(["GET", "POST"])(view)))


def signed_in_action(view: View) -> View:
    """Decorates an action that a button sends: allows only POST and requires sign-in."""
    return login_required(require_POST(view))


def require_administrator(actor: Actor) -> None:
    """Raises Http404 unless the actor is an administrator."""
    if not actor.is_administrator:
        raise Http404
