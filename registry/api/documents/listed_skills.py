"""The JSON objects of skills in lists, from a query for the columns that they show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from django.db.models import QuerySet

from registry.core.addresses import absolute_url
from registry.core.sql import padded, prepared
from registry.core.time import rfc3339
from registry.models import Skill


class SkillFacts(NamedTuple):
    """The columns of a skill, its team and its version that the JSON object shows."""

    uid: str
    team: str
    slug: str
    name: str
    description: str
    type: str | None
    domain: str
    category: str
    tags: Sequence[str]
    visibility: str
    source: str
    deprecated_at: datetime | None
    deprecation_reason: str
    purged_at: datetime | None
    merged_into: int | None
    created_at: datetime
    updated_at: datetime
    number: str | None
    digest: str | None


_COLUMNS = {"team": "team__slug", "number": "latest__number", "digest": "latest__digest"}


def listed_documents(keys: Sequence[int]) -> list[dict[str, Any]]:
    """The JSON objects of the skills with these keys, in their order. Removed skills are omitted."""
    rows = {row[0]: row for row in _facts(*padded(keys))}
    return [facts_document(SkillFacts(*rows[key][1:])) for key in keys if key in rows]


@prepared
def _facts(*skills: int) -> QuerySet[Skill, tuple[Any, ...]]:
    columns = [_COLUMNS.get(name, name) for name in SkillFacts._fields]
    return Skill.objects.filter(pk__in=skills).values_list("pk", *columns)


def facts_document(facts: SkillFacts) -> dict[str, Any]:
    label = f"{facts.team}/{facts.slug}"
    return {
        "id": facts.uid,
        "skill": label,
        "team": facts.team,
        "slug": facts.slug,
        "name": facts.name,
        "description": facts.description,
        "type": facts.type or "",
        "domain": facts.domain,
        "category": facts.category,
        "tags": list(facts.tags),
        "visibility": facts.visibility,
        "source": facts.source,
        "deprecated_at": rfc3339(facts.deprecated_at),
        "deprecation_reason": facts.deprecation_reason,
        "removed_as": "purged" if facts.purged_at else "merged" if facts.merged_into else "",
        "version": facts.number,
        "digest": facts.digest,
        "created_at": rfc3339(facts.created_at),
        "updated_at": rfc3339(facts.updated_at),
        "url": absolute_url(f"/api/v1/skills/{quote(label)}"),
        "page_url": absolute_url(f"/skills/{quote(label)}/"),
    }
