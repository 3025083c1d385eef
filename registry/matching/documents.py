"""Converts match results to API documents, with what the caller may do with each skill."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from registry.core.addresses import absolute_url
from registry.core.prompt_text import one_line, short_line
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.identity.teams import calling_team
from registry.index.abilities import Ability, detect_abilities
from registry.matching.match import Match, MatchReason, MatchResult
from registry.models import Skill, Team, Version
from registry.packages.manifest.manifest import manifest_of
from registry.rules.decision import Outcome, decide, is_unattended, teams_with_denials


@dataclass(frozen=True)
class _AnsweredVersion:
    """The data shown about a skill, from its latest version or, for a canonical skill, the pinned one."""

    version: Version | None
    name: str
    description: str
    has: Ability


@reader
def match_document(found: MatchResult, actor: Actor) -> Reads[dict[str, Any]]:
    teams = _calling_teams([each.skill for each in found.rows], actor)
    denying = yield from teams_with_denials.reads({team.pk for team in teams.values() if team})
    return {
        "query": found.request.utterance,
        "none": found.none,
        "results": [_match_row(each, actor, teams[each.skill.pk], denying) for each in found.rows],
    }


def _calling_teams(skills: Sequence[Skill], actor: Actor) -> dict[int, Team | None]:
    """The team for which the actor would run each skill, by skill id. Skills of other teams share one."""
    found: dict[int, Team | None] = {}
    for skill in skills:
        is_own = actor.is_administrator or skill.team_id in actor.team_ids
        key = skill.team_id if is_own else 0
        if key not in found:
            found[key] = calling_team(actor, skill)
    return {skill.pk: found.get(skill.team_id, found.get(0)) for skill in skills}


def _match_row(found: Match, actor: Actor, team: Team | None, denying: Collection[int]) -> dict[str, Any]:
    skill, answered = found.skill, _answered_version(found.skill)
    has, number = answered.has, answered.version.number if answered.version else None
    runs = Ability.RUN in has and may(actor, Action.RUN, skill=skill)
    is_open = not is_unattended(actor) and (team is None or team.pk not in denying)
    outcome = "allow" if is_open or not runs else _permission_outcome(answered.version, team, actor)
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


def _permission_outcome(version: Version | None, team: Team | None, actor: Actor) -> Outcome:
    """The outcome of the run rules: allow, ask or deny. For a person, ``allow`` replaces ``ask``, because a
    person who starts a run also approves it.
    """
    if version is None:
        return "allow"
    outcome = decide(version, team=team, token=actor.token).outcome
    return "allow" if outcome == "ask" and not is_unattended(actor) else outcome
