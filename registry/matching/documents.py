"""A match as the JSON of commands and API: each row says why, what can be done with it and what it needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from registry.abilities import Ability, abilities_of
from registry.actors import Actor
from registry.addresses import absolute
from registry.listing.plain import brief, one_line
from registry.matching import Match, Matches, Reason
from registry.models import Skill, Version
from registry.packages.manifest import manifest_of
from registry.permissions import Action, may
from registry.rules import Outcome, binds, decide
from registry.teams import calling_team


@dataclass(frozen=True)
class _Offered:
    """What is told of a skill: of its latest version, or of the one that is pinned."""

    version: Version | None
    name: str
    description: str
    has: Ability


def document(found: Matches, actor: Actor) -> dict[str, Any]:
    return {
        "query": found.request.utterance,
        "none": found.none,
        "results": [_row(each, actor) for each in found.rows],
    }


def _row(found: Match, actor: Actor) -> dict[str, Any]:
    skill, offered = found.skill, _offered(found.skill)
    has, number = offered.has, offered.version.number if offered.version else None
    runs = Ability.RUN in has and may(actor, Action.RUN, skill=skill)
    leave = _leave(skill, offered.version, actor) if runs else "allow"
    schema = absolute(f"/api/v1/skills/{quote(str(skill))}/versions/{quote(number or 'latest')}")
    return {
        "skill": str(skill.found_as or skill),
        "version": number,
        "score": round(found.score, 3),
        "tier": found.tier.name.lower(),
        "reasons": list(map(_reason, found.reasons)),
        "name": one_line(offered.name),
        "description": brief(offered.description),
        "can": {
            "load": may(actor, Action.INSTALL, skill=skill),
            "run": runs and leave != "deny",
        },
        "needs": {
            "approval": leave == "ask",
            "secret": Ability.SECRET in has,
            "files": Ability.FILES in has,
            "network": Ability.NETWORK in has,
        },
        "input_schema": schema if Ability.SCHEMA in has else None,
    }


def _reason(reason: Reason) -> dict[str, Any]:
    """A trigger is told as any text of publishers is: agents read it."""
    return {**asdict(reason), "text": one_line(reason.text), "share": round(reason.share, 3)}


def _offered(skill: Skill) -> _Offered:
    if skill.found_as and (version := skill.found_as.version):
        said = manifest_of(version.manifest)
        return _Offered(
            version, said.display_name or said.name, said.description, abilities_of(version, said)
        )
    return _Offered(skill.latest, skill.name, skill.description, Ability(skill.abilities))


def _leave(skill: Skill, version: Version | None, actor: Actor) -> Outcome:
    """What rules say; a person who presses Run has been asked by that, but a denial holds for everybody."""
    if version is None:
        return "allow"
    outcome = decide(version, team=calling_team(actor, skill), token=actor.token).outcome
    return "allow" if outcome == "ask" and not binds(actor) else outcome
