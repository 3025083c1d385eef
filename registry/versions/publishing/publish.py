"""Publishes packages as versions, each in one transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from registry.core import hooks
from registry.core.addresses import absolute_url
from registry.erasure import hooks as erasure
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.index import postings
from registry.models import Finding as StoredFinding
from registry.models import Redirect, Skill, Source, Team, Tombstone, Version
from registry.models.skill import INTERNAL
from registry.packages import version_numbers
from registry.packages.needs import ScriptNeeds
from registry.packages.package import Package
from registry.packages.problems import Problem, Refusal
from registry.packages.scan.findings import ScanFinding
from registry.packages.scan.scan import scan
from registry.storage import blobs
from registry.versions.errors import (
    ADDITIONS_NOT_CARRIED,
    REPORT_HOLDS,
    SKILL_PURGED,
    SLUG_REDIRECTED,
    VERSION_EXISTS,
    VERSION_PURGED,
)
from registry.versions.lifecycle.channels import request_channel, set_channel
from registry.versions.needs.offered_additions import (
    earlier_additions,
    earlier_version_with_additions,
    offered_additions,
)
from registry.versions.publishing import checks, scanning
from registry.versions.publishing.command_lines import CommandLines, read_command_lines, store_command_lines
from registry.versions.publishing.draft import Draft, PublishOptions, draft_errors
from registry.versions.publishing.latest import update_latest
from registry.versions.publishing.script_needs import read_script_needs, store_script_needs
from registry.versions.publishing.version_rows import create_rows, load_problems

_MAX_NAMED = 10  # additions in a notice


@dataclass(frozen=True)
class Publication:
    """The result of publishing. ``created`` is False if the skill already had a version with this content."""

    version: Version
    created: bool
    problems: tuple[Problem, ...]  # warnings and notices


@dataclass(frozen=True)
class Reading:
    """The facts read from a package before the transaction that publishes it."""

    findings: tuple[ScanFinding, ...]
    command_lines: CommandLines
    needs: tuple[ScriptNeeds, ...]
    problems: tuple[Problem, ...] = ()  # warnings and notices of checks that take longer


@dataclass(frozen=True)
class Preview:
    """The result of a dry run. Publishing would be refused if ``problems`` contains an error."""

    skill: str  # team/slug
    number: str  # "" if it can't be determined
    digest: str
    archive_size: int  # bytes
    created: bool  # False if the identical version already exists
    creates_skill: bool
    visibility: str  # the skill's afterwards
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)


def publish(
    package: Package,
    *,
    team: Team,
    actor: Actor,
    version: str | None = None,
    visibility: str | None = None,
    changelog: str = "",
    source: str = "upload",
    provenance: Mapping[str, object] | None = None,
    origin: Source | None = None,
    origin_path: str = "",
    channel: str | None = None,
) -> Publication:
    """Publishes the package as a version of ``team/slug``, and sets the requested channel.

    The version number is that of the manifest, otherwise ``version``, otherwise the next patch. If the
    content is already published under this number, or under any number if none is given, only sets the
    channel.

    Requires permission to publish. A changed visibility requires permission to change settings, and a channel
    permission to manage versions.

    Raises Refusal with all errors of the package and the options. Other refusals are VERSION_EXISTS for other
    content under the same number, VERSION_PURGED, SKILL_PURGED, SLUG_REDIRECTED, and CHANNEL_WITHDRAWN if the
    existing version was yanked. Failing trigger tests raise their problems if the team blocks publication on
    them.
    """
    require(actor, Action.PUBLISH, team=team)
    options = PublishOptions(version, visibility, channel, changelog, source, provenance, origin, origin_path)
    draft = Draft(package, team, actor, options)
    errors = draft_errors(draft)
    if errors:
        raise Refusal(*errors, *(each for each in draft.problems if each.severity == "warning"))
    _resolve_number(draft, _find_skill(draft))  # before purged content is stored again
    blobs.store(draft.archive)  # before the row exists; if the process dies, a sweep removes the blob
    # outside the transaction, so that other writers don't wait for the scan
    reading = _read(package)
    try:
        with transaction.atomic():
            return _publish(draft, reading)
    except Refusal:
        erasure.discard([draft.digest])
        raise


def _read(package: Package) -> Reading:
    command_lines = read_command_lines(package)
    problems = (*checks.package_problems(package), *command_lines.problems)
    return Reading(scan(package), command_lines, read_script_needs(package), problems)


def preview_publication(
    package: Package,
    *,
    team: Team,
    actor: Actor,
    version: str | None = None,
    visibility: str | None = None,
    channel: str | None = None,
) -> Preview:
    """The result that ``publish`` would have, without saving anything. Requires permission to publish; all
    other refusals are in ``problems``.
    """
    require(actor, Action.PUBLISH, team=team)
    draft = Draft(package, team, actor, PublishOptions(version, visibility, channel))
    errors = list(draft_errors(draft))
    skill = Skill.objects.filter(team=team, slug=draft.manifest.slug).first()
    result = skill or Skill(team=team, slug=draft.manifest.slug)
    number, existing = "", None
    if not errors:
        try:
            _check_address(draft, skill)
            _apply_visibility(draft, result)
            number, existing = _resolve_number(draft, skill)
        except Refusal as refused:
            errors += refused.problems
    return Preview(
        skill=draft.label,
        number=number,
        digest=draft.digest,
        archive_size=len(draft.archive),
        created=existing is None and not errors,
        creates_skill=skill is None,
        visibility="private" if draft.manifest.type == INTERNAL else result.visibility,
        problems=(
            *errors,
            *(each for each in draft.problems if each.severity != "error"),
            *checks.package_problems(package),
            *read_command_lines(package).problems,
            *checks.publication_checks().phrase_notices(draft.manifest, team, skill),
            *scanning.scan_problems(scan(package), scanning.suppressions_for_package(skill, package)),
            *([REPORT_HOLDS.problem()] if skill and scanning.is_distrusted(skill) else ()),
            *(
                _preview_trigger_tests(draft, number)
                if number and existing is None and checks.publication_checks().has_tests(package, skill)
                else ()
            ),
        ),
    )


def _preview_trigger_tests(draft: Draft, number: str) -> tuple[Problem, ...]:
    """The problems that the trigger tests find. The rows written for the tests are rolled back."""
    with transaction.atomic():
        skill = _lock_or_create_skill(draft)
        _apply_visibility(draft, skill)
        skill.save(update_fields=["visibility"])
        version = create_rows(draft, skill, number)
        problems = checks.publication_checks().trigger_problems(version, draft.package.files, draft.actor)
        transaction.set_rollback(True)
    return problems


def _publish(draft: Draft, reading: Reading) -> Publication:
    skill = _lock_or_create_skill(draft)
    number, existing = _resolve_number(draft, skill)
    if existing:
        _apply_channel(draft, existing)
        return Publication(
            existing,
            created=False,
            problems=_publication_problems(existing, existing.findings.order_by("pk")),
        )
    _apply_visibility(draft, skill)
    _apply_origin(draft, skill)
    postings.lock_index_writers()
    if not blobs.exists(draft.digest):  # a concurrent purge of the same bytes removed the blob
        blobs.store(draft.archive)
    version = create_rows(draft, skill, number, reading.problems)
    store_command_lines(version, reading.command_lines.scripts)
    store_script_needs(version, reading.needs)
    scanning.record_findings(version, reading.findings, draft.actor)
    update_latest(skill, new=version)
    target = f"{draft.label}@{number}"
    audit.record(draft.actor, "version.publish", target, team=draft.team, digest=draft.digest)
    _apply_channel(draft, version)
    hooks.version_published.send(version, draft.package)
    problems = (
        *_publication_problems(version, reading.findings),
        *_earlier_additions_notices(version),
        *checks.publication_checks().phrase_notices(draft.manifest, draft.team, skill),
    )
    return Publication(version, created=True, problems=(*problems, *_run_trigger_tests(draft, version)))


def _earlier_additions_notices(version: Version) -> tuple[Problem, ...]:
    """A notice with the needed additions that only the previous version has. The notice is not stored with
    the version.
    """
    if earlier_version_with_additions(version) is None:
        return ()
    earlier, rows = earlier_additions(version, offered_additions(version))
    if earlier is None:
        return ()
    names = ", ".join(name for _kind, name in rows[:_MAX_NAMED])
    page = absolute_url(f"/skills/{version.skill}/{version.number}/#additions")
    more = f"{names}, …" if len(rows) > _MAX_NAMED else names
    notice = ADDITIONS_NOT_CARRIED.problem(earlier=str(earlier), version=str(version), names=more, page=page)
    return (notice,)


def _run_trigger_tests(draft: Draft, version: Version) -> tuple[Problem, ...]:
    """Runs the trigger tests, stores the results and returns the problems. Raises Refusal if failing tests
    block publication.
    """
    problems = checks.publication_checks().trigger_problems(
        version, draft.package.files, draft.actor, keep=True
    )
    if any(each.severity == "error" for each in problems):
        raise Refusal(*problems)
    return problems


def _publication_problems(
    version: Version, findings: Iterable[ScanFinding | StoredFinding]
) -> tuple[Problem, ...]:
    """The problems that the publisher sees: those of the package and the scan, and REPORT_HOLDS if an upheld
    report holds the version.
    """
    suppressions = scanning.suppressions_for_version(version)
    reported = version.is_held and scanning.is_distrusted(version.skill)
    report_problems = [REPORT_HOLDS.problem()] if reported else ()
    return (*load_problems(version), *scanning.scan_problems(findings, suppressions), *report_problems)


def _lock_or_create_skill(draft: Draft) -> Skill:
    """The skill's row, which is created if necessary and locked until the transaction ends. Raises the errors
    of ``_check_address``.
    """
    manifest = draft.manifest
    defaults = {"name": manifest.name[:200], "type": manifest.type or "", "source": draft.options.source}
    rows = Skill.objects.select_for_update()
    skill, _ = rows.get_or_create(team=draft.team, slug=manifest.slug, defaults=defaults)
    _check_address(draft, skill)
    return skill


def _find_skill(draft: Draft) -> Skill | None:
    """The skill's row, not locked, or None. Raises the errors of ``_check_address``."""
    skill = Skill.objects.filter(team=draft.team, slug=draft.manifest.slug).first()
    _check_address(draft, skill)
    return skill


def _check_address(draft: Draft, skill: Skill | None) -> None:
    """Raises SKILL_PURGED if the skill was purged, and SLUG_REDIRECTED if the address redirects. The skill
    may have been renamed since it was looked up.
    """
    if skill and skill.purged_at:
        raise SKILL_PURGED.refusal(skill=draft.label).at("name")
    redirect = Redirect.objects.filter(team=draft.team, slug=draft.manifest.slug).first()
    to = redirect.to_id if redirect else skill.merged_into_id if skill else None
    if skill and (skill.team_id, skill.slug) != (draft.team.pk, draft.manifest.slug):
        to = skill.pk
    if to:
        successor = Skill.objects.visible_to(draft.actor).select_related("team").filter(pk=to).first()
        raise SLUG_REDIRECTED.refusal(skill=draft.label, to=str(successor) if successor else "…").at("name")


def _resolve_number(draft: Draft, skill: Skill | None) -> tuple[str, Version | None]:
    """The number for the draft, and the existing version with its content or None. Raises VERSION_EXISTS if
    the number has other content, and VERSION_PURGED if the number or the content was purged.
    """
    stated = draft.manifest.version or version_numbers.normalise(draft.options.version or "")
    published = skill.versions.all() if skill else Version.objects.none()
    if stated is None and (same := published.filter(digest=draft.digest).order_by("-precedence").first()):
        return same.number, same
    existing = published.filter(number=stated).first() if stated else None
    if existing and existing.digest != draft.digest:
        raise VERSION_EXISTS.refusal(skill=draft.label, version=stated).at("version")
    if not existing:
        _refuse_purged(draft, skill, stated)
    return stated or _next_patch(skill), existing


def _refuse_purged(draft: Draft, skill: Skill | None, stated: str | None) -> None:
    """Raises VERSION_PURGED if the skill's version ``stated``, or this content in any skill of the team, was
    purged."""
    tombstones = Tombstone.objects.filter(skill__team=draft.team)
    tombstone = tombstones.filter(Q(digest=draft.digest) | Q(skill=skill, number=stated or "")).first()
    if tombstone:
        raise VERSION_PURGED.refusal(version=f"{tombstone.skill}@{tombstone.number}").at("version")


def next_number(team: Team, slug: str) -> str:
    """The version that a package without a version would get."""
    return _next_patch(Skill.objects.filter(team=team, slug=slug).first())


def highest_number(skill: Skill) -> str | None:
    """The highest number that the skill ever had, including purged numbers; None if it never had a
    version.
    """
    numbers = [*skill.versions.values_list("number", flat=True)]
    numbers += skill.tombstones.values_list("number", flat=True)
    return max(numbers, key=version_numbers.precedence, default=None)


def _next_patch(skill: Skill | None) -> str:
    return version_numbers.next_patch(highest_number(skill) if skill else None)


def _apply_channel(draft: Draft, version: Version) -> None:
    """Sets the requested channel, if any. For a held version, stores the request until the version is
    released.
    """
    if draft.options.channel and version.is_held:
        request_channel(draft.options.channel, version)
    elif draft.options.channel:
        set_channel(draft.options.channel, version, draft.actor)


def _apply_visibility(draft: Draft, skill: Skill) -> None:
    """Sets the requested visibility in memory. A change requires permission to change settings. The caller
    saves and indexes the skill.
    """
    if draft.options.visibility and draft.options.visibility != skill.visibility:
        require(draft.actor, Action.SETTINGS, skill=skill)
        skill.visibility = draft.options.visibility


def _apply_origin(draft: Draft, skill: Skill) -> None:
    if draft.options.origin:
        skill.source, skill.origin = draft.options.source, draft.options.origin
        skill.origin_path = draft.options.origin_path[:1000]
