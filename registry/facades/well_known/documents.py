"""Builds the documents that clients of the well-known index read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from registry.core.addresses import absolute_url, has_url_prefix
from registry.facades.well_known.entries import IndexEntry
from registry.models import Skill

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MAX_LISTED_FILES = 5_000  # of an index in format 0.1.0, which lists the files of all entries


def index_document(entries: Iterable[IndexEntry]) -> dict[str, Any]:
    """The index in format 0.2.0: each skill with the URL and digest of its archive or, if SKILL.md is its
    only file, of SKILL.md. URL and digest never change, because the URL contains the version.
    """
    return {"$schema": SCHEMA, "skills": [_entry(entry) for entry in entries]}


def file_index_document(entries: Iterable[IndexEntry]) -> dict[str, Any]:
    """The index in format 0.1.0: each skill with the paths of its files. Ends before the skill that would
    exceed _MAX_LISTED_FILES paths.
    """
    rows: list[dict[str, Any]] = []
    listed = 0
    for entry in entries:
        listed += len(entry.files)
        if rows and listed > _MAX_LISTED_FILES:
            break
        paths = [file.path for file in entry.files]
        rows.append({"name": entry.name, "description": entry.description, "files": paths})
    return {"skills": rows}


def search_document(query: str, found: Iterable[Skill], installs: Iterable[int]) -> dict[str, Any]:
    """The hits of a search. ``source`` is the skill's URL, which has its own index. ``installs``, by which
    clients sort, is the rounded usage score.
    """
    return {
        "query": query,
        "skills": [
            {"id": str(skill), "name": skill.slug, "source": absolute_url(str(skill)), "installs": count}
            for skill, count in zip(found, installs, strict=True)
        ],
    }


def _entry(entry: IndexEntry) -> dict[str, Any]:
    version = entry.version
    address = f"{version.skill}/{version.number}"
    row = {"name": entry.name, "description": entry.description, "version": version.number}
    if entry.skill_md:
        url = absolute_url(f"{address}/.well-known/agent-skills/{version.skill.slug}/SKILL.md")
        return {**row, "type": "skill-md", "url": url, "digest": entry.skill_md.digest}
    url = absolute_url(
        f"{address}/.well-known/agent-skills/{version.skill.slug}.zip"
        if has_url_prefix()
        else f"api/v1/skills/{version.skill}/versions/{version.number}/archive"
    )
    return {**row, "type": "archive", "url": url, "digest": version.digest}
