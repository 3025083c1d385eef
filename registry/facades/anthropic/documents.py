"""Builds the documents of Anthropic's skills API, with the fields of its newer and older versions."""

from __future__ import annotations

from typing import Any

from registry.core.time import rfc3339
from registry.facades.sdk_skills import skill_id, version_id
from registry.models import Skill, Version


def skill_document(skill: Skill, newest: Version) -> dict[str, Any]:
    return {
        "id": skill_id(skill),
        "type": "skill",
        "source": {"type": "custom"},
        "display_name": skill.name,
        "display_title": skill.name,
        "latest_version_id": version_id(newest),
        "latest_version": newest.number,
        "created_at": rfc3339(skill.created_at),
        "updated_at": rfc3339(skill.updated_at),
    }


def version_document(version: Version, skill: Skill) -> dict[str, Any]:
    return {
        "id": version_id(version),
        "type": "skill_version",
        "skill_id": skill_id(skill),
        "name": version.skill.slug,
        "directory": version.skill.slug,
        "description": str(version.manifest.get("description") or ""),
        "version": version.number,
        "created_at": rfc3339(version.created_at),
    }
