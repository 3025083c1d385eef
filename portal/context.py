"""The context processor of all pages: theme, current area, URL, request id, actor and pending approvals."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from portal.presenters.approvals import waiting_count
from portal.presenters.navigation import area_of
from registry.api.error_response import request_id

THEMES = ("auto", "light", "dark")


def site(request: HttpRequest) -> dict[str, Any]:
    actor = getattr(request, "actor", None)
    theme = request.COOKIES.get("theme", "auto")
    return {
        "theme": theme if theme in THEMES else "auto",
        "current_area": area_of(request.path_info),
        "here": request.get_full_path(),
        "request_id": request_id(request),
        "unsafe": settings.SKILLQUAY_SANDBOX == "unsafe",
        "actor": actor,
        "waiting_approvals": SimpleLazyObject(lambda: waiting_count(actor) if actor else None),
    }
