"""Rules and decisions as the JSON objects of commands and API."""

from __future__ import annotations

from typing import Any

from registry.models import Rule
from registry.moments import moment
from registry.rules.deciding import Decision, run_page


def rule_document(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.uid,
        "effect": rule.effect,
        "name": rule.name,
        "team": rule.team.slug if rule.team else None,
        "token": rule.token.uid if rule.token else None,
        "granted": rule.granted,
        "given_for": rule.given_for or None,
        "made_by": rule.made_by.username if rule.made_by else None,
        "made_at": moment(rule.made_at),
        "removed_at": moment(rule.removed_at),
    }


def leave_document(decision: Decision) -> dict[str, Any]:
    """What a run keeps of the decision that let it run; the person who started one that asks did."""
    rule = decision.rule if decision.outcome == "allow" else None
    return {
        "by": "person" if decision.outcome == "ask" else decision.by,
        "rule": rule.uid if rule else None,
        "name": rule.name if rule else None,
    }


def decision_document(decision: Decision) -> dict[str, Any]:
    """``rule`` of an ask is the allowance that does not reach as far as ``new``."""
    version, (outcome, by) = decision.version, decision.of_agents
    return {
        "skill": str(version.skill),
        "version": version.number,
        "team": decision.team.slug if decision.team else None,
        "outcome": outcome,
        "by": by,
        "rule": rule_document(decision.rule) if decision.rule else None,
        "unsafe_properties": list(decision.unsafe),
        "asks": decision.asks.document(),
        "new": decision.new.document(),
        "offers": {"exact": decision.exact, "prefix": decision.prefix} if outcome == "ask" else None,
        "page": run_page(version),
    }
