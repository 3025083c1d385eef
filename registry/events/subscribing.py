"""What a team says of a skill that declares an event's type: that it is started, or only proposed."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from registry import audit
from registry.actors import Actor
from registry.models import EventMode, EventSubscription, Skill, Team, TriggerKind
from registry.packages.problems import refuse
from registry.permissions import Action, require


def subscriptions(actor: Actor) -> QuerySet[EventSubscription]:
    rows = EventSubscription.objects.visible_to(actor)
    return rows.select_related("team", "skill__team", "set_by").order_by("team__slug", "event_type", "pk")


def find(uid: str, actor: Actor) -> EventSubscription:
    found = subscriptions(actor).filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="event subscription", name=uid[:80])
    return found


def subscribe(team: Team, skill: Skill, event_type: str, mode: str, *, actor: Actor) -> EventSubscription:
    """Says it, or says it otherwise than before; only of types that the skill declares."""
    require(actor, Action.EVENTS, team=team)
    known = declared(skill)
    if event_type not in known:
        said = ", ".join(known) or "-"
        raise refuse(
            "EVENT_UNDECLARED", path="event_type", skill=str(skill), type=event_type[:80], known=said
        )
    with transaction.atomic():
        found, _ = EventSubscription.objects.update_or_create(
            team=team,
            skill=skill,
            event_type=event_type,
            defaults={"mode": EventMode(mode), "set_by": actor.user},
        )
        audit.record(actor, "event.subscribe", str(skill), team=team, type=event_type, mode=mode)
    return found


def unsubscribe(subscription: EventSubscription, actor: Actor) -> None:
    require(actor, Action.EVENTS, team=subscription.team)
    with transaction.atomic():
        subscription.delete()
        skill, type_ = str(subscription.skill), subscription.event_type
        audit.record(actor, "event.unsubscribe", skill, team=subscription.team, type=type_)


def is_started(team: Team, skill: Skill, event_type: str) -> bool:
    said = EventSubscription.objects.filter(team=team, skill=skill, event_type=event_type)
    return said.filter(mode=EventMode.START).exists()


def declared(skill: Skill) -> list[str]:
    """The event types that the skill's latest version declares."""
    rows = skill.triggers.filter(kind=TriggerKind.EVENT).order_by("text")
    return list(rows.values_list("text", flat=True))
