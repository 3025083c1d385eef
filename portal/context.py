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
from worker.delivery.inbox import unread_count

THEMES = ("auto", "light", "dark")
_ZONES = available_timezones()


def site(request: HttpRequest) -> dict[str, Any]:
    actor = getattr(request, "actor", None)
    return {
        "theme": reader_theme(request),
        "current_area": area_of(request.path_info),
        "here": request.get_full_path(),
        "request_id": request_id(request),
        "unsafe": settings.SKILLQUAY_SANDBOX == "unsafe",
        "actor": actor,
        "waiting_approvals": SimpleLazyObject(lambda: waiting_count(actor) if actor else None),
        "unread_notifications": SimpleLazyObject(lambda: unread_count(actor) if actor else 0),
    }


def reader_theme(request: HttpRequest) -> str:
    """The theme from the visitor's cookie, otherwise ``auto``, which follows the visitor's system."""
    theme = request.COOKIES.get("theme", "auto")
    return theme if theme in THEMES else "auto"


def reader_zone(request: Any) -> ZoneInfo:
    """The time zone from the browser's cookie, otherwise UTC."""
    name = request.COOKIES.get("zone", "UTC").replace("%2F", "/") if request else "UTC"
    return ZoneInfo(name if name in _ZONES else "UTC")
