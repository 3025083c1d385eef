"""Builds the message of a delivery, before it is formatted for a channel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from registry.core.addresses import absolute_url
from registry.core.hooks import Hook
from worker.delivery.texts import event_document, text_of
from worker.models import Delivery, NotificationEvent


@dataclass(frozen=True)
class Item:
    """One notification in a message: its text, and the URL of its page."""

    title: str
    line: str
    url: str


@dataclass(frozen=True)
class Message:
    """A message with an id that is the same for each attempt. ``document`` is the JSON body for webhooks."""

    id: str
    title: str
    items: tuple[Item, ...]
    document: dict[str, Any]


memory_message_hook: Hook[[Delivery], Message] = Hook()  # True for the message of a memory change


def notification_message(id: str, events: Iterable[NotificationEvent], language: str) -> Message:
    """A message about one event, or a digest of several."""
    events = list(events)
    documents = [event_document(event) for event in events]
    with override(language):
        texts = [text_of(event) for event in events]
        items = tuple(Item(text.title, text.line, text.url) for text in texts)
        count = len(items)
        digest = ngettext("%(count)s notification", "%(count)s notifications", count) % {"count": count}
    if count == 1:
        document = {"type": f"notification.{events[0].kind}", "id": id, "data": documents[0]}
        return Message(id, items[0].title, items, document)
    document = {"type": "notification.digest", "id": id, "data": {"notifications": documents}}
    return Message(id, digest, items, document)


def test_message(id: str, language: str) -> Message:
    """The message that the test button sends."""
    with override(language):
        title, line = _("Test of Skillquay notifications"), _("Skillquay can send notifications here.")
    item = Item(title, line, absolute_url("/notifications/"))
    return Message(id, title, (item,), {"type": "notification.test", "id": id, "data": {}})
