"""The only writer of versions: a package becomes one, whole, or nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from registry import audit, storage
from registry.actors import Actor
from registry.models import Skill, Source, Team, Version
from registry.packages import versions
from registry.packages.package import Package
from registry.packages.problems import Problem, Refused, refuse
from registry.permissions import Action, require
from registry.publishing.draft import Draft, Wishes, problems_of_draft
from registry.publishing.latest import show_latest
from registry.publishing.rows import create_rows, problems_of


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
) -> Publication:
    """Publishes the package as a version of ``team/slug``; refuses with every problem that stands against it.

    The version's number is the manifest's, else ``version``, else the next patch. The same content under the
    same number is published already; other content under it is refused as VERSION_EXISTS.
    """
    require(actor, Action.PUBLISH, team=team)
    wishes = Wishes(version, visibility, changelog, source, provenance, origin, origin_path)
    draft = Draft(package, team, actor, wishes)
    against = problems_of_draft(draft)
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
    draft = Draft(package, team, actor, Wishes(version, visibility))
    against = list(problems_of_draft(draft))
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


def _publish(draft: Draft) -> Publication:
    skill, _ = Skill.objects.get_or_create(
        team=draft.team,
        slug=draft.manifest.slug,
        defaults={"name": draft.manifest.name[:200], "source": draft.wishes.source},
    )
    skill = Skill.objects.select_for_update().get(pk=skill.pk)  # one publisher of a skill at a time
    number, existing = _number(draft, skill)
    if existing:
        return Publication(existing, created=False, problems=problems_of(existing))
    _apply_visibility(draft, skill)
    _apply_origin(draft, skill)
    version = create_rows(draft, skill, number)
    show_latest(skill)
    target = f"{draft.label}@{number}"
    audit.record(draft.actor, "version.publish", target, team=draft.team, digest=draft.digest)
    return Publication(version, created=True, problems=draft.package.problems)


def _number(draft: Draft, skill: Skill | None) -> tuple[str, Version | None]:
    """The number that the draft gets, and the version that already is exactly this."""
    stated = draft.manifest.version or versions.normalise(draft.wishes.version or "")
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


def _apply_visibility(draft: Draft, skill: Skill) -> None:
    """Who sees a skill is its maintainers' to say; indexing counts it where it then belongs."""
    if draft.wishes.visibility and draft.wishes.visibility != skill.visibility:
        require(draft.actor, Action.SETTINGS, skill=skill)
        skill.visibility = draft.wishes.visibility


def _apply_origin(draft: Draft, skill: Skill) -> None:
    if draft.wishes.origin:
        skill.source, skill.origin = draft.wishes.source, draft.wishes.origin
        skill.origin_path = draft.wishes.origin_path[:1000]
