"""Updates the latest version of skills: the highest version that is neither yanked nor held. Pre-releases
count only if there is no other version.
"""

from dataclasses import replace

from django.db.models import QuerySet

from registry.index import postings
from registry.models import Skill, Tag, Version
from registry.packages import version_numbers
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest


def update_latest(skill: Skill, *, reindex: bool = False, new: Version | None = None) -> None:
    """Selects the latest version, copies its fields to the skill, updates the search index and saves the
    skill.

    A skill without a latest version is removed from the search index, and gets the fields of its highest
    unheld version. ``reindex`` rewrites the search terms even if the latest version is the same; a rename
    needs it, because the terms include the slug. ``new`` is a version that was just created; passing it saves
    a query.
    """
    latest = None if skill.merged_into_id or skill.purged_at else _highest(skill.versions.usable(), new)
    skill.is_reported = _is_reported(skill, latest)
    if latest is None:
        skill.latest = None
        _copy_catalog_fields(skill, _highest(skill.versions.unheld()))
        postings.remove_skill(skill)
    elif reindex or latest.pk != skill.latest_id:
        skill.latest = latest
        _copy_catalog_fields(skill, latest)
        postings.index_skill(skill, replace(manifest_of(latest.manifest), slug=skill.slug), latest.body)
    elif skill.search_scope != postings.scope_of(skill):
        postings.recount(skill)
    skill.save()


def _is_reported(skill: Skill, latest: Version | None) -> bool:
    """Whether the skill counts as reported: its latest version is reported, or the skill was reported and one
    of its versions still is. Only a decision on the reports ends this state, not a newer version.
    """
    if latest and latest.reported_at:
        return True
    return skill.is_reported and skill.versions.filter(reported_at__isnull=False).exists()


def _copy_catalog_fields(skill: Skill, version: Version | None) -> None:
    """Copies the fields of the catalog from the version to the skill, and updates the tag rows. Without a
    version, resets the fields but keeps the type, because visibility depends on it.
    """
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


def _highest(candidates: QuerySet[Version], new: Version | None = None) -> Version | None:
    """The highest version, or None. A pre-release counts only if all versions are pre-releases."""
    rows = candidates.values_list("pk", "number", "precedence")
    best = max(rows, key=lambda row: (not _is_prerelease(row[1]), row[2]), default=None)
    if new and best and best[0] == new.pk:
        return new
    return Version.objects.get(pk=best[0]) if best else None


def _is_prerelease(number: str) -> bool:
    parsed = version_numbers.parse(number)
    return bool(parsed and parsed.prerelease)
