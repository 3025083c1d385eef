"""Converts match results to API documents, with what the caller may do with each skill."""

from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from registry.core.addresses import absolute_url
from registry.core.prompt_text import one_line, short_line
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.identity.teams import calling_team
from registry.index.abilities import Ability, detect_abilities
from registry.matching.match import Match, MatchReason, MatchResult
from registry.models import Skill, Version
from registry.packages.manifest.manifest import manifest_of
from registry.rules.decision import Outcome, decide, is_unattended


@dataclass(frozen=True)
class _AnsweredVersion:
    """The data shown about a skill, from its latest version or, for a canonical skill, the pinned one."""

    version: Version | None
    name: str
    description: str
    has: Ability


def match_document(found: MatchResult, actor: Actor) -> dict[str, Any]:
    return {
        "query": found.request.utterance,
        "none": found.none,
        "results": [_match_row(each, actor) for each in found.rows],
    }


def _match_row(found: Match, actor: Actor) -> dict[str, Any]:
    skill, answered = found.skill, _answered_version(found.skill)
    has, number = answered.has, answered.version.number if answered.version else None
    runs = Ability.RUN in has and may(actor, Action.RUN, skill=skill)
    outcome = _permission_outcome(skill, answered.version, actor) if runs else "allow"
    schema = absolute_url(f"/api/v1/skills/{quote(str(skill))}/versions/{quote(number or 'latest')}")
    return {
        "skill": str(skill.resolved_canonical or skill),
        "version": number,
        "score": round(found.score, 3),
        "tier": found.tier.name.lower(),
        "reasons": list(map(_reason, found.reasons)),
        "name": one_line(answered.name),
        "description": short_line(answered.description),
        "can": {
            "load": may(actor, Action.INSTALL, skill=skill),
            "run": runs and outcome != "deny",
        },
        "needs": {
            "approval": outcome == "ask",
            "secret": Ability.SECRET in has,
            "files": Ability.FILES in has,
            "network": Ability.NETWORK in has,
        },
        "input_schema": schema if Ability.SCHEMA in has else None,
    }


def _reason(reason: MatchReason) -> dict[str, Any]:
    """The reason as JSON. Its text becomes one safe line, because publishers write it and agents read it."""
    return {**asdict(reason), "text": one_line(reason.text), "share": round(reason.share, 3)}


def _answered_version(skill: Skill) -> _AnsweredVersion:
    if skill.resolved_canonical and (version := skill.resolved_canonical.version):
        manifest = manifest_of(version.manifest)
        return _AnsweredVersion(
            version,
            manifest.display_name or manifest.name,
            manifest.description,
            detect_abilities(version, manifest),
        )
    return _AnsweredVersion(skill.latest, skill.name, skill.description, Ability(skill.abilities))


def _permission_outcome(skill: Skill, version: Version | None, actor: Actor) -> Outcome:
    """The outcome of the run rules: allow, ask or deny. For a person, ``allow`` replaces ``ask``, because a
    person who starts a run also approves it.
    """
    if version is None:
        return "allow"
    outcome = decide(version, team=calling_team(actor, skill), token=actor.token).outcome
    return "allow" if outcome == "ask" and not is_unattended(actor) else outcome
