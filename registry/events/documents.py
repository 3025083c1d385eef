"""An event as the JSON of commands and API."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext

from registry.actors import Actor
from registry.addresses import absolute
from registry.models import Event, EventMatch
from registry.moments import moment
from registry.packages.problems import Problem
from registry.permissions import Action, may


def event_document(event: Event, actor: Actor) -> dict[str, Any]:
    """The event with what it met, as far as the actor may see it; the payload for who may start that."""
    met = matches_of(event, actor)
    return {
        **event_summary(event),
        "payload": event.payload if may_read(event, actor) else None,
        "matches": [_match(each) for each in met],
    }


def event_summary(event: Event) -> dict[str, Any]:
    return {
        "id": event.uid,
        "event_id": event.given_id,
        "team": event.team.slug,
        "type": event.type,
        "received_at": moment(event.received_at),
        "sender": event.sender.username if event.sender else None,
        "webhook": event.webhook.name if event.webhook else None,
        "url": absolute(f"/api/v1/events/{event.uid}"),
        "page": absolute(f"/events/{event.uid}/"),
    }


def matches_of(event: Event, actor: Actor) -> list[EventMatch]:
    """What the event met, of what the actor may see, the first first."""
    rows = EventMatch.objects.visible_to(actor).filter(event=event)
    return list(rows.select_related("skill__team", "skill__latest").order_by("rank", "pk"))


def may_read(event: Event, actor: Actor) -> bool:
    """A payload becomes the input of what is started: who may start, reads it."""
    return may(actor, Action.RUN, team=event.team)


def problems_of(match: EventMatch) -> list[dict[str, object]]:
    return [Problem(**row).document(gettext) for row in match.problems]


def _match(found: EventMatch) -> dict[str, Any]:
    type_ = found.event.type
    return {
        "skill": str(found.skill),
        "version": found.version_number,
        "outcome": found.outcome,
        "run": found.run_uid or None,
        "run_url": absolute(f"/api/v1/runs/{quote(found.run_uid)}") if found.run_uid else None,
        "reasons": [
            {"kind": "event", "field": "event_types", "text": type_, "start": 0, "end": 0, "share": 1.0}
        ],
        "problems": problems_of(found),
    }
