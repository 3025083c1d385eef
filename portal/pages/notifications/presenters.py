from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.presenters.explanations import explain
from worker.delivery.subscriptions import shown_address
from worker.delivery.texts import text_of
from worker.models import (
    Delivery,
    DeliveryChannel,
    DeliveryState,
    Notification,
    NotificationKind,
    NotificationSubscription,
)

_ICONS = {
    NotificationKind.RUN_FAILED: "bad",
    NotificationKind.FIRST_FAILURE: "bad",
    NotificationKind.RECOVERED: "ok",
    NotificationKind.APPROVAL: "queued",
    NotificationKind.VERSION_HELD: "lock",
}
_STATES = {
    DeliveryState.QUEUED: "queued",
    DeliveryState.SENT: "ok",
    DeliveryState.FAILED: "bad",
    DeliveryState.SKIPPED: "stopped",
}


@dataclass
class InboxGroup:
    """Notifications of one kind with the same title, all read or all unread; newest first.

    Each item has the ``record``, its ``event`` and its ``text``.
    """

    icon: str
    items: list[dict[str, Any]] = field(default_factory=list)

    @property
    def latest(self) -> dict[str, Any]:
        return self.items[0]


class Pill(NamedTuple):
    tone: str
    icon: str
    text: str


def inbox_groups(rows: Iterable[Notification]) -> list[InboxGroup]:
    """The groups in the order of their newest notifications."""
    groups: dict[tuple[str, str, bool], InboxGroup] = {}
    for row in rows:
        text = text_of(row.event)
        key = (row.event.kind, text.title, row.read_at is None)
        group = groups.setdefault(key, InboxGroup(_ICONS.get(NotificationKind(row.event.kind), "warn")))
        group.items.append({"record": row, "event": row.event, "text": text})
    return list(groups.values())


def inbox_tabs(current: str) -> list[dict[str, Any]]:
    """The tabs of notifications; ``current`` is ``all``, ``unread``, ``deliveries`` or ``settings``."""
    url = reverse("notifications")
    tabs = (
        ("all", url, _("All")),
        ("unread", f"{url}?show=unread", _("Unread")),
        ("deliveries", reverse("deliveries"), _("Deliveries")),
        ("settings", reverse("notification-settings"), _("Settings")),
    )
    return [{"url": url, "label": label, "current": name == current} for name, url, label in tabs]


def subscription_rows(rows: Iterable[NotificationSubscription]) -> list[dict[str, Any]]:
    names = dict(NotificationKind.choices)
    now = timezone.now()
    return [
        {
            "record": row,
            "address": shown_address(row),
            "kinds": [names[kind] for kind in row.kinds if kind in names],
            "muted": row.muted_until if row.muted_until and row.muted_until > now else None,
            "can_test": row.channel != DeliveryChannel.INBOX,
        }
        for row in rows
    ]


def _pill(row: Delivery) -> Pill:
    """Tone, icon and text of the delivery's state."""
    if row.state == DeliveryState.QUEUED and row.attempts:
        return Pill("warn", "again", _("Retrying"))
    tone = {"sent": "ok", "failed": "bad"}.get(row.state, "quiet")
    return Pill(tone, _STATES[DeliveryState(row.state)], row.get_state_display())


def _explanation(error: str) -> str:
    """What to do about an error of the site's own, such as a refused address; "" for other errors."""
    why = explain(error)
    if not why.known:
        return ""
    return why.remedy if "…" in why.meaning else f"{why.meaning} {why.remedy}"


def delivery_rows(rows: Iterable[Delivery]) -> list[dict[str, Any]]:
    """Rows for the deliveries, with their texts and the actions that are possible."""
    return [
        {
            "record": row,
            "title": text_of(row.event).title if row.event else row.get_kind_display(),
            "pill": _pill(row),
            "why": _explanation(row.error),
            "outcome": row.error or f"HTTP {row.last_status}",
            "is_queued": row.state == DeliveryState.QUEUED,
            "can_retry": row.state in (DeliveryState.QUEUED, DeliveryState.FAILED),
            "can_replay": row.event is not None and row.state in (DeliveryState.SENT, DeliveryState.FAILED),
        }
        for row in rows
    ]
