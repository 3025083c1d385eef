"""Presents notifications for templates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from worker.delivery.texts import text_of
from worker.models import Notification, NotificationKind

_ICONS = {
    NotificationKind.RUN_FAILED: "bad",
    NotificationKind.FIRST_FAILURE: "bad",
    NotificationKind.RECOVERED: "ok",
    NotificationKind.APPROVAL: "queued",
    NotificationKind.VERSION_HELD: "lock",
}


def inbox_rows(rows: Iterable[Notification]) -> list[dict[str, Any]]:
    return [
        {
            "record": row,
            "event": row.event,
            "text": text_of(row.event),
            "icon": _ICONS.get(NotificationKind(row.event.kind), "warn"),
        }
        for row in rows
    ]


def inbox_tabs(*, unread: bool) -> list[dict[str, Any]]:
    url = reverse("notifications")
    return [
        {"url": url, "label": _("All"), "current": not unread},
        {"url": f"{url}?show=unread", "label": _("Unread"), "current": unread},
    ]
