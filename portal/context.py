"""Adds common values to the template context of all pages. The counters query the database only if a template
uses them.
"""

from __future__ import annotations

from functools import partial
from operator import getitem
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from portal.delivery.csrf_tokens import page_token
from portal.presenters.approvals import waiting_count
from portal.presenters.navigation import area_of
from registry.api.error_response import request_id
from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.models import ResumableUpload
from registry.uploads.uploads import unfinished_uploads
from worker.delivery.inbox import unread_count

THEMES = ("auto", "light", "dark")
_MAX_UPLOADS = 5
_COUNTS = ("waiting_approvals", "unread_notifications")
_ZONES = available_timezones()


def site(request: HttpRequest) -> dict[str, Any]:
    actor = getattr(request, "actor", None)
    counts = SimpleLazyObject(lambda: navigation_counts(actor))
    return {
        "csrf_token": SimpleLazyObject(lambda: page_token(request)),
        "theme": reader_theme(request),
        "reader_zone": reader_zone(request).key,
        "current_area": area_of(request.path_info),
        "here": request.get_full_path(),
        "request_id": request_id(request),
        "unsafe": settings.SKILLQUAY_SANDBOX == "unsafe",
        "actor": actor,
        "unfinished_uploads": SimpleLazyObject(lambda: page_uploads(request)),
        **{name: SimpleLazyObject(partial(getitem, counts, name)) for name in _COUNTS},
    }


@reader
def navigation_counts(actor: Actor | None) -> Reads[dict[str, int | None]]:
    """The numbers of the sidebar by their names in templates: of runs that wait for the actor's decision
    (None if the actor may decide none) and of unread notifications.

    A view that reads them together with its own rows adds them to its context, which saves a query.
    """
    counts = (None, 0)
    if actor:
        counts = yield from gather(waiting_count.reads(actor), unread_count.reads(actor))
    return dict(zip(_COUNTS, counts, strict=True))


def page_uploads(request: HttpRequest) -> QuerySet[ResumableUpload]:
    """The newest uploads that ``skillquay.js`` has begun on this page, whose keys begin with its path."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return unfinished_uploads(actor, key_prefix=f"{request.path} ")[:_MAX_UPLOADS]


def reader_theme(request: HttpRequest) -> str:
    """The theme from the visitor's cookie, otherwise ``auto``, which follows the visitor's system."""
    theme = request.COOKIES.get("theme", "auto")
    return theme if theme in THEMES else "auto"


def reader_zone(request: Any) -> ZoneInfo:
    """The time zone from the browser's cookie, otherwise UTC."""
    name = request.COOKIES.get("zone", "UTC").replace("%2F", "/") if request else "UTC"
    return ZoneInfo(name if name in _ZONES else "UTC")
