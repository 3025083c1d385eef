"""Event subscriptions of teams: they set whether an event type starts or only proposes a skill."""

from django.db import transaction
from django.db.models import QuerySet

from registry.core.errors import NOT_FOUND
from registry.events.errors import EVENT_UNDECLARED
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import EventMode, EventSubscription, Skill, Team, TriggerKind


def subscriptions(actor: Actor) -> QuerySet[EventSubscription]:
    rows = EventSubscription.objects.visible_to(actor)
    return rows.select_related("team", "skill__team", "set_by").order_by("team__slug", "event_type", "pk")


def find_subscription(uid: str, actor: Actor) -> EventSubscription:
    found = subscriptions(actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="event subscription", name=uid[:80])
    return found


def subscribe(team: Team, skill: Skill, event_type: str, mode: str, *, actor: Actor) -> EventSubscription:
    """Saves ``mode``: whether events of this type start the skill for the team or only propose it. Raises the
    refusals of ``require``, EVENT_UNDECLARED if the skill does not declare the type, and ValueError for an
    unknown mode.
    """
    require(actor, Action.EVENTS, team=team)
    known = declared_event_types(skill)
    if event_type not in known:
        types = tuple(known) or "-"
        raise EVENT_UNDECLARED.refusal(skill=str(skill), type=event_type[:80], known=types).at("event_type")
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


def starts_run(team: Team, skill: Skill, event_type: str) -> bool:
    rows = EventSubscription.objects.filter(team=team, skill=skill, event_type=event_type)
    return rows.filter(mode=EventMode.START).exists()


def declared_event_types(skill: Skill) -> list[str]:
    """The event types that the skill's latest version declares, in alphabetical order."""
    rows = skill.triggers.filter(kind=TriggerKind.EVENT).order_by("text")
    return list(rows.values_list("text", flat=True))
