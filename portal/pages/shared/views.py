"""The page of a share link, its log and its files, for everyone who has the link."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.delivery.downloads import as_file, download
from portal.pages.errors.views import page as error_page
from portal.pages.errors.views import refusal as refusal_page
from portal.pages.runs.presenters import log as run_log
from portal.pages.shared.presenters import shared_context
from registry.core.errors import NOT_FOUND
from registry.identity.actors import ANONYMOUS
from registry.packages.problems import Refusal
from registry.rates.limits import RateLimit, count_request
from registry.storage import blobs
from worker.models import ShareLink
from worker.sharing.links import open_link

_METHODS = ("GET", "HEAD")


def _shared(
    view: Callable[Concatenate[HttpRequest, ShareLink, ...], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Decorates a view of a share link: finds the link, and counts unknown links for the rate limit.

    Keeps all responses, including errors, out of caches, search engines and referrers.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, *, secret: str, **kwargs: Any) -> HttpResponseBase:
        try:
            response = _respond(request, secret, lambda link: view(request, link, **kwargs))
        except Refusal as refused:
            response = refusal_page(request, refused)
        except (Http404, PermissionDenied):
            response = error_page(request, 404)
        response["Cache-Control"] = "private, no-store"
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
        return response

    return wrapper


def _respond(
    request: HttpRequest, secret: str, view: Callable[[ShareLink], HttpResponseBase]
) -> HttpResponseBase:
    if request.method not in _METHODS:
        response = error_page(request, 405)
        response["Allow"] = ", ".join(_METHODS)
        return response
    try:
        link = open_link(secret)
    except Refusal as refused:
        if refused.code == NOT_FOUND.name:
            count_request(request, ANONYMOUS, RateLimit.SHARE_LINK)
        raise
    return view(link)


@_shared
def page(request: HttpRequest, link: ShareLink) -> HttpResponse:
    """Shows the outcome of the run, with inputs, log and files if the link includes them."""
    return render(request, "shared/run.html", shared_context(link))


@_shared
def log(request: HttpRequest, link: ShareLink) -> HttpResponseBase:
    """Downloads the full log of the last attempt."""
    if not link.with_log:
        raise Http404
    attempt = max(link.run.attempt, 1)
    return download(as_file(run_log.raw(link.run, attempt)), "run.log", "text/plain; charset=utf-8")


@_shared
def artifact(request: HttpRequest, link: ShareLink, path: str) -> HttpResponseBase:
    """Downloads a file of the run, which browsers save instead of rendering it."""
    if not link.with_artifacts or "\x00" in path:  # PostgreSQL refuses to search for NUL
        raise Http404
    row = link.run.artifacts.filter(path=path).first()
    if row is None:
        raise Http404
    response = download(blobs.open_blob(row.digest), path.rpartition("/")[2], "application/octet-stream")
    response["Content-Length"] = str(row.size)
    return response
