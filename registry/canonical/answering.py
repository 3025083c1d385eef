"""What ``_canonical_<slug>`` means, and what is answered by it."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from registry.actors import Actor
from registry.models import Canonical, CanonicalUse, Skill, Version, Visibility
from registry.packages.problems import Said, gettext_noop, refuse
from registry.packages.versions import normalise

PREFIX = "_canonical_"
_HOLD = timedelta(seconds=60)
_PLACE = "${CLAUDE_SKILL_DIR}"

_PURGED = gettext_noop("its content was purged")
_PRIVATE = gettext_noop("its skill is no longer shown to everybody")
_HELD = gettext_noop("its version is held for review")
_YANKED = gettext_noop("its version was yanked")


def find(slug: str, actor: Actor) -> Skill | None:
    """The canonical skill of the slug, standing for its pinned version alone, if there is one to know of.

    Refuses as CANONICAL_UNAVAILABLE what cannot be answered at present: nothing else takes its place.
    """
    rows = Canonical.objects.exclude(digest="").select_related("skill", "version__skill__team")
    canonical = rows.filter(slug=slug).first()
    if canonical is None or not _is_known_to(canonical, actor):
        return None
    reason = trouble_of(canonical)
    if reason or canonical.version is None:
        raise refuse("CANONICAL_UNAVAILABLE", name=str(canonical), reason=reason or _PURGED)
    skill = canonical.version.skill
    skill.found_as = canonical
    return skill


def pinned(canonical: Canonical, named: str) -> Version:
    """The version that the canonical name means; ``named`` is "latest" or the pinned number itself."""
    version = canonical.version
    if version is None or (named != "latest" and normalise(named) != version.number):
        raise refuse("NOT_FOUND", what="version", name=f"{canonical}@{named[:80]}")
    return version


def trouble_of(canonical: Canonical) -> Said | None:
    """Why what was pinned cannot be answered at present."""
    version = canonical.version
    if version is None:
        return Said(_PURGED)
    if version.skill.seen_as == Visibility.PRIVATE:
        return Said(_PRIVATE)
    if version.is_held:
        return Said(_HELD)
    return Said(_YANKED) if version.yanked_at else None


def of_skill(skill: Skill) -> Canonical | None:
    """The canonical name that means this skill in some version."""
    return skill.canonicals.exclude(digest="").select_related("version__skill").order_by("pk").first()


def text_of(version: Version, place: str) -> str:
    """SKILL.md without front matter, for an agent; ``place`` is where the agent finds the files.

    No command in it is run and no argument put in: it may come from a stranger.
    """
    return f"Base directory for this skill: {place}\n\n{version.body.replace(_PLACE, place)}"


def note_use(skill: Skill, caller: str, kind: str) -> None:
    """Remembers who got a skill by its canonical name, so that a change can say whom it affects."""
    if skill.found_as is None:
        return
    now = timezone.now()
    mine = CanonicalUse.objects.filter(slug=skill.found_as.slug, caller=caller)
    change = {"count": F("count") + 1, "last_used_at": now, "last_kind": kind}
    if mine.filter(last_used_at__lte=now - _HOLD).update(**change) or mine.exists():
        return
    CanonicalUse.objects.get_or_create(
        slug=skill.found_as.slug,
        caller=caller,
        defaults={"count": 1, "last_used_at": now, "last_kind": kind},
    )


def _is_known_to(canonical: Canonical, actor: Actor) -> bool:
    """A site's canonical names are no secret within it; strangers know those of public skills."""
    return actor.is_signed_in or bool(canonical.skill and canonical.skill.seen_as == Visibility.PUBLIC)
