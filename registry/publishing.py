"""The only writer of versions: a package becomes one, whole, or nothing is changed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.db import transaction

from registry import audit, indexing, storage, texts
from registry.actors import Actor
from registry.models import File, Skill, Tag, Team, Version, Visibility
from registry.packages import versions
from registry.packages.manifest import manifest_document
from registry.packages.package import Manifest, Package, PackageFile
from registry.packages.problems import Problem, Refused, problem, refuse
from registry.packages.repack import digest_of, repack
from registry.permissions import Action, require


@dataclass(frozen=True)
class Publication:
    """What publishing did: ``created`` is False where the very same version was there already."""

    version: Version
    created: bool
    problems: tuple[Problem, ...]  # warnings and notices: an error is never published


@dataclass(frozen=True)
class Preview:
    """What publishing would do now: with an error among ``problems``, it would refuse."""

    skill: str  # team/slug
    number: str  # "" where none can be given
    digest: str
    archive_size: int  # bytes
    created: bool  # False where the very same version is there already
    creates_skill: bool
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)


@dataclass(frozen=True)
class _Draft:
    """A package on its way, with what can be known of it before the database is asked."""

    package: Package
    archive: bytes
    digest: str
    team: Team
    actor: Actor
    asked: str  # the publisher's version, "" for none
    visibility: str  # "" for as it is
    changelog: str
    source: str

    @property
    def manifest(self) -> Manifest:
        return self.package.manifest

    @property
    def label(self) -> str:
        return f"{self.team.slug}/{self.manifest.slug}"


def publish(
    package: Package,
    *,
    team: Team,
    actor: Actor,
    version: str | None = None,
    visibility: str | None = None,
    changelog: str = "",
    source: str = "upload",
) -> Publication:
    """Publishes the package as a version of ``team/slug``; refuses with every problem that stands against it.

    The version's number is the manifest's, else ``version``, else the next patch. The same content under the
    same number is published already; other content under it is refused as VERSION_EXISTS.
    """
    require(actor, Action.PUBLISH, team=team)
    draft = _draft(package, team, actor, version, visibility, changelog, source)
    against = _problems_of_draft(draft)
    if against:
        raise Refused(*against)
    storage.store(draft.archive)  # before the row that names it; swept later if that row never comes
    with transaction.atomic():
        return _publish(draft)


def check(
    package: Package,
    *,
    team: Team,
    actor: Actor,
    version: str | None = None,
    visibility: str | None = None,
) -> Preview:
    """The dry run: everything that ``publish`` would look at, nothing written."""
    require(actor, Action.PUBLISH, team=team)
    draft = _draft(package, team, actor, version, visibility, "", "upload")
    against = list(_problems_of_draft(draft))
    skill = Skill.objects.filter(team=team, slug=draft.manifest.slug).first()
    number, existing = "", None
    if not against:
        try:
            _apply_visibility(draft, skill or Skill(team=team, slug=draft.manifest.slug))
            number, existing = _number(draft, skill)
        except Refused as refused:
            against += refused.problems
    return Preview(
        skill=draft.label,
        number=number,
        digest=draft.digest,
        archive_size=len(draft.archive),
        created=existing is None and not against,
        creates_skill=skill is None,
        problems=(*against, *(found for found in package.problems if found.severity != "error")),
    )


@transaction.atomic
def set_visibility(skill: Skill, visibility: str, actor: Actor) -> None:
    """Shows the skill to others, or to them no longer; its search terms are counted with its new peers."""
    require(actor, Action.SETTINGS, skill=skill)
    _check_visibility(visibility)
    locked = Skill.objects.select_for_update().get(pk=skill.pk)
    before, locked.visibility = locked.visibility, visibility
    locked.save(update_fields=["visibility", "updated_at"])
    indexing.recount(locked)
    audit.record(actor, "skill.visibility", str(skill), team=skill.team, before=before, after=visibility)
    skill.refresh_from_db(fields=["visibility", "search_scope", "updated_at"])


def problems_of(version: Version) -> tuple[Problem, ...]:
    """The warnings and notices that a version was published with."""
    return tuple(Problem(**row) for row in version.problems)


def _draft(
    package: Package,
    team: Team,
    actor: Actor,
    number: str | None,
    visibility: str | None,
    changelog: str,
    source: str,
) -> _Draft:
    archive = repack(package.files)
    changelog = texts.plain(changelog, field="changelog", most=20_000, may_be_empty=True)
    return _Draft(
        package,
        archive,
        digest_of(archive),
        team,
        actor,
        number or "",
        visibility or "",
        changelog,
        source,
    )


def _problems_of_draft(draft: _Draft) -> tuple[Problem, ...]:
    """What can be held against a draft without asking what is published already; all of it at once."""
    found = [each for each in draft.package.problems if each.severity == "error"]
    stated, asked = draft.manifest.version, draft.asked
    if asked and not versions.normalise(asked):
        found.append(problem("VERSION_NUMBER_INVALID", path="version", version=asked[:80]))
    elif asked and stated and versions.normalise(asked) != stated:
        found.append(problem("VERSION_DIFFERS", path="version", stated=stated, asked=asked))
    if draft.visibility:
        try:
            _check_visibility(draft.visibility)
        except Refused as refused:
            found += refused.problems
    return tuple(found)


def _check_visibility(visibility: str) -> None:
    if visibility not in Visibility.values:
        raise refuse("VISIBILITY_UNKNOWN", path="visibility", visibility=visibility[:80])


def _publish(draft: _Draft) -> Publication:
    manifest = draft.manifest
    skill, _ = Skill.objects.get_or_create(
        team=draft.team, slug=manifest.slug, defaults={"name": manifest.name[:200], "source": draft.source}
    )
    skill = Skill.objects.select_for_update().get(pk=skill.pk)  # one publisher of a skill at a time
    number, existing = _number(draft, skill)
    if existing:
        return Publication(existing, created=False, problems=problems_of(existing))
    _apply_visibility(draft, skill)
    version = _create(draft, skill, number)
    _show_latest(skill, version, manifest)
    target = f"{draft.label}@{number}"
    audit.record(draft.actor, "version.publish", target, team=draft.team, digest=draft.digest)
    return Publication(version, created=True, problems=draft.package.problems)


def _number(draft: _Draft, skill: Skill | None) -> tuple[str, Version | None]:
    """The number that the draft gets, and the version that already is exactly this."""
    stated = draft.manifest.version or versions.normalise(draft.asked)
    published = skill.versions.order_by("-precedence") if skill else Version.objects.none()
    if stated is None:
        if same := published.filter(digest=draft.digest).first():
            return same.number, same
        highest = published.first()
        return versions.next_patch(highest.number if highest else None), None
    existing = published.filter(number=stated).first()
    if existing and existing.digest != draft.digest:
        raise refuse("VERSION_EXISTS", path="version", skill=draft.label, version=stated)
    return stated, existing


def _apply_visibility(draft: _Draft, skill: Skill) -> None:
    """Who sees a skill is its maintainers' to say; indexing counts it where it then belongs."""
    if draft.visibility and draft.visibility != skill.visibility:
        require(draft.actor, Action.SETTINGS, skill=skill)
        skill.visibility = draft.visibility


def _create(draft: _Draft, skill: Skill, number: str) -> Version:
    version = Version.objects.create(
        skill=skill,
        number=number,
        precedence=versions.precedence(number),
        number_as_written=(draft.manifest.version_as_written or "")[:64],
        digest=draft.digest,
        archive_size=len(draft.archive),
        profile=draft.package.profile,
        manifest=manifest_document(draft.manifest),
        body=draft.package.body,
        problems=[_row(found) for found in draft.package.problems],
        changelog=draft.changelog,
        published_by=draft.actor.user,
    )
    File.objects.bulk_create((_file(version, file) for file in draft.package.files), batch_size=500)
    return version


def _file(version: Version, file: PackageFile) -> File:
    return File(
        version=version,
        path=file.path,
        size=len(file.data),
        digest=f"sha256:{hashlib.sha256(file.data).hexdigest()}",
        is_text=_is_text(file.data),
        executable=file.executable,
    )


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False


def _row(found: Problem) -> dict[str, object]:
    """A problem as JSON; its texts are made when it is read, in the reader's language."""
    params = {
        name: value if isinstance(value, str | int | float) else str(value)
        for name, value in found.params.items()
    }
    return {
        "code": found.code,
        "path": found.path,
        "line": found.line,
        "params": params,
        "severity": found.severity,
    }


def _show_latest(skill: Skill, version: Version, manifest: Manifest) -> None:
    """Makes the catalog show this version, if it is now the latest; always saves the skill."""
    if _latest(skill) == version.pk:
        skill.latest = version
        skill.name = (manifest.display_name or manifest.name)[:200]
        skill.description = manifest.description
        skill.type = manifest.type or ""
        skill.domain = manifest.domain[:120]
        skill.category = manifest.category[:120]
        skill.tags = list(manifest.tags)
        skill.for_people = manifest.user_invocable
        indexing.index(skill, manifest, version.body)
        skill.tag_rows.all().delete()
        tags = dict.fromkeys(tag[:120] for tag in manifest.tags)
        Tag.objects.bulk_create(Tag(skill=skill, text=tag) for tag in tags)
    elif skill.search_scope != indexing.scope_of(skill):
        indexing.recount(skill)
    skill.save()


def _latest(skill: Skill) -> int:
    """The key of the highest version: a pre-release only where there is nothing else."""
    rows = skill.versions.filter(yanked_at=None).values_list("pk", "number", "precedence")
    return max(rows, key=lambda row: (not _is_prerelease(row[1]), row[2]))[0]


def _is_prerelease(number: str) -> bool:
    parsed = versions.parse(number)
    return bool(parsed and parsed.prerelease)
