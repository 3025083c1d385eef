"""What a change of a canonical skill would mean before it is made, and the changes that wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from registry.actors import Actor
from registry.comparing import compare_versions
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
from registry.packages.comparison import Comparison
from registry.packages.manifest import manifest_of
from registry.packages.permission_set import PermissionSet, permissions_of
from registry.packages.problems import refuse
from registry.permissions import Action, require

LATEST = "latest"
_MOST = 1000  # callers that are told of


@dataclass(frozen=True)
class Affected:
    """Somebody who got the skill by its canonical name."""

    caller: str  # the username, "anonymous" or "shell"
    teams: tuple[str, ...]  # on which they are now
    count: int
    last_kind: str
    last_used_at: datetime


@dataclass(frozen=True)
class Proposal:
    """What would be answered instead of what, to whom."""

    slug: str
    before: Version | None  # None: nothing is answered at present, or it was purged
    after: Version
    comparison: Comparison | None
    affected: tuple[Affected, ...]

    @property
    def digest(self) -> str:
        """What would be answered, to the byte."""
        return self.after.digest

    @property
    def asks_more(self) -> PermissionSet:
        """What the new one may do beyond the old."""
        if self.comparison:
            return self.comparison.asks_more
        return permissions_of(manifest_of(self.after.manifest))


def proposal(slug: str, after: Version, actor: Actor) -> Proposal:
    """What setting this version would mean; for administrators, who may set it."""
    require(actor, Action.SET_CANONICAL, skill=after.skill)
    check(slug, after)
    canonical = Canonical.objects.filter(slug=slug).select_related("version__skill__team").first()
    return proposed(canonical or Canonical(slug=slug), after)


def proposed(canonical: Canonical, after: Version) -> Proposal:
    """The same of what waits, whether or not it may be accepted at present."""
    before = canonical.version
    comparison = compare_versions(before, after) if before else None
    return Proposal(canonical.slug, before, after, comparison, tuple(affected(canonical.slug)))


def check(slug: str, version: Version) -> None:
    """Refuses what everybody could not be answered, and a skill that is called otherwise."""
    skill = version.skill
    if skill.slug != slug and not skill.redirects.filter(slug=slug).exists():
        raise refuse("CANONICAL_SLUG", path="skill", skill=str(skill), slug=slug)
    if skill.seen_as == Visibility.PRIVATE:
        raise refuse("CANONICAL_PRIVATE", path="skill", skill=str(skill))
    if version.is_held:
        raise refuse("VERSION_HELD", path="version", version=str(version))
    if version.yanked_at:
        raise refuse("CANONICAL_YANKED", path="version", version=str(version), reason=version.yank_reason)


def waiting(canonical: Canonical) -> Version | None:
    """The newer version that nobody has decided about yet; of a mirror what lies there, if older too."""
    skill = mirrored(canonical) if canonical.mirror_id else canonical.skill
    if skill is None or not canonical.follows:
        return None
    usable = skill.versions.usable().select_related("skill__team")
    if canonical.follows != LATEST:
        usable = usable.filter(channels__skill=skill, channels__name=canonical.follows)
    elif canonical.mirror_id and (digest := _read_last(canonical, skill)):
        usable = usable.filter(digest=digest).order_by("-precedence")
    else:
        usable = usable.filter(skill__latest=F("pk"))
    return usable.exclude(digest__in=(canonical.digest, canonical.rejected)).first()


def mirrored(canonical: Canonical) -> Skill | None:
    """The skill that the mirror has brought."""
    return Skill.objects.filter(origin=canonical.mirror_id, slug=canonical.slug).first()


def _read_last(canonical: Canonical, skill: Skill) -> str:
    """The digest of what the mirror held when it was read last; what is unchanged as a whole has no rows."""
    seen = (ImportOutcome.PUBLISHED, ImportOutcome.UNCHANGED)
    rows = ImportRow.objects.filter(report__source=canonical.mirror_id, skill=str(skill), outcome__in=seen)
    return rows.order_by("-pk").values_list("digest", flat=True).first() or ""


def affected(slug: str) -> Iterator[Affected]:
    """Who got it by this name, the latest first."""
    uses = list(CanonicalUse.objects.filter(slug=slug).order_by("-last_used_at")[:_MOST])
    keys = {_user_of(use.caller) for use in uses} - {None}
    users = User.objects.in_bulk([key for key in keys if key is not None])
    teams = _teams(users)
    for use in uses:
        user = users.get(_user_of(use.caller) or 0)
        name = user.username if user else use.caller
        yield Affected(
            name, teams.get(user.pk, ()) if user else (), use.count, use.last_kind, use.last_used_at
        )


def _user_of(caller: str) -> int | None:
    """The key of the user whom ``Actor.caller`` names."""
    kind, _, key = caller.partition(":")
    return int(key) if kind == "user" else None


def _teams(users: Mapping[int, User]) -> dict[int, tuple[str, ...]]:
    found: defaultdict[int, list[str]] = defaultdict(list)
    rows = Membership.objects.filter(user__in=users).order_by("team__slug")
    for user, team in rows.values_list("user_id", "team__slug"):
        found[user].append(team)
    return {user: tuple(slugs) for user, slugs in found.items()}
