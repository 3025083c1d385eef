"""Suppresses findings, releases held versions, and rescans versions with newer rules."""

import time
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, active_teams_where, may, require
from registry.index import postings
from registry.models import Finding, ReportState, Skill, Suppression, Version
from registry.packages.archive.repack import read_repacked
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Package
from registry.packages.scan.findings import ScanFinding as ScanFinding
from registry.packages.scan.scan import scan
from registry.review import scanners
from registry.review.errors import NOT_HELD, RELEASE_OWN
from registry.storage import blobs
from registry.versions.lifecycle.channels import apply_requested_channel
from registry.versions.publishing import scanning
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.locks import lock_version

_MAX_REASON_CHARS = 500


@transaction.atomic
def suppress(finding: Finding, actor: Actor, *, reason: str) -> Suppression:
    """Marks a finding as harmless, in this version and in later ones with the same quote in the same file.

    The version's publisher can't suppress a high-confidence finding. The suppression of such a finding ends
    when the file changes. Raises TEXT_INVALID for the reason, the refusals of ``lock_version``, and
    RELEASE_OWN for the publisher.
    """
    reason = text.validated(reason, field="reason", max_length=_MAX_REASON_CHARS)
    version = lock_version(finding.version, actor, Action.REVIEW)
    if finding.certain:
        _require_other_reviewer(version, actor)
    file = version.files.filter(path=finding.path).first()
    values = {"reason": reason, "by": actor.user, "digest": file.digest if file else "", "at": timezone.now()}
    row, _created = Suppression.objects.update_or_create(
        skill=version.skill, rule=finding.rule, path=finding.path, quote=finding.quote, defaults=values
    )
    _audit(actor, "finding.suppress", version, rule=finding.rule, path=finding.path, reason=reason)
    return row


@transaction.atomic
def unsuppress(finding: Finding, actor: Actor) -> None:
    """Removes the suppression, so that the finding is reported again. Does nothing if there is none. Raises
    the refusals of ``lock_version``.
    """
    version = lock_version(finding.version, actor, Action.REVIEW)
    rows = version.skill.suppressions.filter(rule=finding.rule, path=finding.path, quote=finding.quote)
    if rows.delete()[0]:
        _audit(actor, "finding.unsuppress", version, rule=finding.rule, path=finding.path)


@transaction.atomic
def release(version: Version, actor: Actor, *, reason: str) -> Version:
    """Releases a held version, updates the skill's latest version and moves the channel that the publisher
    requested.

    Requires a reviewer other than the publisher, without a token. Raises TEXT_INVALID for the reason, the
    refusals of ``lock_version``, RELEASE_OWN for the publisher, and NOT_HELD if the version is not held.
    """
    reason = text.validated(reason, field="reason", max_length=_MAX_REASON_CHARS)
    version = lock_version(version, actor, Action.REVIEW)
    _require_other_reviewer(version, actor)
    if not version.is_held:
        raise NOT_HELD.refusal(version=str(version))
    version.released_at, version.released_by, version.release_reason = timezone.now(), actor.user, reason
    version.save(update_fields=["released_at", "released_by", "release_reason"])
    _update_latest(version)
    apply_requested_channel(version, actor)
    _audit(actor, "version.release", version, reason=reason)
    return version


def may_release(version: Version, actor: Actor) -> bool:
    return may(actor, Action.REVIEW, skill=version.skill) and _is_other_reviewer(version, actor)


def find_finding(version: Version, uid: str) -> Finding:
    rows = version.findings.select_related("version__skill__team")
    found = next((row for row in rows if row.uid == uid), None)
    if found is None:
        raise NOT_FOUND.refusal(what="finding", name=uid[:40])
    return found


def list_held_versions(actor: Actor) -> QuerySet[Version]:
    """Held versions in the teams that the actor reviews for, longest held first. Starts at the held versions,
    because there are fewer of them than skills of the teams.
    """
    teams = active_teams_where(actor, Action.REVIEW).filter(pk=OuterRef("skill__team"))
    held = Version.objects.visible_to(actor).filter(held_at__isnull=False, released_at=None)
    known = Skill.objects.resolvable_by(actor).filter(pk=OuterRef("skill"))
    held = held.filter(Exists(known), Exists(teams))
    return held.select_related("skill__team", "published_by").defer("manifest", "body").order_by("held_at")


@dataclass(frozen=True)
class RescanResult:
    version: Version
    held: bool  # by this scan
    freed: bool  # released by this scan, because the findings that held it are gone


def stale_versions() -> QuerySet[Version]:
    """Versions whose last scan did not use the current rules, newest first, without those of purged
    skills.
    """
    versions = Version.objects.exclude(scanned_with=scanners.digest()).filter(skill__purged_at=None)
    return versions.select_related("skill__team").order_by("-pk")


def rescan_batch(actor: Actor, *, limit: int, seconds: float = float("inf")) -> list[RescanResult]:
    """Rescans at most ``limit`` stale versions and returns the results. Starts no scan after ``seconds``."""
    ends, results = time.monotonic() + seconds, []
    for version in stale_versions()[:limit]:
        if result := rescan(version, actor):
            results.append(result)
        if time.monotonic() > ends:
            break
    return results


def rescan(version: Version, actor: Actor) -> RescanResult | None:
    """Rescans a version with the current rules and the site's scanners, and stores the findings. Returns None
    if the row no longer exists. Without stored bytes, marks the version as scanned and returns None.

    A new high-confidence finding holds the version. If a version is held only for findings and none of them
    remains, releases it, unless a report was upheld.
    """
    digest = scanners.digest()
    if not blobs.exists(version.digest):  # can't be scanned until the bytes are restored
        Version.objects.filter(pk=version.pk).update(scanned_with=digest)
        return None
    package = stored_package(version)
    found = (*scan(package), *scanners.scan(package))
    with transaction.atomic():
        postings.lock_index_writers()
        row = Version.objects.select_for_update(of=("self",)).filter(pk=version.pk).first()
        return _store_findings(row, found, digest, actor) if row else None


def stored_package(version: Version) -> Package:
    """The package of a published version, read from storage, with an empty list of problems."""
    files = read_repacked(blobs.read(version.digest))
    manifest = manifest_of(version.manifest)
    return Package(files, manifest, version.body, version.profile, ())  # type: ignore[arg-type]


def _store_findings(
    version: Version, found: tuple[ScanFinding, ...], digest: str, actor: Actor
) -> RescanResult:
    known = {_finding_key(each) for each in version.findings.filter(certain=True)}
    holding = scanning.suppressions_for_version(version).holding(found)
    scanning.replace_findings(version, found)
    version.scanned_with = digest
    held = not version.is_held and any(_finding_key(each) not in known for each in holding)
    upheld = version.reports.filter(state=ReportState.UPHELD).exists()  # a reviewer decided to hold it
    freed = version.is_held and bool(known) and not holding and not upheld
    if held:
        scanning.hold_version(version, holding, actor)
    elif freed:
        version.held_at = None
        _audit(actor, "version.free", version)
    version.save(update_fields=["scanned_with", "held_at", "released_at"])
    if held or freed:
        _update_latest(version)
    if freed:
        apply_requested_channel(version, actor)
    return RescanResult(version, held, freed)


def _finding_key(finding: ScanFinding | Finding) -> tuple[str, str, str]:
    return finding.rule, finding.path, finding.quote


def _update_latest(version: Version) -> None:
    update_latest(Skill.objects.select_for_update(of=("self",)).get(pk=version.skill_id))


def _require_other_reviewer(version: Version, actor: Actor) -> None:
    require(actor, Action.REVIEW, skill=version.skill)
    if not _is_other_reviewer(version, actor):
        raise RELEASE_OWN.refusal(version=str(version))


def _is_other_reviewer(version: Version, actor: Actor) -> bool:
    """Whether the actor is a user other than the publisher, so that two people must agree on a release."""
    return actor.user is not None and actor.user.pk != version.published_by_id


def _audit(actor: Actor, action: str, version: Version, **detail: object) -> None:
    audit.record(actor, action, str(version), team=version.skill.team, **detail)
