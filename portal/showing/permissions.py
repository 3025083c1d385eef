"""Rules and decisions in words: what a rule covers, what it was given for, and why agents may or may not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from registry import rules
from registry.actors import Actor
from registry.models import Rule, Skill, Team, Version
from registry.packages.safety import Asks, asks_from
from registry.rules import Decision, Holder
from registry.rules.holders import holder_of, team_of
from registry.teams import calling_team

SHOWN = 5  # of the skills that a rule covers

_PARTS: dict[str, Promise] = {
    "hosts": _("Network"),
    "filesystem": _("Files"),
    "environment": _("Environment"),
    "secrets": _("Secrets"),
    "tools": _("Tools of the agent"),
    "hooks": _("Hooks"),
    "shell": _("Shell"),
    "skills": _("Other skills that it starts"),
    "properties": _("Other fields"),
}
_WHY: dict[tuple[str, str], Promise] = {
    ("deny", "rule"): _("Nobody runs this version for the team %(team)s: a rule forbids it."),
    ("allow", "canonical"): _("Agents of %(team)s run it unasked: it is canonical."),
    ("allow", "rule"): _("Agents of %(team)s run it unasked: a rule allows it."),
    ("allow", "safe"): _("Agents of %(team)s run it unasked: it asks for nothing that is not safe."),
    ("deny", "skill"): _("Agents do not run it: its author keeps it for people. You may run it yourself."),
    ("ask", "nobody"): _("Agents of %(team)s wait until somebody lets them. You may run it yourself."),
}
_TONES = {"allow": ("ok", "ok"), "deny": ("bad", "bad"), "ask": ("warn", "warn")}


@dataclass(frozen=True)
class Part:
    """One line of what is asked for."""

    about: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class RuleRow:
    rule: Rule
    granted: tuple[Part, ...]
    covers: Sequence[Skill]
    more: int  # skills beyond those in ``covers``
    may_remove: bool


@dataclass(frozen=True)
class Verdict:
    """What a skill's page says of a decision, and what somebody who may grant it can press."""

    decision: Decision
    says: str
    tone: str
    icon: str
    asks: tuple[Part, ...]
    new: tuple[Part, ...]  # of it what an allowance, or what is canonical, does not reach
    may_grant: bool


def verdict_of(version: Version, actor: Actor, team: Team | None = None) -> Verdict | None:
    """For this team, or for that which a run by this person would be for; None where there is none."""
    team = team or (calling_team(actor, version.skill) if actor.user else None)
    if team is None or version.is_held:
        return None
    decision = rules.decide(version, team=team)
    outcome, by = decision.of_agents
    says = str(_WHY[outcome, by]) % {"team": team.slug}
    asks = outcome == "ask"
    return Verdict(
        decision,
        says,
        *_TONES[outcome],
        asks=parts_of(decision.asks),
        new=parts_of(decision.new),
        may_grant=asks and rules.may_grant(team, actor),
    )


def rule_rows(holder: Holder, actor: Actor) -> list[RuleRow]:
    widens, narrows = rules.may_grant(holder, actor), rules.may_deny(holder, actor)
    return [
        _row(rule, actor, narrows if rule.effect == "allow" else widens)
        for rule in rules.rules_of(holder, actor)
    ]


def _row(rule: Rule, actor: Actor, may_remove: bool) -> RuleRow:
    covered = rules.covered_by(rule.name, team_of(holder_of(rule)), actor)
    found, number = list(covered[:SHOWN]), covered.count()
    return RuleRow(rule, parts_of(asks_from(rule.granted)), found, number - len(found), may_remove)


def parts_of(asks: Asks) -> tuple[Part, ...]:
    told = asks.document()
    return tuple(Part(gettext(str(about)), tuple(told[key])) for key, about in _PARTS.items() if key in told)
