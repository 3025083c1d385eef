"""Versions that somebody of a team has read: what a grant for reviewed versions alone goes by."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.models import Team, Version, VersionReview
from registry.packages.problems import refuse
from registry.permissions import Action, may, require


def reviewed_by(version: Version, team: Team) -> VersionReview | None:
    return version.reviews.filter(team=team).select_related("reviewer").first()


def may_review(version: Version, team: Team, actor: Actor) -> bool:
    """Who approves for the team, in person, and did not publish it."""
    own = actor.user is not None and actor.user.pk == version.published_by_id
    return actor.token is None and may(actor, Action.APPROVE, team=team) and not own


@transaction.atomic
def review(version: Version, team: Team, actor: Actor) -> VersionReview:
    """Vouches for the version in this team; a second time changes nothing."""
    require(actor, Action.SEE, skill=version.skill)
    require(actor, Action.APPROVE, team=team)
    if not may_review(version, team, actor):
        raise refuse("REVIEW_OWN", version=str(version))
    row, created = VersionReview.objects.get_or_create(
        version=version, team=team, defaults={"reviewer": actor.user, "reviewed_at": timezone.now()}
    )
    if created:
        audit.record(actor, "version.review", str(version), team=team)
    return row


@transaction.atomic
def withdraw_review(version: Version, team: Team, actor: Actor) -> None:
    """What was granted to reviewed versions is not given to this one any more."""
    require(actor, Action.APPROVE, team=team)
    if version.reviews.filter(team=team).delete()[0]:
        audit.record(actor, "version.review.withdraw", str(version), team=team)
