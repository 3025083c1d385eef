"""The npm document of a package (a packument): all versions with their addresses and digests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from registry.core.addresses import absolute_url
from registry.core.time import rfc3339
from registry.facades.npm.tarballs import TarballFacts, all_tarball_facts, package_name
from registry.identity.actors import Actor
from registry.models import Skill, Version

MAX_VERSIONS = 500  # of a packument, the newest
_MAX_BYTES = 256 * 1024 * 1024  # of their archives together, because each one is read for its digest


def packument(skill: Skill, team: str, actor: Actor) -> dict[str, Any]:
    """The packument with the newest versions that the actor may see and that are not held, within the limits
    of ``_versions``.

    Yanked and deprecated versions are marked ``deprecated``: npm avoids them unless a lock file names them.
    Channels become dist-tags.
    """
    name = package_name(team, skill.slug)
    versions = list(_versions(skill, actor))
    facts = all_tarball_facts(versions, name)
    return {
        "_id": name,
        "name": name,
        "description": skill.description,
        "dist-tags": _tags(skill, versions),
        "versions": {version.number: _version(version, name, facts[version.pk]) for version in versions},
        "time": {
            "created": rfc3339(skill.created_at),
            "modified": rfc3339(skill.updated_at),
            **{version.number: rfc3339(version.created_at) for version in versions},
        },
    }


def unheld_versions(skill: Skill, actor: Actor) -> QuerySet[Version]:
    """The versions, including yanked ones, that the actor may see and that are not held, newest first."""
    if skill.resolved_canonical:
        rows = Version.objects.filter(canonicals=skill.resolved_canonical)
    else:
        rows = skill.versions.visible_to(actor).unheld()
    return rows.select_related("skill__team").order_by("-precedence")


def tarball_path(name: str, number: str) -> str:
    return f"npm/{name}/-/{name.rpartition('/')[2]}-{number}.tgz"


def _versions(skill: Skill, actor: Actor) -> Iterable[Version]:
    """The newest versions within the limits of number and size; at least one if there is any."""
    total = 0
    for number, version in enumerate(unheld_versions(skill, actor).defer("body", "problems")[:MAX_VERSIONS]):
        total += version.archive_size
        if number and total > _MAX_BYTES:
            return
        yield version


def _version(version: Version, name: str, facts: TarballFacts) -> dict[str, Any]:
    row = {
        **facts.package_json,
        "_id": f"{name}@{version.number}",
        "homepage": absolute_url(f"skills/{version.skill}/{version.number}/"),
        "dist": {
            "tarball": absolute_url(tarball_path(name, version.number)),
            "integrity": facts.integrity,
            "shasum": facts.shasum,
            "unpackedSize": facts.size,
            "fileCount": facts.file_count,
        },
    }
    if version.yanked_at:
        return {**row, "deprecated": version.yank_reason or "yanked"}
    if version.deprecated_at:
        return {**row, "deprecated": version.deprecation_reason or "deprecated"}
    return row


def _tags(skill: Skill, versions: Iterable[Version]) -> dict[str, str]:
    listed = {version.pk: version.number for version in versions}
    if skill.resolved_canonical:
        return {"latest": skill.resolved_canonical.number}
    channels = skill.channels.values_list("name", "version_id")
    pairs = [*channels, ("latest", skill.latest_id)]
    return {name: listed[key] for name, key in pairs if key in listed}
