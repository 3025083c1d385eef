"""Changes that administrators make: set, mirror, accept, reject or unset a canonical skill."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.canonical import pinned_postings
from registry.canonical.errors import CANONICAL_MOVED, CANONICAL_NO_PROPOSAL
from registry.canonical.proposals import LATEST, pending_version, require_pinnable
from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may, require
from registry.imports import queue, sources
from registry.imports.report import load_problems
from registry.lookup.canonical import PREFIX
from registry.models import (
    Canonical,
    CanonicalChange,
    CanonicalChangeKind,
    Import,
    ImportOutcome,
    ImportStatus,
    Skill,
    Source,
    SourceKind,
    Team,
    Version,
    Visibility,
)
from registry.packages.problems import Problem, Refusal
from registry.versions.errors import SKILL_EXISTS
from registry.versions.lifecycle.channels import check_channel

MIRROR_INTERVAL_S = 86_400
_MAX_REFUSED_ROWS = 5  # problems of refused import rows shown for a mirror


@transaction.atomic
def set_canonical(
    slug: str, version: Version, actor: Actor, *, reason: str, tracked_channel: str = LATEST, digest: str = ""
) -> Canonical:
    """Pins ``_canonical_<slug>`` to this version and its digest.

    ``tracked_channel`` is the channel whose newer versions are proposed, or "". Raises CANONICAL_MOVED if
    ``digest`` is given and the version has another one.
    """
    require(actor, Action.SET_CANONICAL, skill=version.skill)
    reason = _validated_reason(reason)
    require_pinnable(slug, version)
    if tracked_channel not in ("", LATEST):
        check_channel(tracked_channel)
    _require_digest(version, digest or version.digest)
    canonical = _lock_or_create(slug)
    if canonical.mirror_id != version.skill.origin_id:
        canonical.mirror = None
    canonical.tracked_channel = tracked_channel
    _pin(canonical, version, actor, CanonicalChangeKind.SET, reason)
    return canonical


@transaction.atomic
def mirror(
    slug: str,
    actor: Actor,
    *,
    team: Team,
    location: str,
    reason: str,
    options: Mapping[str, object] | None = None,
    interval_s: int | None = MIRROR_INTERVAL_S,
) -> Canonical:
    """Makes the canonical skill a copy of the skill at a URL, owned by a team and refreshed regularly.

    An administrator must accept each copy, including the first, before it is used.
    """
    require(actor, Action.SET_CANONICAL)
    slug, reason = text.validated_slug(slug), _validated_reason(reason)
    source = sources.prepare_source(actor, team=team, kind=SourceKind.URL, location=location, options=options)
    existing = Skill.objects.filter(team=team, slug=slug).first()
    if existing and (source.pk is None or existing.origin_id != source.pk):
        raise SKILL_EXISTS.refusal(skill=str(existing)).at("team")
    source = sources.save_source(source, actor, visibility=Visibility.SITE, interval_s=interval_s)
    canonical = _lock_or_create(slug)
    canonical.mirror, canonical.tracked_channel = source, LATEST
    canonical.save()
    _record(canonical, actor, CanonicalChangeKind.MIRRORED, reason, before=_pinned_label(canonical))
    if not source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING]).exists():
        queue.request_import(source, actor)
    return canonical


@transaction.atomic
def accept(slug: str, actor: Actor, *, digest: str, reason: str = "") -> Canonical:
    """Pins the pending version. Raises CANONICAL_MOVED unless ``digest`` is the digest of that version."""
    canonical, version = _require_pending(slug, actor)
    _require_digest(version, digest)
    require_pinnable(version.skill.slug, version)
    _pin(canonical, version, actor, CanonicalChangeKind.ACCEPTED, _validated_reason(reason, allow_blank=True))
    return canonical


@transaction.atomic
def reject(slug: str, actor: Actor, *, digest: str, reason: str) -> Canonical:
    """Stops proposing the pending version. Raises CANONICAL_MOVED unless ``digest`` is its digest."""
    canonical, version = _require_pending(slug, actor)
    _require_digest(version, digest)
    canonical.rejected_digest = version.digest
    canonical.save()
    _record(
        canonical,
        actor,
        CanonicalChangeKind.REJECTED,
        _validated_reason(reason),
        before=_pinned_label(canonical),
        after=(str(version), version.digest),
    )
    return canonical


@transaction.atomic
def unset(slug: str, actor: Actor, *, reason: str) -> None:
    """Removes the name. The skill stays; a mirror is no longer refreshed."""
    require(actor, Action.SET_CANONICAL)
    reason = _validated_reason(reason)
    canonical = _find(slug)
    _record(canonical, actor, CanonicalChangeKind.UNSET, reason, before=_pinned_label(canonical))
    if canonical.mirror_id:
        Source.objects.filter(pk=canonical.mirror_id).update(interval_s=None, next_at=None)
    canonical.delete()
    pinned_postings.delete_unpinned()


def may_set(actor: Actor) -> bool:
    return may(actor, Action.SET_CANONICAL)


def require_may_set(slug: str, actor: Actor) -> None:
    """Raises NOT_FOUND if the actor may not see the name, otherwise FORBIDDEN unless they may set it."""
    if not may_set(actor):
        find_canonical(slug, actor)
        require(actor, Action.SET_CANONICAL)


def history(slug: str) -> QuerySet[CanonicalChange]:
    """Every change of the name, newest first, even if the name was removed."""
    return CanonicalChange.objects.filter(slug=slug).select_related("by").order_by("-pk")


def last_import(canonical: Canonical) -> Import | None:
    return canonical.mirror.imports.order_by("-pk").first() if canonical.mirror else None


def mirror_problems(report: Import) -> tuple[Problem, ...]:
    refused = report.rows.filter(outcome=ImportOutcome.REFUSED).order_by("pk")[:_MAX_REFUSED_ROWS]
    return (*load_problems(report), *(problem for row in refused for problem in load_problems(row)))


def resolvable_by(actor: Actor) -> QuerySet[Canonical]:
    """The canonical names that the actor may see, with skill and version. Administrators see all."""
    rows = Canonical.objects.select_related("skill__team", "version__skill__team", "mirror__team")
    if not actor.is_administrator:
        visible = Skill.objects.resolvable_by(actor).exclude(visibility=Visibility.PRIVATE)
        rows = rows.exclude(digest="").filter(skill__in=visible)
    return rows.order_by("slug")


def find_canonical(slug: str, actor: Actor) -> Canonical:
    """The row of the name, with or without its prefix. Raises NOT_FOUND if the actor may not see the name."""
    canonical = resolvable_by(actor).filter(slug=slug.removeprefix(PREFIX)).first()
    if canonical is None:
        raise _not_found(slug)
    return canonical


def _require_pending(slug: str, actor: Actor) -> tuple[Canonical, Version]:
    require(actor, Action.SET_CANONICAL)
    canonical = _find(slug)
    version = pending_version(canonical)
    if version is None:
        raise CANONICAL_NO_PROPOSAL.refusal(name=str(canonical))
    return canonical, version


def _require_digest(version: Version, digest: str) -> None:
    if digest != version.digest:
        raise CANONICAL_MOVED.refusal(version=str(version), digest=version.digest).at("digest")


def _find(slug: str) -> Canonical:
    row = Canonical.objects.select_for_update().filter(slug=slug.removeprefix(PREFIX)).first()
    if row is None:
        raise _not_found(slug)
    return row


def _not_found(slug: str) -> Refusal:
    return NOT_FOUND.refusal(what="canonical skill", name=slug[:80])


def _lock_or_create(slug: str) -> Canonical:
    Canonical.objects.get_or_create(slug=slug)
    return _find(slug)


def _pin(
    canonical: Canonical, version: Version, actor: Actor, change: CanonicalChangeKind, reason: str
) -> None:
    before = _pinned_label(canonical)
    canonical.skill, canonical.version = version.skill, version
    canonical.number, canonical.digest = version.number, version.digest
    canonical.rejected_digest, canonical.set_at = "", timezone.now()
    canonical.save()
    pinned_postings.index(canonical)
    _record(canonical, actor, change, reason, before=before, after=_pinned_label(canonical))


def _pinned_label(canonical: Canonical) -> tuple[str, str]:
    """Label and digest of the pinned version; two empty texts if none is pinned."""
    if not canonical.digest:
        return "", ""
    return f"{canonical.skill}@{canonical.number}", canonical.digest


def _record(
    canonical: Canonical,
    actor: Actor,
    change: CanonicalChangeKind,
    reason: str,
    *,
    before: tuple[str, str],
    after: tuple[str, str] = ("", ""),
) -> None:
    CanonicalChange.objects.create(
        slug=canonical.slug,
        by=actor.user,
        change=change,
        before=before[0],
        before_digest=before[1],
        after=after[0],
        after_digest=after[1],
        reason=reason,
    )
    team = canonical.skill.team if canonical.skill else canonical.mirror.team if canonical.mirror else None
    audit.record(
        actor,
        f"canonical.{change}",
        str(canonical),
        team=team,
        before=before[0],
        after=after[0],
        reason=reason,
    )


def _validated_reason(reason: str, *, allow_blank: bool = False) -> str:
    return text.validated(reason, field="reason", max_length=500, allow_blank=allow_blank)
