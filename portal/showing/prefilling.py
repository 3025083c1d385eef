"""What a run form may begin with, of a sentence that a skill was found by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from registry.abilities import Ability
from registry.actors import Actor
from registry.models import Skill, Version

# Inputs that are named for what somebody says.
_FREE = frozenset(["content", "input", "instruction", "message", "notes", "prompt"])
_FREE |= {"query", "question", "request", "text", "utterance"}


def run_addresses(skills: Iterable[Skill], sentence: str, actor: Actor) -> dict[int, str]:
    """By the skill's key, its run form: filled in where one input takes what was said."""
    every = list(skills)
    described = [_version(skill) for skill in every if Ability.SCHEMA in Ability(skill.abilities)]
    rows = Version.objects.visible_to(actor).filter(pk__in=described).values_list("skill_id", "manifest")
    inputs = {skill: _inputs(manifest.get("input_schema"), sentence) for skill, manifest in rows}
    return {skill.pk: _address(skill, inputs.get(skill.pk, {})) for skill in every}


def _version(skill: Skill) -> int:
    """The key of the version that is offered."""
    return (skill.found_as.version_id if skill.found_as else skill.latest_id) or 0


def _address(skill: Skill, inputs: Mapping[str, str]) -> str:
    form = reverse("run-form", args=[skill.team.slug, skill.slug])
    query = {"version": skill.found_as.number} if skill.found_as else {}
    if inputs:
        query["inputs"] = json.dumps(inputs, ensure_ascii=False)
    return f"{form}?{urlencode(query)}" if query else form


def _inputs(schema: Any, sentence: str) -> dict[str, str]:
    """The one text input that is free to hold a sentence; none where several might."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not sentence:
        return {}
    free = [name for name, rule in properties.items() if name in _FREE and _is_text(rule)]
    return {free[0]: sentence} if len(free) == 1 else {}


def _is_text(rule: Any) -> bool:
    return isinstance(rule, Mapping) and rule.get("type") == "string" and "enum" not in rule
