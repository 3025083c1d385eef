"""Presents rules, and the decision whether agents may run a version."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.presenters.skill.approval_reason import READ_ONLY, SCRIPTS_PHRASE, permission_reason
from registry.identity.actors import Actor
from registry.identity.teams import calling_team
from registry.models import Rule, Team, Version
from registry.packages.unsafe_properties import (
    SCRIPTS_PROPERTY,
    RequestedPermissions,
    permissions_from_document,
)
from registry.rules import coverage, edit
from registry.rules import decision as rules_decision
from registry.rules import holders as rules_holders
from registry.rules.holders import Holder, holder_of, team_of

MAX_SHOWN = 5  # number of skills listed per rule

PERMISSION_LABELS: dict[str, Promise] = {
    "hosts": _("Network"),
    "filesystem": _("Files"),
    "environment": _("Environment"),
    "secrets": _("Secrets"),
    "tools": _("Agent tools"),
    "hooks": _("Hooks"),
    "shell": _("Shell"),
    "skills": _("Other skills that this skill starts"),
    "properties": _("Other permissions"),
}
_EXPLANATIONS: dict[tuple[str, str], Promise] = {
    ("deny", "rule"): _("%(team)s can't run this skill: a rule denies it."),
    ("allow", "canonical"): _(
        "Agents in %(team)s can run this skill without approval: it is a canonical skill."
    ),
    ("allow", "rule"): _("Agents in %(team)s can run this skill without approval: a rule allows it."),
    ("allow", "safe"): _(
        "Agents in %(team)s can run this skill without approval: it needs no special permissions."
    ),
    ("deny", "skill"): _(
        "Agents can't run this skill: its maintainers reserved it for people. You can run it yourself."
    ),
    ("ask", "none"): _("Agents in %(team)s need approval to run this skill. You can run it yourself."),
}
_TONES = {"allow": "ok", "deny": "bad", "ask": "warn"}
_OUTCOMES = {"allow": _("Allowed"), "deny": _("Denied"), "ask": _("Approval needed")}


def verdict_of(version: Version, actor: Actor, team: Team | None = None) -> dict[str, Any] | None:
    """Whether and why agents of ``team`` may run a version, and whether the actor may add an allow rule.

    None if there is no team, and for held versions. By default, ``team`` is the team for which the actor
    would run the version.
    """
    team = team or (calling_team(actor, version.skill) if actor.user else None)
    if team is None or version.is_held:
        return None
    decision = rules_decision.decide(version, team=team)
    outcome, by = decision.for_agents
    return {
        "decision": decision,
        "rule": decision.rule if by != "skill" else None,
        "explanation": str(_EXPLANATIONS[outcome, by]) % {"team": team.slug},
        "tone": _TONES[outcome],
        "icon": _TONES[outcome],
        "word": _OUTCOMES[outcome],
        "reason": permission_reason(decision.requested_permissions.document()),
        "requested": permission_lines(decision.requested_permissions),
        "added": permission_lines(decision.added_permissions),
        "may_grant": outcome == "ask" and rules_holders.may_grant(team, actor),
    }


def rule_rows(holder: Holder, actor: Actor) -> list[dict[str, Any]]:
    widens, narrows = rules_holders.may_grant(holder, actor), rules_holders.may_deny(holder, actor)
    return [
        _row(rule, actor, narrows if rule.effect == "allow" else widens)
        for rule in edit.rules_of(holder, actor)
    ]


def _row(rule: Rule, actor: Actor, may_remove: bool) -> dict[str, Any]:
    """The rule with the first skills that it covers; ``more`` is the number of other covered skills."""
    covered = coverage.covered_skills(rule.name, team_of(holder_of(rule)), actor)
    found, number = list(covered[:MAX_SHOWN]), covered.count()
    return {
        "rule": rule,
        "granted": permission_lines(permissions_from_document(rule.granted)),
        "covered": found,
        "more": number - len(found),
        "may_remove": may_remove,
    }


def permission_lines(
    requested: RequestedPermissions, *, max_names: int | None = None
) -> list[dict[str, Any]]:
    """The requested kinds of permissions: dicts with the label ``about``, ``names`` and ``omitted``.

    ``omitted`` is the number of names after the first ``max_names``.
    """
    document = requested.document()
    return [
        {
            "about": about,
            "names": [readable_name(key, name) for name in document[key][:max_names]],
            "omitted": len(document[key]) - len(document[key][:max_names]),
        }
        for key, about in PERMISSION_LABELS.items()
        if key in document
    ]


def readable_name(kind: str, name: str) -> str:
    """A name in ``RequestedPermissions.document`` for people: values in JSON as words, complete and in their
    order. Untrusted text, like the name.
    """
    if name == SCRIPTS_PROPERTY:
        return str(SCRIPTS_PHRASE)
    if (kind, name) == ("filesystem", "read-only"):  # a word of the platform; authors write the others
        return str(READ_ONLY)
    if kind == "shell":
        return _words(name)
    if kind == "hooks" or (kind == "properties" and ": " in name):
        event, colon, value = name.partition(": ")
        return f"{event}: {_words(value)}" if colon else _words(name)
    return name


def _words(text: str) -> str:
    """The JSON value as words, such as ``command: echo 'two words'``; other texts are unchanged."""
    try:
        return _flat(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _flat(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_flat(each)}" for key, each in value.items())
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return shlex.join(value)
    if isinstance(value, list):
        return "; ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value)
