"""A match as the JSON of commands and API: each row says why, what can be done with it and what it needs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from registry.abilities import Ability
from registry.actors import Actor
from registry.addresses import absolute
from registry.matching import Match, Matches
from registry.models import Skill
from registry.permissions import Action, may
from registry.rules import Outcome, binds, decide
from registry.teams import calling_team


def document(found: Matches, actor: Actor) -> dict[str, Any]:
    return {
        "query": found.request.utterance,
        "none": found.none,
        "results": [_row(each, actor) for each in found.rows],
    }


def _row(found: Match, actor: Actor) -> dict[str, Any]:
    skill, has = found.skill, Ability(found.skill.abilities)
    number = skill.latest.number if skill.latest else None
    runs = Ability.SCRIPT in has and may(actor, Action.RUN, skill=skill)
    leave = _leave(skill, actor) if runs else "allow"
    schema = absolute(f"/api/v1/skills/{quote(str(skill))}/versions/{quote(number or 'latest')}")
    return {
        "skill": str(skill),
        "version": number,
        "score": round(found.score, 3),
        "tier": found.tier.name.lower(),
        "reasons": [{**asdict(reason), "share": round(reason.share, 3)} for reason in found.reasons],
        "name": skill.name,
        "description": skill.description,
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


def _leave(skill: Skill, actor: Actor) -> Outcome:
    """What rules say to an agent; a person who presses Run has been asked by that."""
    if skill.latest is None or not binds(actor):
        return "allow"
    return decide(skill.latest, team=calling_team(actor, skill), token=actor.token).outcome
