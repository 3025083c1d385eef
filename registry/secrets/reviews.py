"""Reviews of versions by teams. Grants for reviewed versions apply only to versions that the team has
reviewed.
"""

from django.db import transaction
from django.utils import timezone

from registry.additions.additions import additions_from_document, additions_of
from registry.core.sql import Reads, reader
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may, require
from registry.models import Team, Version, VersionReview
from registry.secrets.errors import REVIEW_OWN


@reader
def find_review(version: Version, team: Team) -> Reads[VersionReview | None]:
    """The team's review of the version; None if the version has additions that are newer than the review."""
    yield (rows := version.reviews.filter(team=team).select_related("reviewer").order_by("pk")[:1])
    row = next(iter(rows), None)
    return row if row and _covers_additions(row, version) else None


def _covers_additions(row: VersionReview, version: Version) -> bool:
    return additions_of(version).is_covered_by(additions_from_document(row.additions))


def may_review(version: Version, team: Team, actor: Actor) -> bool:
    """Whether the actor may approve for the team, uses no token, and did not publish the version."""
    own = actor.user is not None and actor.user.pk == version.published_by_id
    return actor.token is None and may(actor, Action.APPROVE, team=team) and not own


@transaction.atomic
def review(version: Version, team: Team, actor: Actor) -> VersionReview:
    """Records the actor's review of the version for the team; returns an existing review that covers the
    version's additions.

    Raises NOT_FOUND or FORBIDDEN if the actor lacks permission, and REVIEW_OWN for the publisher.
    """
    require(actor, Action.SEE, skill=version.skill)
    require(actor, Action.APPROVE, team=team)
    if not may_review(version, team, actor):
        raise REVIEW_OWN.refusal(version=str(version))
    additions = additions_of(version).document()
    given = {"reviewer": actor.user, "reviewed_at": timezone.now(), "additions": additions}
    row, created = VersionReview.objects.get_or_create(version=version, team=team, defaults=given)
    outdated = not _covers_additions(row, version)
    if outdated:
        for name, value in given.items():
            setattr(row, name, value)
        row.save(update_fields=list(given))
    if created or outdated:
        audit.record(actor, "version.review", str(version), team=team)
    return row


@transaction.atomic
def withdraw_review(version: Version, team: Team, actor: Actor) -> None:
    """Deletes the team's review, if any, so that grants for reviewed versions no longer apply to this
    version. Raises FORBIDDEN unless the actor may approve for the team.
    """
    require(actor, Action.APPROVE, team=team)
    if version.reviews.filter(team=team).delete()[0]:
        audit.record(actor, "version.review.withdraw", str(version), team=team)
