"""Resolves, reopens and assigns error groups."""

from django.db import transaction
from django.utils import timezone

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Membership, User
from registry.packages.version_numbers import normalise
from worker.failures.errors import ERROR_GROUP_ASSIGNEE_INVALID, ERROR_GROUP_VERSION_INVALID
from worker.models import ErrorGroup, ErrorGroupState


def resolve(group: ErrorGroup, version: str, actor: Actor) -> None:
    """Marks the group as resolved in ``version``, with an audit entry. A later failure of this or a newer
    version marks the group as regressed.

    The version need not exist yet. Raises ERROR_GROUP_VERSION_INVALID if it is not a version number, and the
    refusals of ``require``.
    """
    require(actor, Action.RELEASE, skill=group.skill)
    number = normalise(version.strip()[:64])
    if number is None:
        raise ERROR_GROUP_VERSION_INVALID.refusal(version=version[:64]).at("resolved_in")
    with transaction.atomic():
        ErrorGroup.objects.filter(pk=group.pk).update(
            state=ErrorGroupState.RESOLVED,
            resolved_in=number,
            resolved_at=timezone.now(),
            resolved_by=actor.user,
            regressed_at=None,
        )
        audit.record(
            actor,
            "error_group.resolve",
            str(group.skill),
            team=group.skill.team,
            error_group=group.uid,
            version=number,
        )


def reopen(group: ErrorGroup, actor: Actor) -> None:
    """Marks the group as open again, with an audit entry. Raises the refusals of ``require``."""
    require(actor, Action.RELEASE, skill=group.skill)
    with transaction.atomic():
        ErrorGroup.objects.filter(pk=group.pk).update(
            state=ErrorGroupState.OPEN, resolved_in="", resolved_at=None, resolved_by=None, regressed_at=None
        )
        audit.record(
            actor, "error_group.reopen", str(group.skill), team=group.skill.team, error_group=group.uid
        )


def assign(group: ErrorGroup, username: str, actor: Actor) -> None:
    """Assigns the group to an active member of the skill's team, or with "" to no one. Writes an audit entry.

    Raises ERROR_GROUP_ASSIGNEE_INVALID if the user is not an active member, and the refusals of ``require``.
    """
    require(actor, Action.RELEASE, skill=group.skill)
    team, user = group.skill.team, None
    if username:
        members = Membership.objects.filter(team=team).values("user")
        user = User.objects.filter(pk__in=members, username=username, is_active=True).first()
        if user is None:
            raise ERROR_GROUP_ASSIGNEE_INVALID.refusal(user=username[:80], team=team.slug).at("assigned_to")
    with transaction.atomic():
        ErrorGroup.objects.filter(pk=group.pk).update(assigned_to=user)
        audit.record(
            actor, "error_group.assign", str(group.skill), team=team, error_group=group.uid, user=username
        )
