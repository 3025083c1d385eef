"""Adds common values to the template context of all pages. The counters query the database only if a template
uses them.
"""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from portal.presenters.approvals import waiting_count
from portal.presenters.navigation import area_of
from registry.api.error_response import request_id
from registry.core.sql import read_together
from registry.identity.actors import Actor
from worker.delivery.inbox import unread_count

THEMES = ("auto", "light", "dark")
_ZONES = available_timezones()


def site(request: HttpRequest) -> dict[str, Any]:
    actor = getattr(request, "actor", None)
    counts = SimpleLazyObject(lambda: navigation_counts(actor))
    return {
        "theme": reader_theme(request),
        "current_area": area_of(request.path_info),
        "here": request.get_full_path(),
        "request_id": request_id(request),
        "unsafe": settings.SKILLQUAY_SANDBOX == "unsafe",
        "actor": actor,
        "waiting_approvals": SimpleLazyObject(lambda: counts[0]),
        "unread_notifications": SimpleLazyObject(lambda: counts[1]),
    }


def navigation_counts(actor: Actor | None) -> tuple[int | None, int]:
    """The numbers of runs that wait for the actor's decision (None if the actor may decide none) and of
    unread notifications, read with one query.
    """
    return (None, 0) if not actor else read_together(waiting_count.reads(actor), unread_count.reads(actor))


def reader_theme(request: HttpRequest) -> str:
    """The theme from the visitor's cookie, otherwise ``auto``, which follows the visitor's system."""
    theme = request.COOKIES.get("theme", "auto")
    return theme if theme in THEMES else "auto"


def reader_zone(request: Any) -> ZoneInfo:
    """The time zone from the browser's cookie, otherwise UTC."""
    name = request.COOKIES.get("zone", "UTC").replace("%2F", "/") if request else "UTC"
    return ZoneInfo(name if name in _ZONES else "UTC")
