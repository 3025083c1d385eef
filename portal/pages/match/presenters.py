"""Presents matches: their reasons, and URLs of run forms that have the user's sentence as input."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.index.abilities import Ability
from registry.matching.documents import match_document
from registry.matching.match import Match, MatchReason, MatchResult
from registry.matching.ranking import MatchTier
from registry.models import Skill, Version

# Names of inputs that usually accept free text.
_TEXT_INPUTS = frozenset(["content", "input", "instruction", "message", "notes", "prompt"])
_TEXT_INPUTS |= {"query", "question", "request", "text", "utterance"}

_WEAK = 0.25  # word matches below this score are rarely what the user needs
_STRONG = 0.5  # from this score on, the skill is more likely right than wrong
_MAX_REASONS, _MAX_BRIEF_REASONS = 8, 5


@dataclass(frozen=True)
class Strength:
    """A score in words, with the tone and icon of its badge."""

    name: str
    tone: str
    icon: str
    label: str | Promise

    @property
    def is_weak(self) -> bool:
        return self.name == "weak"


STRONG = Strength("strong", "ok", "ok", _("Strong match"))
POSSIBLE = Strength("possible", "info", "search", _("Possible match"))
WEAK = Strength("weak", "quiet", "search", _("Weak match"))


def strength(row: Match) -> Strength:
    if row.tier == MatchTier.EXPLICIT or row.score >= _STRONG:
        return STRONG
    return POSSIBLE if row.score >= _WEAK else WEAK


def is_weak(row: Match) -> bool:
    return strength(row).is_weak


@reader
def match_rows(found: MatchResult, actor: Actor) -> Reads[list[dict[str, Any]]]:
    """The matches for templates: each with its API document, strength, reasons, and URL of the run form."""
    document, runs = yield from gather(
        match_document.reads(found, actor),
        run_addresses.reads([row.skill for row in found.rows], found.request.utterance, actor),
    )
    documents = document["results"]
    return [
        {
            "match": row,
            "document": document,
            "strength": strength(row),
            "run_address": runs[row.skill.pk],
            "reasons": scored_reasons(row),
            "brief_reasons": brief_reasons(row),
        }
        for row, document in zip(found.rows, documents, strict=True)
    ]


def scored_reasons(row: Match) -> list[tuple[MatchReason, float]]:
    """The first reasons, each with its share of the match's score, so that users can compare skills."""
    return [(reason, reason.share * row.score) for reason in row.reasons[:_MAX_REASONS]]


def brief_reasons(row: Match) -> list[MatchReason]:
    """The heaviest reason for each matched part of the sentence."""
    found: dict[tuple[int, int], MatchReason] = {}
    for reason in row.reasons:
        if reason.end:
            found.setdefault((reason.start, reason.end), reason)
    return list(found.values())[:_MAX_BRIEF_REASONS]


@reader
def run_addresses(skills: Iterable[Skill], sentence: str, actor: Actor) -> Reads[dict[int, str]]:
    """URLs of run forms by the skills' primary keys.

    If exactly one input of a skill takes free text, the form is prefilled with ``sentence``.
    """
    every = list(skills)
    described = [_version(skill) for skill in every if Ability.SCHEMA in Ability(skill.abilities)]
    rows = Version.objects.visible_to(actor).filter(pk__in=described).values_list("skill_id", "manifest")
    yield rows
    inputs = {skill: _inputs(manifest.get("input_schema"), sentence) for skill, manifest in rows}
    return {skill.pk: _address(skill, inputs.get(skill.pk, {})) for skill in every}


def _version(skill: Skill) -> int:
    """The primary key of the canonical version, otherwise of the latest one; 0 if there is neither."""
    return (skill.resolved_canonical.version_id if skill.resolved_canonical else skill.latest_id) or 0


def _address(skill: Skill, inputs: Mapping[str, str]) -> str:
    form = reverse("run-form", args=[skill.team.slug, skill.slug])
    query = {"version": skill.resolved_canonical.number} if skill.resolved_canonical else {}
    if inputs:
        query["inputs"] = json.dumps(inputs, ensure_ascii=False)
    return f"{form}?{urlencode(query)}" if query else form


def _inputs(schema: Any, sentence: str) -> dict[str, str]:
    """The sentence as the value of the only free text input; {} unless there is exactly one."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not sentence:
        return {}
    free = [name for name, rule in properties.items() if name in _TEXT_INPUTS and _is_text(rule)]
    return {free[0]: sentence} if len(free) == 1 else {}


def _is_text(rule: Any) -> bool:
    return isinstance(rule, Mapping) and rule.get("type") == "string" and "enum" not in rule
