"""Whom an agent's prompt is open to besides its own teams: teams subscribed to, and bundled skills."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from registry import audit, bulk, catalog
from registry.actors import Actor
from registry.models import Skill, Subscription, Team
from registry.packages.problems import refuse
from registry.permissions import Action, may, require


def subscriptions_of(team: Team, actor: Actor) -> QuerySet[Subscription]:
    """Those of the team, for whoever is on it."""
    if team.pk not in actor.team_ids and not may(actor, Action.SETTINGS, team=team):
        raise refuse("FORBIDDEN", action="see subscriptions")
    return team.subscriptions.select_related("publisher").order_by("publisher__slug")


@transaction.atomic
def subscribe(team: Team, publisher: str, by: Actor) -> Subscription:
    """From now on the team's agents are offered what that team shows; done again it changes nothing."""
    require(by, Action.SETTINGS, team=team)
    other = catalog.find_team(publisher, by)
    if other.pk == team.pk:
        raise refuse("SUBSCRIPTION_TO_ITSELF", path="team", team=team.slug)
    subscription, created = Subscription.objects.get_or_create(team=team, publisher=other)
    if created:
        audit.record(by, "subscription.add", other.slug, team=team)
    return subscription


@transaction.atomic
def unsubscribe(team: Team, publisher: str, by: Actor) -> None:
    require(by, Action.SETTINGS, team=team)
    gone, _ = team.subscriptions.filter(publisher__slug=publisher).delete()
    if not gone:
        raise refuse("NOT_FOUND", what="subscription", name=publisher[:80])
    audit.record(by, "subscription.remove", publisher, team=team)


@transaction.atomic
def set_bundled(skill: Skill, is_bundled: bool, by: Actor) -> None:
    """Offers the skill to everybody who may see it, never cut, whatever its next version says; or no more."""
    require(by, Action.SET_CANONICAL, skill=skill)
    if skill.is_bundled == is_bundled:
        return
    skill.is_bundled = is_bundled
    skill.save(update_fields=["is_bundled", "updated_at"])
    audit.record(by, "skill.bundle" if is_bundled else "skill.unbundle", str(skill), team=skill.team)


def trusted_teams(actor: Actor) -> frozenset[int]:
    """Whose every version may write into the actor's prompts: their own teams and those subscribed to."""
    own = sorted(actor.team_ids)
    sql = f"SELECT publisher_id FROM registry_subscription WHERE team_id IN ({bulk.places(own)})"
    return actor.team_ids.union(key for (key,) in bulk.read(sql, own)) if own else actor.team_ids
