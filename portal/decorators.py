"""What views require of a request: methods, sign-in, administrator rights; and no caching."""

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
    """For pages without a form: allows GET and HEAD, requires sign-in, and disables caching."""
    return never_cache(login_required(require_safe(view)))


def signed_in_form(view: View) -> View:
    """For pages with a form that posts to the same URL: allows GET and POST, requires sign-in, and disables
    caching.
    """
    return never_cache(login_required(require_http_methods(["GET", "POST"])(view)))


def signed_in_action(view: View) -> View:
    """For changes by a button, usually answered by a redirect: allows only POST and requires sign-in."""
    return login_required(require_POST(view))


def require_administrator(actor: Actor) -> None:
    """Raises Http404 unless the actor is an administrator."""
    if not actor.is_administrator:
        raise Http404
