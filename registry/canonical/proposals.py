"""Pending changes of canonical skills, and previews of their effect."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from registry.canonical.errors import CANONICAL_PRIVATE, CANONICAL_SLUG, CANONICAL_YANKED
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup.errors import VERSION_HELD
from registry.models import (
    Canonical,
    CanonicalUse,
    ImportOutcome,
    ImportRow,
    Membership,
    Skill,
    User,
    Version,
    Visibility,
)
from registry.packages.compare.permission_set import PermissionSet, permissions_of
from registry.packages.compare.versions import Comparison
from registry.packages.manifest.manifest import manifest_of
from registry.versions.content.compare import compare_versions

LATEST = "latest"
_MAX_CALLERS = 1000  # callers listed per proposal


@dataclass(frozen=True)
class AffectedCaller:
    """A caller that used the skill by its canonical name."""

    caller: str  # the username, "anonymous" or "shell"
    teams: tuple[str, ...]  # current teams of the user
    count: int
    last_kind: str
    last_used_at: datetime


@dataclass(frozen=True)
class Proposal:
    """The effect of a change: the version before and after, and the affected callers."""

    slug: str
    before: Version | None  # None if nothing is pinned or the pinned version was purged
    after: Version
    comparison: Comparison | None
    affected: tuple[AffectedCaller, ...]

    @property
    def digest(self) -> str:
        return self.after.digest

    @property
    def added_permissions(self) -> PermissionSet:
        """The permissions that the new version adds; all of its permissions if there is no old version."""
        if self.comparison:
            return self.comparison.added_permissions
        return permissions_of(manifest_of(self.after.manifest))


def preview_change(slug: str, after: Version, actor: Actor) -> Proposal:
    """The effect of pinning ``after``. Raises Refusal if the actor may not set canonical skills, or if the
    version can't be pinned.
    """
    require(actor, Action.SET_CANONICAL, skill=after.skill)
    require_pinnable(slug, after)
    canonical = Canonical.objects.filter(slug=slug).select_related("version__skill__team").first()
    return build_proposal(canonical or Canonical(slug=slug), after)


def build_proposal(canonical: Canonical, after: Version) -> Proposal:
    """The effect of pinning ``after``, without checking whether it can be pinned."""
    before = canonical.version
    comparison = compare_versions(before, after) if before else None
    return Proposal(canonical.slug, before, after, comparison, tuple(affected_callers(canonical.slug)))


def require_pinnable(slug: str, version: Version) -> None:
    """Raises CANONICAL_SLUG unless the skill has this slug or a redirect from it, and CANONICAL_PRIVATE for a
    private skill. Raises VERSION_HELD or CANONICAL_YANKED for a held or yanked version.
    """
    skill = version.skill
    if skill.slug != slug and not skill.redirects.filter(slug=slug).exists():
        raise CANONICAL_SLUG.refusal(skill=str(skill), slug=slug).at("skill")
    if skill.effective_visibility == Visibility.PRIVATE:
        raise CANONICAL_PRIVATE.refusal(skill=str(skill)).at("skill")
    if version.is_held:
        raise VERSION_HELD.refusal(version=str(version)).at("version")
    if version.yanked_at:
        raise CANONICAL_YANKED.refusal(version=str(version), reason=version.yank_reason).at("version")


def pending_version(canonical: Canonical) -> Version | None:
    """The version on the tracked channel that is neither pinned nor rejected, or None. For a mirror that
    tracks `latest`, the version that its last import read.
    """
    skill = mirrored_skill(canonical) if canonical.mirror_id else canonical.skill
    if skill is None or not canonical.tracked_channel:
        return None
    usable = skill.versions.usable().select_related("skill__team")
    if canonical.tracked_channel != LATEST:
        usable = usable.filter(channels__skill=skill, channels__name=canonical.tracked_channel)
    elif canonical.mirror_id and (digest := _last_mirrored_digest(canonical, skill)):
        usable = usable.filter(digest=digest).order_by("-precedence")
    else:
        usable = usable.filter(skill__latest=F("pk"))
    return usable.exclude(digest__in=(canonical.digest, canonical.rejected_digest)).first()


def mirrored_skill(canonical: Canonical) -> Skill | None:
    """The skill with this slug that the mirror has imported, or None before its first import."""
    return Skill.objects.filter(origin=canonical.mirror_id, slug=canonical.slug).first()


def _last_mirrored_digest(canonical: Canonical, skill: Skill) -> str:
    read_outcomes = (ImportOutcome.PUBLISHED, ImportOutcome.UNCHANGED)
    rows = ImportRow.objects.filter(
        report__source=canonical.mirror_id, skill=str(skill), outcome__in=read_outcomes
    )
    return rows.order_by("-pk").values_list("digest", flat=True).first() or ""


def affected_callers(slug: str) -> Iterator[AffectedCaller]:
    """Yields at most ``_MAX_CALLERS`` callers of this name, most recent first."""
    uses = list(CanonicalUse.objects.filter(slug=slug).order_by("-last_used_at")[:_MAX_CALLERS])
    keys = {_user_of(use.caller) for use in uses} - {None}
    users = User.objects.in_bulk([key for key in keys if key is not None])
    teams = _teams(users)
    for use in uses:
        user = users.get(_user_of(use.caller) or 0)
        name = user.username if user else use.caller
        yield AffectedCaller(
            name, teams.get(user.pk, ()) if user else (), use.count, use.last_kind, use.last_used_at
        )


def _user_of(caller: str) -> int | None:
    """The user id in an ``Actor.caller`` key, or None."""
    kind, _, key = caller.partition(":")
    return int(key) if kind == "user" else None


def _teams(users: Mapping[int, User]) -> dict[int, tuple[str, ...]]:
    found: defaultdict[int, list[str]] = defaultdict(list)
    rows = Membership.objects.filter(user__in=users).order_by("team__slug")
    for user, team in rows.values_list("user_id", "team__slug"):
        found[user].append(team)
    return {user: tuple(slugs) for user, slugs in found.items()}
