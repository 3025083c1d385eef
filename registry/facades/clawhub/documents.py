"""Builds the documents that ClawHub clients read. Times are milliseconds since 1970."""

from __future__ import annotations

import mimetypes
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count

from registry.changes import drafts
from registry.core.addresses import absolute_url
from registry.facades.clawhub.lookup import latest_version, owner_handle, usable_versions
from registry.identity.actors import Actor
from registry.models import Channel, PinnedSkill, Skill, Version
from registry.versions.publishing.scanning import is_distrusted


def milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def slug_of(skill: Skill) -> str:
    return skill.resolved_canonical.slug if skill.resolved_canonical else skill.slug


def search_row(skill: Skill, score: float) -> dict[str, Any]:
    number = skill.latest.number if skill.latest else None
    pinned = skill.resolved_canonical.version if skill.resolved_canonical else None
    return {
        "slug": slug_of(skill),
        "displayName": skill.name,
        "summary": skill.description,
        "version": pinned.number if pinned else number,
        "score": score,
        "ownerHandle": owner_handle(skill),
        "downloads": skill.usage_count,
        "updatedAt": milliseconds(skill.updated_at),
        "owner": _owner(skill),
    }


def list_rows(skills: Iterable[Skill], actor: Actor) -> list[dict[str, Any]]:
    skills = list(skills)
    tags, stars = _tags([skill.pk for skill in skills]), _stars([skill.pk for skill in skills])
    rows = [_list_row(skill, tags[skill.pk], actor) for skill in skills]
    for skill, row in zip(skills, rows, strict=True):
        row["stats"]["stars"] = stars[skill.pk]
    return rows


def skill_document(skill: Skill, actor: Actor) -> dict[str, Any]:
    """The skill with its latest version, and its moderation state, which tells clients whether to install
    it.
    """
    drafts.depend_on_uses()
    latest = latest_version(skill, actor)
    tags = {} if skill.resolved_canonical else _tags([skill.pk])[skill.pk]
    row = _skill_row(skill, _with_latest(tags, latest))
    row["stats"] |= {"versions": usable_versions(skill, actor).count(), "stars": _stars([skill.pk])[skill.pk]}
    return {
        "skill": row,
        "latestVersion": version_row(latest) if latest else None,
        "owner": _owner(skill),
        "moderation": _moderation(skill, latest),
    }


def version_row(version: Version) -> dict[str, Any]:
    return {
        "version": version.number,
        "createdAt": milliseconds(version.created_at),
        "changelog": version.changelog,
        "license": None,  # the protocol knows a single licence
    }


def version_document(version: Version, skill: Skill) -> dict[str, Any]:
    files = [
        {
            "path": file.path,
            "size": file.size,
            "sha256": file.digest.removeprefix("sha256:"),
            "contentType": mimetypes.guess_type(file.path)[0]
            or ("text/plain" if file.is_text else "application/octet-stream"),
        }
        for file in version.files.order_by("path")
    ]
    return {
        "version": {**version_row(version), "files": files},
        "skill": {"slug": slug_of(skill), "displayName": skill.name},
    }


def _skill_row(skill: Skill, tags: Mapping[str, str]) -> dict[str, Any]:
    return {
        "slug": slug_of(skill),
        "displayName": skill.name,
        "summary": skill.description,
        "topics": list(skill.tags),
        "tags": dict(tags),
        "stats": {"downloads": skill.usage_count, "stars": 0},
        "createdAt": milliseconds(skill.created_at),
        "updatedAt": milliseconds(skill.updated_at),
    }


def _list_row(skill: Skill, tags: Mapping[str, str], actor: Actor) -> dict[str, Any]:
    latest = latest_version(skill, actor)
    row = {**_skill_row(skill, _with_latest(tags, latest)), "ownerHandle": owner_handle(skill)}
    return {**row, "latestVersion": version_row(latest)} if latest else row  # clients refuse null


def _owner(skill: Skill) -> dict[str, Any]:
    handle = owner_handle(skill)
    return {"handle": handle, "displayName": handle, "image": None}


def _tags(skills: Iterable[int]) -> defaultdict[int, dict[str, str]]:
    """The version number of each channel, by skill id and channel name, without yanked and held versions."""
    rows = Channel.objects.filter(skill__in=list(skills), version__yanked_at=None)
    rows = rows.exclude(version__held_at__isnull=False, version__released_at=None)
    tags: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for skill, name, number in rows.values_list("skill", "name", "version__number"):
        tags[skill][name] = number
    return tags


def _stars(skills: Iterable[int]) -> Counter[int]:
    rows = PinnedSkill.objects.filter(skill__in=list(skills)).order_by().values_list("skill")
    return Counter(dict(rows.annotate(number=Count("pk"))))


def _with_latest(tags: Mapping[str, str], latest: Version | None) -> dict[str, str]:
    return {**tags, "latest": latest.number} if latest else dict(tags)


def _moderation(skill: Skill, latest: Version | None) -> dict[str, Any] | None:
    """The moderation state of a skill that is reported, or that has held versions and no latest one;
    otherwise None. Such a skill is suspicious. It is blocked as malware if it is held and a report of
    malicious content was upheld.
    """
    is_held = latest is None and skill.versions.exclude(pk__in=skill.versions.unheld()).exists()
    if not is_held and not skill.is_reported:
        return None
    is_blocked = is_held and is_distrusted(skill)
    return {
        "isSuspicious": True,
        "isMalwareBlocked": is_blocked,
        "verdict": "malicious" if is_blocked else "suspicious",
        "reasonCodes": ["held"] if is_held else ["reported"],
        "updatedAt": None,
        "engineVersion": None,
        "summary": absolute_url(f"skills/{skill}/"),
    }
