"""Reviews of versions by teams. Grants for reviewed versions depend on them."""

from django.db import transaction
from django.utils import timezone

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may, require
from registry.models import Team, Version, VersionReview
from registry.secrets.errors import REVIEW_OWN


def find_review(version: Version, team: Team) -> VersionReview | None:
    return version.reviews.filter(team=team).select_related("reviewer").first()


def may_review(version: Version, team: Team, actor: Actor) -> bool:
    """Whether the actor may approve for the team, uses a session, and did not publish the version."""
    own = actor.user is not None and actor.user.pk == version.published_by_id
    return actor.token is None and may(actor, Action.APPROVE, team=team) and not own


@transaction.atomic
def review(version: Version, team: Team, actor: Actor) -> VersionReview:
    """Records that the actor has reviewed the version for the team. A second call changes nothing."""
    require(actor, Action.SEE, skill=version.skill)
    require(actor, Action.APPROVE, team=team)
    if not may_review(version, team, actor):
        raise REVIEW_OWN.refusal(version=str(version))
    row, created = VersionReview.objects.get_or_create(
        version=version, team=team, defaults={"reviewer": actor.user, "reviewed_at": timezone.now()}
    )
    if created:
        audit.record(actor, "version.review", str(version), team=team)
    return row


@transaction.atomic
def withdraw_review(version: Version, team: Team, actor: Actor) -> None:
    """Removes the team's review. Grants for reviewed versions then no longer apply to this version."""
    require(actor, Action.APPROVE, team=team)
    if version.reviews.filter(team=team).delete()[0]:
        audit.record(actor, "version.review.withdraw", str(version), team=team)
