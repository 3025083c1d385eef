"""Builds the documents of OpenAI's skills API. Times are seconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.facades.sdk_skills import skill_id, version_id
from registry.models import Skill, Version


def skill_document(skill: Skill, newest: Version) -> dict[str, Any]:
    return {
        "id": skill_id(skill),
        "object": "skill",
        "created_at": int(skill.created_at.timestamp()),
        "default_version": newest.number,
        "latest_version": newest.number,
        "name": skill.slug,
        "description": skill.description,
    }


def version_document(version: Version, skill: Skill) -> dict[str, Any]:
    return {
        "id": version_id(version),
        "object": "skill.version",
        "created_at": int(version.created_at.timestamp()),
        "skill_id": skill_id(skill),
        "version": version.number,
        "name": version.skill.slug,
        "description": str(version.manifest.get("description") or ""),
    }


def list_document(rows: Sequence[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
    return {
        "object": "list",
        "data": rows,
        "has_more": has_more,
        "first_id": rows[0]["id"] if rows else None,
        "last_id": rows[-1]["id"] if rows else None,
    }
