"""The only writer of versions: a package becomes one, whole, or nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from registry import audit, indexing, phrases, scanning, storage, trials
from registry.actors import Actor
from registry.models import Finding as Kept
from registry.models import Redirect, Skill, Source, Team, Tombstone, Version
from registry.packages import versions
from registry.packages.package import Package
from registry.packages.problems import Problem, Refused, problem, refuse
from registry.packages.scan.checks import Finding
from registry.packages.scan.scanning import scan
from registry.permissions import Action, require
from registry.publishing import following
from registry.publishing.channels import set_channel, wish_channel
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
    channel: str | None = None,
) -> Publication:
    """Publishes the package as a version of ``team/slug``; refuses with every problem that stands against it.

    The version's number is the manifest's, else ``version``, else the next patch. The same content under the
    same number is published already; other content under it is refused as VERSION_EXISTS.
    """
    require(actor, Action.PUBLISH, team=team)
    wishes = Wishes(version, visibility, channel, changelog, source, provenance, origin, origin_path)
    draft = Draft(package, team, actor, wishes)
    against = problems_of_draft(draft)
    if against:
        raise Refused(*against, *(found for found in draft.problems if found.severity == "warning"))
    storage.store(draft.archive)  # before the row that names it; swept later if that row never comes
    found = scan(package)  # before the transaction: other writers would wait for it
    with transaction.atomic():
        return _publish(draft, found)


def check(
    package: Package,
    *,
    team: Team,
    actor: Actor,
    version: str | None = None,
    visibility: str | None = None,
    channel: str | None = None,
) -> Preview:
    """The dry run: everything that ``publish`` would look at, nothing written."""
    require(actor, Action.PUBLISH, team=team)
    draft = Draft(package, team, actor, Wishes(version, visibility, channel))
    against = list(problems_of_draft(draft))
    skill = Skill.objects.filter(team=team, slug=draft.manifest.slug).first()
    number, existing = "", None
    if not against:
        try:
            _check_address(draft, skill)
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
        problems=(
            *against,
            *(found for found in draft.problems if found.severity != "error"),
            *phrases.hints(draft.manifest, team, skill),
            *scanning.problems_of_scan(scan(package), scanning.judgements_before(skill, package)),
            *([problem("REPORT_HOLDS")] if skill and scanning.is_distrusted(skill) else ()),
            *(
                _tried(draft, number)
                if number and existing is None and trials.are_there(package, skill)
                else ()
            ),
        ),
    )


def _tried(draft: Draft, number: str) -> tuple[Problem, ...]:
    """How the trigger tests would end; what that writes is taken back."""
    with transaction.atomic():
        skill = _skill(draft)
        _apply_visibility(draft, skill)
        skill.save(update_fields=["visibility"])
        found = trials.tried(create_rows(draft, skill, number), draft.package.files, draft.actor)
        transaction.set_rollback(True)
    return trials.problems_of_trials(found, draft.team)


def _publish(draft: Draft, found: tuple[Finding, ...]) -> Publication:
    skill = _skill(draft)
    number, existing = _number(draft, skill)
    if existing:
        _apply_channel(draft, existing)
        return Publication(
            existing, created=False, problems=_told(existing, existing.findings.order_by("pk"))
        )
    _apply_visibility(draft, skill)
    _apply_origin(draft, skill)
    indexing.take_turns()
    if not storage.exists(draft.digest):  # the same bytes were purged from elsewhere just now
        storage.store(draft.archive)
    version = create_rows(draft, skill, number)
    scanning.record(version, found, draft.actor)
    show_latest(skill, new=version)
    target = f"{draft.label}@{number}"
    audit.record(draft.actor, "version.publish", target, team=draft.team, digest=draft.digest)
    _apply_channel(draft, version)
    following.tell(version, draft.package)
    told = (*_told(version, found), *phrases.hints(draft.manifest, draft.team, skill))
    return Publication(version, created=True, problems=(*told, *_try_triggers(draft, version)))


def _try_triggers(draft: Draft, version: Version) -> tuple[Problem, ...]:
    """Keeps how the trigger tests end; refuses the version where its team lets failing ones block."""
    found = trials.tried(version, draft.package.files, draft.actor)
    problems = trials.problems_of_trials(found, draft.team)
    if any(each.severity == "error" for each in problems):
        raise Refused(*problems)
    if found:
        trials.record(version, found)
    return problems


def _told(version: Version, found: Iterable[Finding | Kept]) -> tuple[Problem, ...]:
    """What the publisher should know of: problems, and what the scan found."""
    judged = scanning.judgements_of(version)
    reported = version.is_held and scanning.is_distrusted(version.skill)
    told = [problem("REPORT_HOLDS")] if reported else ()
    return (*problems_of(version), *scanning.problems_of_scan(found, judged), *told)


def _skill(draft: Draft) -> Skill:
    """The skill's row, locked: one publisher of a skill at a time."""
    manifest = draft.manifest
    defaults = {"name": manifest.name[:200], "type": manifest.type or "", "source": draft.wishes.source}
    rows = Skill.objects.select_for_update()
    skill, _ = rows.get_or_create(team=draft.team, slug=manifest.slug, defaults=defaults)
    _check_address(draft, skill)
    return skill


def _check_address(draft: Draft, skill: Skill | None) -> None:
    """Refuses a name that a rename, a merge or a purge has used up; what is moved meanwhile, too."""
    if skill and skill.purged_at:
        raise refuse("SKILL_PURGED", path="name", skill=draft.label)
    redirect = Redirect.objects.filter(team=draft.team, slug=draft.manifest.slug).first()
    to = redirect.to_id if redirect else skill.merged_into_id if skill else None
    if skill and (skill.team_id, skill.slug) != (draft.team.pk, draft.manifest.slug):
        to = skill.pk
    if to:
        seen = Skill.objects.visible_to(draft.actor).select_related("team").filter(pk=to).first()
        raise refuse("SLUG_REDIRECTED", path="name", skill=draft.label, to=str(seen) if seen else "…")


def _number(draft: Draft, skill: Skill | None) -> tuple[str, Version | None]:
    """The number that the draft gets, and the version that already is exactly this."""
    stated = draft.manifest.version or versions.normalise(draft.wishes.version or "")
    published = skill.versions.all() if skill else Version.objects.none()
    if stated is None and (same := published.filter(digest=draft.digest).order_by("-precedence").first()):
        return same.number, same
    existing = published.filter(number=stated).first() if stated else None
    if existing and existing.digest != draft.digest:
        raise refuse("VERSION_EXISTS", path="version", skill=draft.label, version=stated)
    if not existing:
        _refuse_purged(draft, skill, stated)
    return stated or _next(skill), existing


def _refuse_purged(draft: Draft, skill: Skill | None, stated: str | None) -> None:
    """What a team has purged does not come back: neither its number nor its content under another."""
    gone = Tombstone.objects.filter(skill__team=draft.team)
    stone = gone.filter(Q(digest=draft.digest) | Q(skill=skill, number=stated or "")).first()
    if stone:
        raise refuse("VERSION_PURGED", path="version", version=f"{stone.skill}@{stone.number}")


def _next(skill: Skill | None) -> str:
    """The patch after the highest number that was ever given."""
    if skill is None:
        return versions.next_patch(None)
    numbers = [*skill.versions.values_list("number", flat=True)]
    numbers += skill.tombstones.values_list("number", flat=True)
    return versions.next_patch(max(numbers, key=versions.precedence, default=None))


def _apply_channel(draft: Draft, version: Version) -> None:
    """A held version is nobody's yet: its channel is set when it is released."""
    if draft.wishes.channel and version.is_held:
        wish_channel(draft.wishes.channel, version)
    elif draft.wishes.channel:
        set_channel(draft.wishes.channel, version, draft.actor)


def _apply_visibility(draft: Draft, skill: Skill) -> None:
    """Who sees a skill is its maintainers' to say; indexing counts it where it then belongs."""
    if draft.wishes.visibility and draft.wishes.visibility != skill.visibility:
        require(draft.actor, Action.SETTINGS, skill=skill)
        skill.visibility = draft.wishes.visibility


def _apply_origin(draft: Draft, skill: Skill) -> None:
    if draft.wishes.origin:
        skill.source, skill.origin = draft.wishes.source, draft.wishes.origin
        skill.origin_path = draft.wishes.origin_path[:1000]
