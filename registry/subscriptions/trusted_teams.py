"""Subscribes teams to other teams and bundles skills. Both determine the skills that are recommended to
agents.
"""

from django.db import transaction
from django.db.models import QuerySet

from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, reader
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, may, require
from registry.lookup import skills
from registry.models import Skill, Subscription, Team
from registry.subscriptions import sql
from registry.subscriptions.errors import SUBSCRIPTION_TO_ITSELF


def list_subscriptions(team: Team, actor: Actor) -> QuerySet[Subscription]:
    """The team's subscriptions, sorted by publisher slug. Raises FORBIDDEN unless the actor is a member of
    the team or may change its settings.
    """
    if team.pk not in actor.team_ids and not may(actor, Action.SETTINGS, team=team, even_archived=True):
        raise FORBIDDEN.refusal(action="see subscriptions")
    return team.subscriptions.select_related("publisher").order_by("publisher__slug")


@transaction.atomic
def subscribe(team: Team, publisher: str, by: Actor) -> Subscription:
    """Subscribes the team to the skills of ``publisher``, a team slug; returns the existing subscription if
    there is one. Raises the refusals of ``require``, NOT_FOUND for an unknown publisher, and
    SUBSCRIPTION_TO_ITSELF for the team itself.
    """
    require(by, Action.SETTINGS, team=team)
    other = skills.find_team(publisher, by)
    if other.pk == team.pk:
        raise SUBSCRIPTION_TO_ITSELF.refusal(team=team.slug).at("team")
    subscription, created = Subscription.objects.get_or_create(team=team, publisher=other)
    if created:
        audit.record(by, "subscription.add", other.slug, team=team)
    return subscription


@transaction.atomic
def unsubscribe(team: Team, publisher: str, by: Actor) -> None:
    require(by, Action.SETTINGS, team=team)
    deleted, _ = team.subscriptions.filter(publisher__slug=publisher).delete()
    if not deleted:
        raise NOT_FOUND.refusal(what="subscription", name=publisher[:80])
    audit.record(by, "subscription.remove", publisher, team=team)


@transaction.atomic
def set_bundled(skill: Skill, is_bundled: bool, by: Actor) -> None:
    """Sets whether agent listings always include the skill, in full, for all users with access to it. Raises
    Refusal unless the actor has administrator rights.
    """
    require(by, Action.SET_CANONICAL, skill=skill)
    if skill.is_bundled == is_bundled:
        return
    skill.is_bundled = is_bundled
    skill.save(update_fields=["is_bundled", "updated_at"])
    audit.record(by, "skill.bundle" if is_bundled else "skill.unbundle", str(skill), team=skill.team)


@reader
def trusted_team_ids(actor: Actor) -> Reads[frozenset[int]]:
    """Ids of the actor's teams and of the teams to which they subscribe. Prompts may include texts of these
    teams.
    """
    yield (publishers := sql.publisher_rows(sorted(actor.team_ids)))
    return actor.team_ids.union(publisher for (publisher,) in publishers)
