"""Finds canonical skills by name (``_canonical_<slug>``) and records their use."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import F, QuerySet
from django.utils import timezone

from registry.batched_writes import Batch
from registry.changes import drafts
from registry.core.errors import NOT_FOUND
from registry.core.sql import prepared
from registry.identity.actors import Actor
from registry.lookup.errors import CANONICAL_UNAVAILABLE
from registry.models import Canonical, CanonicalUse, Skill, Version, Visibility
from registry.packages.problems import LazyMessage, gettext_noop
from registry.packages.version_numbers import normalise

PREFIX = "_canonical_"
_DEDUPE_WINDOW = timedelta(seconds=60)
_SKILL_DIR_VARIABLE = "${CLAUDE_SKILL_DIR}"

_PURGED = gettext_noop("its content was purged")
_PRIVATE = gettext_noop("the skill that it points to is now visible only to that skill's team")
_HELD = gettext_noop("its version is held for review")
_YANKED = gettext_noop("its version was yanked")


def find_by_slug(slug: str, actor: Actor) -> Skill | None:
    """The canonical skill for the slug, with ``resolved_canonical`` set. None if there is none or the actor
    may not see the name.

    Raises CANONICAL_UNAVAILABLE if the pinned version is purged, private, held or yanked, instead of
    returning another version.
    """
    rows = Canonical.objects.exclude(digest="").select_related("skill", "version__skill__team")
    canonical = rows.filter(slug=slug).first()
    if canonical:
        drafts.depend_on_skill(canonical.skill)
        drafts.depend_on_skill(canonical.version.skill if canonical.version else None)
    if canonical is None or not _is_visible_to(canonical, actor):
        return None
    reason = unavailable_reason(canonical)
    if reason or canonical.version is None:
        raise CANONICAL_UNAVAILABLE.refusal(name=str(canonical), reason=reason or _PURGED)
    skill = canonical.version.skill
    skill.resolved_canonical = canonical
    return skill


def pinned_version(canonical: Canonical, requested: str) -> Version:
    """The pinned version. Raises NOT_FOUND if the version was purged, or if ``requested`` is neither "latest"
    nor its number.
    """
    version = canonical.version
    if version is None or (requested != "latest" and normalise(requested) != version.number):
        raise NOT_FOUND.refusal(what="version", name=f"{canonical}@{requested[:80]}")
    return version


def unavailable_reason(canonical: Canonical) -> LazyMessage | None:
    """The reason why the pinned version can't be used at present, or None if it can be used."""
    version = canonical.version
    if version is None:
        return LazyMessage(_PURGED)
    if version.skill.effective_visibility == Visibility.PRIVATE:
        return LazyMessage(_PRIVATE)
    if version.is_held:
        return LazyMessage(_HELD)
    return LazyMessage(_YANKED) if version.yanked_at else None


@prepared
def canonicals_of(skill_id: int) -> QuerySet[Canonical]:
    """The canonical names that are pinned to versions of the skill, the oldest first."""
    return Canonical.objects.filter(skill_id=skill_id).exclude(digest="").order_by("pk")


def canonical_for_skill(skill: Skill) -> Canonical | None:
    """The oldest canonical name that is pinned to a version of this skill, or None."""
    # Few skills have one: joins to its version would cost every other skill more than the query.
    return next(iter(canonicals_of(skill.pk)), None)


def instructions_text(version: Version, folder: str) -> str:
    """A line with the base directory, then SKILL.md without front matter, for an agent. ``folder``, the path
    or URL of the skill's files, replaces ``${CLAUDE_SKILL_DIR}``.

    Commands in the text are not run and arguments are not inserted, because the text can come from an
    untrusted team.
    """
    return f"Base directory for this skill: {folder}\n\n{version.body.replace(_SKILL_DIR_VARIABLE, folder)}"


def record_canonical_use(skill: Skill, caller: str, kind: str) -> None:
    """Counts a use of the canonical name by which the skill was found, at most one per name, caller and
    minute. Does nothing for a skill found in another way.

    The preview of a new pin lists the callers.
    """
    if skill.resolved_canonical:
        _write_uses({(skill.resolved_canonical.slug, caller): (kind, timezone.now())})


def note_canonical_use(slug: str, caller: str, kind: str) -> None:
    """Counts a use of the canonical name. A web process writes the count in batches within a second, not in
    this call.
    """
    _uses.add((slug, caller), (kind, timezone.now()))


def _write_uses(uses: Mapping[tuple[str, str], tuple[str, datetime]]) -> None:
    """Counts the uses by name and caller, each at most once per minute. The values are the kind and time of
    a use.
    """
    for (slug, caller), (kind, at) in sorted(uses.items()):
        use = CanonicalUse.objects.filter(slug=slug, caller=caller)
        change = {"count": F("count") + 1, "last_used_at": at, "last_kind": kind}
        recent = use.values_list("last_used_at", flat=True).first()
        if recent is None:
            CanonicalUse.objects.get_or_create(
                slug=slug, caller=caller, defaults={"count": 1, "last_used_at": at, "last_kind": kind}
            )
        elif recent <= at - _DEDUPE_WINDOW:
            use.filter(last_used_at__lte=at - _DEDUPE_WINDOW).update(**change)


def _is_visible_to(canonical: Canonical, actor: Actor) -> bool:
    """Whether the actor may see the name. Anonymous users see only names of public skills."""
    return actor.is_signed_in or bool(
        canonical.skill and canonical.skill.effective_visibility == Visibility.PUBLIC
    )


_uses: Batch[tuple[str, str], tuple[str, datetime]] = Batch(_write_uses)
