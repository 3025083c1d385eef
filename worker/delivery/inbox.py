"""The inbox of a person: unread count, list, and marking as read."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, prepared, reader
from registry.identity.actors import Actor
from worker.models import Notification, NotificationQuerySet

MAX_COUNT = 100  # more unread notifications are shown as "99+"
_RELATED = ("event__run", "event__skill__team", "event__version__skill__team", "event__schedule")
_HEAVY = (
    *("event__run__request", "event__run__result", "event__run__files"),
    *("event__version__manifest", "event__version__body"),
)


def notifications(actor: Actor, *, unread: bool = False) -> NotificationQuerySet:
    """The actor's notifications about objects that they can still see, with the related rows that the texts
    need.
    """
    rows = Notification.objects.visible_to(actor).select_related(*_RELATED).defer(*_HEAVY)
    return rows.filter(read_at=None) if unread else rows


@reader
def unread_count(actor: Actor) -> Reads[int]:
    """The number of unread notifications, at most ``MAX_COUNT``. Every page shows it."""
    yield (unread := _unread(actor))
    return len(unread)


@prepared
def _unread(actor: Actor) -> QuerySet[Notification, int]:
    rows = Notification.objects.visible_to(actor).filter(read_at=None)
    return rows.values_list("pk", flat=True)[:MAX_COUNT]


def find(uid: str, actor: Actor) -> Notification:
    found = notifications(actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="notification", name=uid[:80])
    return found


def mark_read(actor: Actor, uids: Collection[str] | None = None, *, read: bool = True) -> int:
    """Marks the actor's notifications with these uids as read or unread; all notifications if ``uids`` is
    None.

    Returns how many changed.
    """
    rows = Notification.objects.visible_to(actor).filter(read_at__isnull=read)
    if uids is not None:
        rows = rows.filter(uid__in=uids)
    return rows.update(read_at=timezone.now() if read else None)
