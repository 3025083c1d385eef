"""What the catalog shows of a skill: its latest version, the highest that is neither yanked nor held."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import QuerySet

from registry import indexing
from registry.models import Skill, Tag, Version
from registry.packages import versions
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest


def show_latest(skill: Skill, *, again: bool = False, new: Version | None = None) -> None:
    """Makes catalog and search speak of the version that is now the latest; always saves the skill.

    Without one the search forgets the skill, and the catalog speaks of what is left of it. ``again`` writes
    the search terms anew though the version stayed: they hold the slug. ``new`` was just written, and is not
    read again.
    """
    latest = None if skill.merged_into_id or skill.purged_at else _best(skill.versions.usable(), new)
    skill.is_reported = _is_reported(skill, latest)
    if latest is None:
        skill.latest = None
        _show(skill, _best(skill.versions.unheld()))
        indexing.forget(skill)
    elif again or latest.pk != skill.latest_id:
        skill.latest = latest
        _show(skill, latest)
        indexing.index(skill, replace(manifest_of(latest.manifest), slug=skill.slug), latest.body)
    elif skill.search_scope != indexing.scope_of(skill):
        indexing.recount(skill)
    skill.save()


def _is_reported(skill: Skill, latest: Version | None) -> bool:
    """What is published meanwhile waits with it: else another number would undo what was reported."""
    if latest and latest.reported_at:
        return True
    return skill.is_reported and skill.versions.filter(reported_at__isnull=False).exists()


def _show(skill: Skill, version: Version | None) -> None:
    """Copies what the catalog shows; the type stays where nothing is left, for it says who may see it."""
    manifest = manifest_of(version.manifest) if version else Manifest(skill.slug, skill.slug, skill.slug, "")
    skill.name = (manifest.display_name or manifest.name)[:200]
    skill.description = manifest.description
    skill.when_to_use = manifest.when_to_use
    skill.type = (manifest.type or "") if version else skill.type
    skill.domain = manifest.domain[:120]
    skill.category = manifest.category[:120]
    skill.profile = version.profile if version else ""
    skill.tags = list(manifest.tags)
    skill.for_people = manifest.user_invocable
    tags = dict.fromkeys(tag[:120] for tag in manifest.tags)
    before = set(skill.tag_rows.values_list("text", flat=True))
    if before - set(tags):
        skill.tag_rows.exclude(text__in=tags).delete()
    Tag.objects.bulk_create(Tag(skill=skill, text=tag) for tag in tags if tag not in before)


def _best(candidates: QuerySet[Version], new: Version | None = None) -> Version | None:
    """The highest: a pre-release only where there is nothing else."""
    rows = candidates.values_list("pk", "number", "precedence")
    best = max(rows, key=lambda row: (not _is_prerelease(row[1]), row[2]), default=None)
    if new and best and best[0] == new.pk:
        return new
    return Version.objects.get(pk=best[0]) if best else None


def _is_prerelease(number: str) -> bool:
    parsed = versions.parse(number)
    return bool(parsed and parsed.prerelease)
