"""What maintainers do about findings: suppress, release, look again with newer rules."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry import adapters, audit, indexing, scanning, storage, texts
from registry.actors import Actor
from registry.models import Finding, ReportState, Skill, Suppression, Team, Version
from registry.packages.manifest import manifest_of
from registry.packages.package import Package
from registry.packages.problems import refuse
from registry.packages.repack import read_repacked
from registry.packages.scan.checks import Finding as Found
from registry.packages.scan.scanning import scan
from registry.permissions import Action, may, require
from registry.publishing.channels import grant_wish
from registry.publishing.latest import show_latest
from registry.publishing.locking import locked_version

_REASON = 500  # characters


@transaction.atomic
def suppress(finding: Finding, actor: Actor, *, reason: str) -> Suppression:
    """Judges a finding harmless, in this version and in later ones that say the same at the same place.

    One that is certain is not judged by who published it, and holds again where its file has changed.
    """
    reason = texts.plain(reason, field="reason", most=_REASON)
    version = locked_version(finding.version, actor, Action.REVIEW)
    if finding.certain:
        _require_other(version, actor)
    file = version.files.filter(path=finding.path).first()
    judged = {"reason": reason, "by": actor.user, "digest": file.digest if file else "", "at": timezone.now()}
    row, _created = Suppression.objects.update_or_create(
        skill=version.skill, rule=finding.rule, path=finding.path, quote=finding.quote, defaults=judged
    )
    _tell(actor, "finding.suppress", version, rule=finding.rule, path=finding.path, reason=reason)
    return row


@transaction.atomic
def unsuppress(finding: Finding, actor: Actor) -> None:
    """Takes the judgement back: from now on the finding is told again."""
    version = locked_version(finding.version, actor, Action.REVIEW)
    rows = version.skill.suppressions.filter(rule=finding.rule, path=finding.path, quote=finding.quote)
    if rows.delete()[0]:
        _tell(actor, "finding.unsuppress", version, rule=finding.rule, path=finding.path)


@transaction.atomic
def release(version: Version, actor: Actor, *, reason: str) -> Version:
    """Lets a held version go: by somebody who reviews for its team, not by its publisher, by no token."""
    reason = texts.plain(reason, field="reason", most=_REASON)
    version = locked_version(version, actor, Action.REVIEW)
    _require_other(version, actor)
    if not version.is_held:
        raise refuse("NOT_HELD", version=str(version))
    version.released_at, version.released_by, version.release_reason = timezone.now(), actor.user, reason
    version.save(update_fields=["released_at", "released_by", "release_reason"])
    _show(version)
    grant_wish(version, actor)
    _tell(actor, "version.release", version, reason=reason)
    return version


def may_release(version: Version, actor: Actor) -> bool:
    return may(actor, Action.REVIEW, skill=version.skill) and _is_other(version, actor)


def find_finding(version: Version, uid: str) -> Finding:
    rows = version.findings.select_related("version__skill__team")
    found = next((row for row in rows if row.uid == uid), None)
    if found is None:
        raise refuse("NOT_FOUND", what="finding", name=uid[:40])
    return found


def held_versions(actor: Actor) -> QuerySet[Version]:
    """Those that wait for somebody, of the teams for which the actor reviews; the oldest first."""
    teams = [team.pk for team in Team.objects.visible_to(actor) if may(actor, Action.REVIEW, team=team)]
    held = Version.objects.visible_to(actor).filter(held_at__isnull=False, released_at=None)
    held = held.filter(skill__team__in=teams, skill__in=Skill.objects.known_to(actor))
    return held.select_related("skill__team", "published_by").defer("manifest", "body").order_by("held_at")


@dataclass(frozen=True)
class Rescanned:
    version: Version
    held: bool  # by this scan
    freed: bool  # by this scan: what held it is no finding any more


def stale() -> QuerySet[Version]:
    """Versions that were scanned with other rules than today's, the newest first."""
    living = Version.objects.exclude(scanned_with=adapters.digest()).filter(skill__purged_at=None)
    return living.select_related("skill__team").order_by("-pk")


def rescan_some(actor: Actor, *, most: int, seconds: float = float("inf")) -> list[Rescanned]:
    """Looks at a few stale versions again, until the time is up; what was purged meanwhile is left alone."""
    ends, done = time.monotonic() + seconds, []
    for version in stale()[:most]:
        if again := rescan(version, actor):
            done.append(again)
        if time.monotonic() > ends:
            break
    return done


def rescan(version: Version, actor: Actor) -> Rescanned | None:
    """Scans a version with today's rules and the site's own scanners.

    What is new and certain holds a version that was out already; what held one and is found no more frees it.
    """
    digest = adapters.digest()
    if not storage.exists(version.digest):  # nothing can be said of it until its bytes are back
        Version.objects.filter(pk=version.pk).update(scanned_with=digest)
        return None
    package = package_of(version)
    found = (*scan(package), *adapters.scan(package))
    with transaction.atomic():
        indexing.take_turns()
        row = Version.objects.select_for_update(of=("self",)).filter(pk=version.pk).first()
        return _recorded(row, found, digest, actor) if row else None


def package_of(version: Version) -> Package:
    """A published version as the package that it was."""
    files = read_repacked(storage.read(version.digest))
    manifest = manifest_of(version.manifest)
    return Package(files, manifest, version.body, version.profile, ())  # type: ignore[arg-type]


def _recorded(version: Version, found: tuple[Found, ...], digest: str, actor: Actor) -> Rescanned:
    known = {_place(one) for one in version.findings.filter(certain=True)}
    holding = scanning.judgements_of(version).holding(found)
    scanning.keep(version, found)
    version.scanned_with = digest
    held = not version.is_held and any(_place(one) not in known for one in holding)
    upheld = version.reports.filter(state=ReportState.UPHELD).exists()  # a person's word, not a rule's
    freed = version.is_held and bool(known) and not holding and not upheld
    if held:
        scanning.hold(version, holding, actor)
    elif freed:
        version.held_at = None
        _tell(actor, "version.free", version)
    version.save(update_fields=["scanned_with", "held_at", "released_at"])
    if held or freed:
        _show(version)
    if freed:
        grant_wish(version, actor)
    return Rescanned(version, held, freed)


def _place(one: Found | Finding) -> tuple[str, str, str]:
    return one.rule, one.path, one.quote


def _show(version: Version) -> None:
    show_latest(Skill.objects.select_for_update(of=("self",)).get(pk=version.skill_id))


def _require_other(version: Version, actor: Actor) -> None:
    require(actor, Action.REVIEW, skill=version.skill)
    if not _is_other(version, actor):
        raise refuse("JUDGE_OWN", version=str(version))


def _is_other(version: Version, actor: Actor) -> bool:
    """Two people for what is certain: a name, and not the publisher's."""
    return actor.user is not None and actor.user.pk != version.published_by_id


def _tell(actor: Actor, action: str, version: Version, **detail: object) -> None:
    audit.record(actor, action, str(version), team=version.skill.team, **detail)
