"""Sends the site's own events to a team. These events propose the team's skills but never start them."""

import logging
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from registry.events.receive import MAX_MATCHES, is_above_rate
from registry.models import Event, EventMatch, EventOutcome, Skill, Team, Trigger, TriggerKind

log = logging.getLogger(__name__)


def announce(type_: str, payload: Mapping[str, Any], *, team: Team, origin: str, id_: str) -> bool:
    """Stores the event in the caller's transaction, and proposes the team's skills that declare its type.

    Returns False and stores nothing if ``origin`` exceeds its rate of events. The event starts no skill, even
    if the team subscribed to its type: a failing run could otherwise restart itself endlessly.
    """
    if is_above_rate(origin):
        log.warning("Event %s %s was not sent: too many events from %s", type_, id_, origin)
        return False
    event = Event.objects.create(
        team=team,
        type=type_,
        payload=dict(payload),
        origin=origin,
        external_id=id_,
        received_at=timezone.now(),
    )
    declaring = Trigger.objects.filter(kind=TriggerKind.EVENT, key=type_).values("skill")
    skills = Skill.objects.filter(pk__in=declaring, team=team, latest__isnull=False).select_related("latest")
    EventMatch.objects.bulk_create(
        EventMatch(
            event=event,
            skill=skill,
            rank=rank,
            outcome=EventOutcome.PROPOSED,
            version_number=skill.latest.number if skill.latest else "",
        )
        for rank, skill in enumerate(skills.order_by("slug")[:MAX_MATCHES])
    )
    return True
