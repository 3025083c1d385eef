"""The rows of a list of skills: a fragment each, made from plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django import template
from django.utils.safestring import SafeString, mark_safe

from portal.presenters.reasons import RowReason
from portal.presenters.skill.kind import kind_of
from portal.presenters.skill.strip import Strip
from portal.templatetags.skillquay_fragments import Deferred, fragment
from registry.models import Skill

register = template.Library()
_TAGS = 6  # maximum number of tags of a row
_REASONS = 5


class CatalogRow(NamedTuple):
    """A row of ``catalog/row.html``. ``score`` and ``strip`` are None in lists without these facts."""

    team: str
    slug: str
    name: str
    kind: str
    visibility: str
    number: str | None
    published_at: datetime | None
    description: str
    uses: int
    tags: tuple[str, ...]
    score: str | None = None
    strip: Strip | None = None
    reasons: tuple[RowReason, ...] = ()


@register.simple_tag(takes_context=True)
def catalog_rows(
    context: template.Context,
    skills: Iterable[Skill],
    facts: Mapping[int, dict[str, Any]] | None,
    compact: bool | None,
) -> SafeString:
    """The rows of the skills; ``facts`` are those of ``portal.pages.catalog.presenters.facts_of``."""
    rows = [_deferred(_row(skill, (facts or {}).get(skill.pk, {}))) for skill in skills]
    more = {"compact": bool(compact), "reader_zone": context["reader_zone"]}
    return mark_safe("\n".join([fragment(context, "catalog/row.html", row=row, **more) for row in rows]))


def _deferred(row: CatalogRow) -> Deferred:
    """The row with a short-cut to its key: it has plain values only, whose ``repr`` tells them apart."""
    return Deferred(repr(row), lambda: row)


def _row(skill: Skill, facts: dict[str, Any]) -> CatalogRow:
    latest = skill.latest
    strip: Strip | None = facts.get("strip")
    return CatalogRow(
        team=skill.team.slug,
        slug=skill.slug,
        name=skill.name,
        kind=kind_of(skill).name,
        visibility=skill.visibility,
        number=latest.number if latest else None,
        published_at=latest.created_at if latest else None,
        description=skill.description,
        uses=skill.usage_count,
        tags=tuple(skill.tags[:_TAGS]),
        score=facts.get("score"),
        strip=strip if strip and strip.bars and strip.rate is not None else None,
        reasons=facts.get("reasons", ())[:_REASONS],
    )
