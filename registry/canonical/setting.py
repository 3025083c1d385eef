"""Administrators' verbs: a canonical skill is set, mirrored, moved on, kept as it is, or unset."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry import audit, texts
from registry.actors import Actor
from registry.canonical import indexed
from registry.canonical.answering import PREFIX
from registry.canonical.proposing import LATEST, check, waiting
from registry.imports import queue, sources
from registry.imports.report import problems_of
from registry.models import (
    Canonical,
    CanonicalChange,
    CanonicalDeed,
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
from registry.packages.problems import Problem, Refused, refuse
from registry.permissions import Action, may, require
from registry.publishing.channels import check_channel

MIRRORED_EVERY_S = 86_400
_TOLD = 5  # refused rows of a mirror


@transaction.atomic
def set_canonical(
    slug: str, version: Version, actor: Actor, *, reason: str, follows: str = LATEST, digest: str = ""
) -> Canonical:
    """Lets ``_canonical_<slug>`` mean this version, to the byte, until an administrator moves it.

    ``follows``: the channel whose newer versions are proposed, "" for none. With ``digest`` it is refused
    unless the version is still what was looked at.
    """
    require(actor, Action.SET_CANONICAL, skill=version.skill)
    reason = _plain_reason(reason)
    check(slug, version)
    if follows not in ("", LATEST):
        check_channel(follows)
    _require_digest(version, digest or version.digest)
    canonical = _locked(slug)
    if canonical.mirror_id != version.skill.origin_id:
        canonical.mirror = None
    canonical.follows = follows
    _pin(canonical, version, actor, CanonicalDeed.SET, reason)
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
    interval_s: int | None = MIRRORED_EVERY_S,
) -> Canonical:
    """Lets the canonical skill be a copy of what lies at an address: kept by a team, refreshed by interval.

    What is read, the first time too, is answered only when an administrator has accepted it.
    """
    require(actor, Action.SET_CANONICAL)
    slug, reason = texts.slug(slug), _plain_reason(reason)
    source = sources.described(actor, team=team, kind=SourceKind.ADDRESS, location=location, options=options)
    there = Skill.objects.filter(team=team, slug=slug).first()
    if there and (source.pk is None or there.origin_id != source.pk):
        raise refuse("SKILL_EXISTS", path="team", skill=str(there))
    source = sources.keep(source, actor, visibility=Visibility.SITE, interval_s=interval_s)
    canonical = _locked(slug)
    canonical.mirror, canonical.follows = source, LATEST
    canonical.save()
    _record(canonical, actor, CanonicalDeed.MIRRORED, reason, before=_said(canonical))
    if not source.imports.filter(status__in=[ImportStatus.QUEUED, ImportStatus.RUNNING]).exists():
        queue.request(source, actor)
    return canonical


@transaction.atomic
def accept(slug: str, actor: Actor, *, digest: str, reason: str = "") -> Canonical:
    """Answers from now on what waits, if it is still what the administrator looked at."""
    canonical, version = _waiting(slug, actor)
    _require_digest(version, digest)
    check(version.skill.slug, version)
    _pin(canonical, version, actor, CanonicalDeed.ACCEPTED, _plain_reason(reason, may_be_empty=True))
    return canonical


@transaction.atomic
def reject(slug: str, actor: Actor, *, digest: str, reason: str) -> Canonical:
    """Goes on answering what is pinned; what waits is not proposed again."""
    canonical, version = _waiting(slug, actor)
    _require_digest(version, digest)
    canonical.rejected = version.digest
    canonical.save()
    _record(
        canonical,
        actor,
        CanonicalDeed.REJECTED,
        _plain_reason(reason),
        before=_said(canonical),
        after=(str(version), version.digest),
    )
    return canonical


@transaction.atomic
def unset(slug: str, actor: Actor, *, reason: str) -> None:
    """Takes the name away; skills stay what they are, a mirror is read no more by itself."""
    require(actor, Action.SET_CANONICAL)
    reason = _plain_reason(reason)
    canonical = _find(slug)
    _record(canonical, actor, CanonicalDeed.UNSET, reason, before=_said(canonical))
    if canonical.mirror_id:
        Source.objects.filter(pk=canonical.mirror_id).update(interval_s=None, next_at=None)
    canonical.delete()
    indexed.forget_unpinned()


def is_setter(actor: Actor) -> bool:
    return may(actor, Action.SET_CANONICAL)


def require_setter(slug: str, actor: Actor) -> None:
    """Refuses who may not set it: as NOT_FOUND where they do not know of it, else as FORBIDDEN."""
    if not is_setter(actor):
        find_canonical(slug, actor)
        require(actor, Action.SET_CANONICAL)


def history(slug: str) -> QuerySet[CanonicalChange]:
    """Every change, the latest first; of a name that was taken back, too."""
    return CanonicalChange.objects.filter(slug=slug).select_related("by").order_by("-pk")


def last_import(canonical: Canonical) -> Import | None:
    """How the mirror was read last."""
    return canonical.mirror.imports.order_by("-pk").first() if canonical.mirror else None


def mirror_problems(report: Import) -> tuple[Problem, ...]:
    """Why the mirror brought nothing or not all: said until it is read without them."""
    refused = report.rows.filter(outcome=ImportOutcome.REFUSED).order_by("pk")[:_TOLD]
    return (*problems_of(report), *(problem for row in refused for problem in problems_of(row)))


def known_to(actor: Actor) -> QuerySet[Canonical]:
    """The canonical names that the actor may know of, with what they mean; administrators know every one."""
    rows = Canonical.objects.select_related("skill__team", "version__skill__team", "mirror__team")
    if not actor.is_administrator:
        visible = Skill.objects.known_to(actor).exclude(visibility=Visibility.PRIVATE)
        rows = rows.exclude(digest="").filter(skill__in=visible)
    return rows.order_by("slug")


def find_canonical(slug: str, actor: Actor) -> Canonical:
    """The row of the name, with or without its prefix."""
    canonical = known_to(actor).filter(slug=slug.removeprefix(PREFIX)).first()
    if canonical is None:
        raise _absent(slug)
    return canonical


def _waiting(slug: str, actor: Actor) -> tuple[Canonical, Version]:
    require(actor, Action.SET_CANONICAL)
    canonical = _find(slug)
    version = waiting(canonical)
    if version is None:
        raise refuse("CANONICAL_NOTHING_WAITS", name=str(canonical))
    return canonical, version


def _require_digest(version: Version, digest: str) -> None:
    if digest != version.digest:
        raise refuse("CANONICAL_MOVED", path="digest", version=str(version), digest=version.digest)


def _find(slug: str) -> Canonical:
    row = Canonical.objects.select_for_update().filter(slug=slug.removeprefix(PREFIX)).first()
    if row is None:
        raise _absent(slug)
    return row


def _absent(slug: str) -> Refused:
    return refuse("NOT_FOUND", what="canonical skill", name=slug[:80])


def _locked(slug: str) -> Canonical:
    Canonical.objects.get_or_create(slug=slug)
    return _find(slug)


def _pin(canonical: Canonical, version: Version, actor: Actor, deed: CanonicalDeed, reason: str) -> None:
    before = _said(canonical)
    canonical.skill, canonical.version = version.skill, version
    canonical.number, canonical.digest = version.number, version.digest
    canonical.rejected, canonical.since = "", timezone.now()
    canonical.save()
    indexed.index(canonical)
    _record(canonical, actor, deed, reason, before=before, after=_said(canonical))


def _said(canonical: Canonical) -> tuple[str, str]:
    """What is pinned, by name and digest."""
    if not canonical.digest:
        return "", ""
    return f"{canonical.skill}@{canonical.number}", canonical.digest


def _record(
    canonical: Canonical,
    actor: Actor,
    deed: CanonicalDeed,
    reason: str,
    *,
    before: tuple[str, str],
    after: tuple[str, str] = ("", ""),
) -> None:
    CanonicalChange.objects.create(
        slug=canonical.slug,
        by=actor.user,
        deed=deed,
        before=before[0],
        before_digest=before[1],
        after=after[0],
        after_digest=after[1],
        reason=reason,
    )
    team = canonical.skill.team if canonical.skill else canonical.mirror.team if canonical.mirror else None
    audit.record(
        actor, f"canonical.{deed}", str(canonical), team=team, before=before[0], after=after[0], reason=reason
    )


def _plain_reason(reason: str, *, may_be_empty: bool = False) -> str:
    return texts.plain(reason, field="reason", most=500, may_be_empty=may_be_empty)
