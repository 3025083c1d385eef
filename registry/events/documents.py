from django.utils.translation import gettext

from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Event, EventMatch
from registry.packages.problems import Problem


def visible_matches(event: Event, actor: Actor) -> list[EventMatch]:
    """The event's matches with skills visible to the actor, sorted by rank."""
    rows = EventMatch.objects.visible_to(actor).filter(event=event)
    return list(rows.select_related("skill__team", "skill__latest").order_by("rank", "pk"))


def may_read_payload(event: Event, actor: Actor) -> bool:
    """Whether the actor may read the payload. This requires the right to run skills for the event's team,
    because such runs get the payload as input.
    """
    return may(actor, Action.RUN, team=event.team)


def match_problems(match: EventMatch) -> list[dict[str, object]]:
    return [Problem(**row).document(gettext) for row in match.problems]
