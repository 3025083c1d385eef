"""What the catalog shows of a skill: its latest version, the highest that is neither yanked nor held."""

from __future__ import annotations

from registry import indexing
from registry.models import Skill, Tag, Version
from registry.packages import versions
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest


def show_latest(skill: Skill) -> None:
    """Makes the catalog and the search speak of the version that is now the latest; always saves the skill.

    Without one the search forgets the skill, and the catalog goes on saying what it said.
    """
    latest = _latest(skill)
    if latest is None:
        skill.latest = None
        indexing.forget(skill)
    elif latest.pk != skill.latest_id:
        manifest = manifest_of(latest.manifest)
        _show(skill, latest, manifest)
        indexing.index(skill, manifest, latest.body)
    elif skill.search_scope != indexing.scope_of(skill):
        indexing.recount(skill)
    skill.save()


def _show(skill: Skill, version: Version, manifest: Manifest) -> None:
    skill.latest = version
    skill.name = (manifest.display_name or manifest.name)[:200]
    skill.description = manifest.description
    skill.type = manifest.type or ""
    skill.domain = manifest.domain[:120]
    skill.category = manifest.category[:120]
    skill.tags = list(manifest.tags)
    skill.for_people = manifest.user_invocable
    skill.tag_rows.all().delete()
    tags = dict.fromkeys(tag[:120] for tag in manifest.tags)
    Tag.objects.bulk_create(Tag(skill=skill, text=tag) for tag in tags)


def _latest(skill: Skill) -> Version | None:
    """The highest version that anybody may use: a pre-release only where there is nothing else."""
    rows = skill.versions.usable().values_list("pk", "number", "precedence")
    best = max(rows, key=lambda row: (not _is_prerelease(row[1]), row[2]), default=None)
    return Version.objects.get(pk=best[0]) if best else None


def _is_prerelease(number: str) -> bool:
    parsed = versions.parse(number)
    return bool(parsed and parsed.prerelease)
