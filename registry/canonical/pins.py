"""Sets, mirrors, accepts, rejects and unsets canonical skills for administrators, and looks them up for
everyone.
"""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from registry.canonical import pinned_postings
from registry.canonical.errors import CANONICAL_MIRROR_NAME, CANONICAL_MOVED, CANONICAL_NO_PROPOSAL
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
_MAX_REFUSED_ROWS = 5  # refused import rows whose problems are shown for a mirror


@transaction.atomic
def set_canonical(
    slug: str, version: Version, actor: Actor, *, reason: str, tracked_channel: str = LATEST, digest: str = ""
) -> Canonical:
    """Pins ``_canonical_<slug>`` to this version and its digest. Unlinks a mirror that did not import the
    skill, and stops its refreshes.

    ``tracked_channel`` is the channel whose newer versions are proposed, or "" for none. Besides the refusals
    of ``require``, ``require_pinnable`` and ``check_channel``, raises TEXT_INVALID for the reason. Raises
    CANONICAL_MOVED if ``digest`` is given and is not the version's digest.
    """
    require(actor, Action.SET_CANONICAL, skill=version.skill)
    reason = _validated_reason(reason)
    require_pinnable(slug, version)
    if tracked_channel not in ("", LATEST):
        check_channel(tracked_channel)
    _require_digest(version, digest or version.digest)
    canonical = _lock_or_create(slug)
    if canonical.mirror_id != version.skill.origin_id:
        _stop_mirror(canonical)
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
    """Makes the canonical skill a copy, owned by ``team``, of the skill at the URL ``location``.

    Queues an import unless one is pending, and repeats it every ``interval_s`` seconds, or never if that is
    None. An administrator must accept each copy, including the first, before it is used.

    Raises the refusals of ``require``, ``prepare_source`` and ``save_source``, SLUG_INVALID, and TEXT_INVALID
    for the reason. Raises SKILL_EXISTS if the team has an unrelated skill with this slug.
    """
    require(actor, Action.SET_CANONICAL)
    slug, reason = text.validated_slug(slug), _validated_reason(reason)
    source = sources.prepare_source(actor, team=team, kind=SourceKind.URL, location=location, options=options)
    existing = Skill.objects.filter(team=team, slug=slug).first()
    if existing and (source.pk is None or existing.origin_id != source.pk):
        raise SKILL_EXISTS.refusal(skill=str(existing)).at("team")
    source = sources.save_source(source, actor, visibility=Visibility.SITE, interval_s=interval_s)
    canonical = _lock_or_create(slug)
    if canonical.mirror_id != source.pk:
        _stop_mirror(canonical)
    canonical.mirror, canonical.tracked_channel = source, LATEST
    canonical.save()
    _record(canonical, actor, CanonicalChangeKind.MIRRORED, reason, before=_pinned_label(canonical))
    if not source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING]).exists():
        queue.request_import(source, actor)
    return canonical


@transaction.atomic
def accept(slug: str, actor: Actor, *, digest: str, reason: str = "") -> Canonical:
    """Pins the pending version. Raises CANONICAL_NO_PROPOSAL if none is pending, and CANONICAL_MOVED unless
    ``digest`` is its digest.

    Other refusals: those of ``require`` and ``require_pinnable``, NOT_FOUND for the name, TEXT_INVALID for
    the reason.
    """
    canonical, version = _require_pending(slug, actor)
    _require_digest(version, digest)
    require_pinnable(version.skill.slug, version)
    _pin(canonical, version, actor, CanonicalChangeKind.ACCEPTED, _validated_reason(reason, allow_blank=True))
    return canonical


@transaction.atomic
def reject(slug: str, actor: Actor, *, digest: str, reason: str) -> Canonical:
    """Stops proposing the pending version until the channel points to another one.

    Raises CANONICAL_NO_PROPOSAL if none is pending, and CANONICAL_MOVED unless ``digest`` is its digest.
    Other refusals: those of ``require``, NOT_FOUND for the name, TEXT_INVALID for the reason.
    """
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
    """Removes the canonical name and its search rows. The skill and the history stay; a mirror is no longer
    refreshed. Raises FORBIDDEN, NOT_FOUND for the name, or TEXT_INVALID for the reason.
    """
    require(actor, Action.SET_CANONICAL)
    reason = _validated_reason(reason)
    canonical = _find(slug)
    _record(canonical, actor, CanonicalChangeKind.UNSET, reason, before=_pinned_label(canonical))
    _stop_mirror(canonical)
    canonical.delete()
    pinned_postings.delete_unpinned()


def may_set(actor: Actor) -> bool:
    return may(actor, Action.SET_CANONICAL)


def require_may_set(slug: str, actor: Actor) -> None:
    """Raises FORBIDDEN unless the actor may set canonical skills, or NOT_FOUND if the actor can't even see
    the name.
    """
    if not may_set(actor):
        find_canonical(slug, actor)
        require(actor, Action.SET_CANONICAL)


def history(slug: str) -> QuerySet[CanonicalChange]:
    """Changes of the canonical name, newest first, even if the name was removed since."""
    return CanonicalChange.objects.filter(slug=slug).select_related("by").order_by("-pk")


def last_import(canonical: Canonical) -> Import | None:
    return canonical.mirror.imports.order_by("-pk").first() if canonical.mirror else None


def mirror_problems(report: Import, slug: str) -> tuple[Problem, ...]:
    """The problems of the mirror's import, such as a skill whose slug is not ``slug``."""
    read = report.rows.filter(outcome__in=(ImportOutcome.PUBLISHED, ImportOutcome.UNCHANGED))
    labels = list(read.order_by("pk").values_list("skill", flat=True)[:_MAX_REFUSED_ROWS])
    if labels and slug not in {label.rpartition("/")[2] for label in labels}:
        return (CANONICAL_MIRROR_NAME.problem(skill=labels[0], slug=slug),)
    refused = report.rows.filter(outcome=ImportOutcome.REFUSED).order_by("pk")[:_MAX_REFUSED_ROWS]
    return (*load_problems(report), *(problem for row in refused for problem in load_problems(row)))


def resolvable_by(actor: Actor) -> QuerySet[Canonical]:
    """Canonical names that the actor may see, sorted by slug, with skill, version and mirror loaded. Only
    administrators see names without a pinned version.
    """
    rows = Canonical.objects.select_related("skill__team", "version__skill__team", "mirror__team")
    if not actor.is_administrator:
        visible = Skill.objects.resolvable_by(actor).exclude(visibility=Visibility.PRIVATE)
        rows = rows.exclude(digest="").filter(Exists(visible.filter(pk=OuterRef("skill"))))
    return rows.order_by("slug")


def find_canonical(slug: str, actor: Actor) -> Canonical:
    """The canonical skill with this slug, which may include the prefix. Raises NOT_FOUND if the actor may not
    see the skill.
    """
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


def _stop_mirror(canonical: Canonical) -> None:
    """Ends the scheduled imports of the mirror, if any, unless another canonical name has the same mirror."""
    others = Canonical.objects.filter(mirror=canonical.mirror_id).exclude(pk=canonical.pk)
    if canonical.mirror_id and not others.exists():
        Source.objects.filter(pk=canonical.mirror_id).update(interval_s=None, next_at=None)


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
