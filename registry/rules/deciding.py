"""The decision of document D: deny rules → canonical → allow rules → only safe properties → ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q

from registry.actors import Actor
from registry.addresses import absolute
from registry.canonical.answering import trouble_of
from registry.models import Effect, Rule, Team, Token, Version
from registry.packages.manifest import manifest_of
from registry.packages.problems import Refused, refuse
from registry.packages.rule_names import ANY, is_prefix, matches
from registry.packages.safety import OWN, Asks, asks_from, unsafe_properties
from registry.rules.changing import hold_still, standing_rules
from registry.rules.covering import earlier_names_of, names_of
from registry.rules.granting import asks_of_version, has_scripts
from registry.rules.holders import holder_of, owner_may_grant

NOTHING = Asks()
Outcome = Literal["allow", "deny", "ask"]
By = Literal["rule", "canonical", "safe", "nobody", "skill"]


@dataclass(frozen=True)
class Decision:
    """Whether agents run a version unasked for a team, and what made it so."""

    version: Version
    team: Team | None
    outcome: Outcome
    by: By
    asks: Asks
    unsafe: tuple[str, ...]  # the properties that no list calls safe
    rule: Rule | None = None  # that made it; of an ask the allowance that does not reach as far
    new: Asks = NOTHING  # beyond that allowance, or beyond what was made canonical

    @property
    def of_agents(self) -> tuple[Outcome, By]:
        """The same for those who are no person: a skill that keeps models from calling it is not theirs."""
        told = self.outcome == "deny" or is_for_agents(self.version)
        return (self.outcome, self.by) if told else ("deny", "skill")

    @property
    def exact(self) -> str:
        """The rule that would allow this skill."""
        return str(self.version.skill)

    @property
    def prefix(self) -> str:
        """The rule that would allow it and all that begin as it does."""
        return self.exact + ANY


def binds(actor: Actor) -> bool:
    """A person who presses Run has been asked by that; an agent has not."""
    return actor.token is not None


def is_for_agents(version: Version) -> bool:
    return not manifest_of(version.manifest).disable_model_invocation


def require_for_agents(version: Version, actor: Actor) -> None:
    """Refuses agents what its author keeps for people."""
    if binds(actor) and not is_for_agents(version):
        raise refuse("NOT_FOR_AGENTS", version=str(version), page=run_page(version))


def run_page(version: Version) -> str:
    return absolute(f"/skills/{version.skill}/run/?version={version.number}")


def decide(version: Version, *, team: Team | None, token: Token | None = None) -> Decision:
    """``team``: for which it would run, whose rules hold; ``token``: the agent's, whose own rules do too."""
    rules = _rules(team, token)
    names = names_of(version.skill, team)
    ours = team is not None and version.skill.team_id == team.pk
    asks = asks_of_version(version)
    unsafe = unsafe_properties(manifest_of(version.manifest), has_scripts=has_scripts(version))
    unsafe = tuple(name for name in unsafe if not (ours and name in OWN))

    def decided(outcome: Outcome, by: By, rule: Rule | None = None, new: Asks = NOTHING) -> Decision:
        return Decision(version, team, outcome, by, asks, unsafe, rule, new)

    denials = [rule for rule in rules if rule.effect == Effect.DENY]
    if denials and (rule := _first(denials, (*names, *earlier_names_of(version.skill, team)))):
        return decided("deny", "rule", rule)
    vouched = _canonical_grant(version, asks)
    if vouched is not None and not asks.beyond(vouched):
        return decided("allow", "canonical")
    allowances = [rule for rule in rules if rule.effect == Effect.ALLOW and matches(rule.name, names)]
    if rule := next((rule for rule in allowances if not _beyond(asks, rule)), None):
        return decided("allow", "rule", rule)
    if not unsafe:
        return decided("allow", "safe")
    if allowances:
        return decided("ask", "nobody", allowances[0], _beyond(asks, allowances[0]))
    return decided("ask", "nobody", new=asks.beyond(vouched) if vouched is not None else NOTHING)


def decide_still(decision: Decision, token: Token | None) -> Decision:
    """The same asked again while nobody can make a rule, until the transaction ends: what waits from now on
    is found by whoever makes one next."""
    hold_still(decision.team, token)
    return decide(decision.version, team=decision.team, token=token)


def require_undenied(decision: Decision) -> None:
    """Refuses what a rule denies, to everybody."""
    if decision.outcome == "deny":
        raise _denied(decision)


def require_allowed(decision: Decision) -> None:
    """Refuses what is denied and what asks, to everybody: where no person has been asked about this one."""
    require_undenied(decision)
    if decision.outcome == "ask":
        raise _approval_needed(decision)


def require_leave(decision: Decision, actor: Actor) -> None:
    """Refuses what is denied, and to agents what asks: for those who cannot wait for somebody's leave."""
    require_undenied(decision)
    if decision.outcome == "ask" and binds(actor):
        raise _approval_needed(decision)


def _rules(team: Team | None, token: Token | None) -> list[Rule]:
    """Exact ones first, of prefixes the longest, the team's before the token's."""
    held = Q(team=team) if team else Q(pk=None)
    if token and token.pk:  # a webhook's is no row
        held |= Q(token=token)
    if not (team or token):
        return []
    rows = standing_rules().filter(held).select_related("team", "token")
    rules = [
        rule
        for rule in rows
        if rule.effect == Effect.DENY or rule.token is None or owner_may_grant(rule.token, team)
    ]
    return sorted(
        rules, key=lambda rule: (is_prefix(rule.name), -len(rule.name), rule.team_id is None, rule.pk)
    )


def _first(rules: Sequence[Rule], names: tuple[str, ...]) -> Rule | None:
    return next((rule for rule in rules if matches(rule.name, names)), None)


def _canonical_grant(version: Version, asks: Asks) -> Asks | None:
    """What the skill asked for when an administrator made it canonical, while that is answered."""
    rows = version.skill.canonicals.select_related("version__skill")
    grants = [asks_of_version(row.version) for row in rows if row.version and not trouble_of(row)]
    return min(grants, key=lambda grant: bool(asks.beyond(grant)), default=None)


def _beyond(asks: Asks, rule: Rule) -> Asks:
    return asks.beyond(asks_from(rule.granted))


def _denied(decision: Decision) -> Refused:
    assert decision.rule
    holder = holder_of(decision.rule)
    name = holder.slug if isinstance(holder, Team) else holder.name
    rule, page = decision.rule.name, rules_page(holder)
    return refuse("RULE_DENIED", version=str(decision.version), rule=rule, holder=name, page=page)


def _approval_needed(decision: Decision) -> Refused:
    asked = decision.new.document() or {"": list(decision.unsafe)}
    told = "; ".join(f"{part} {', '.join(names)}".strip() for part, names in asked.items())
    return refuse(
        "APPROVAL_NEEDED",
        version=str(decision.version),
        team=decision.team.slug if decision.team else "–",
        asks=told[:500],
        exact=decision.exact,
        prefix=decision.prefix,
        page=run_page(decision.version),
    )


def rules_page(holder: Team | Token) -> str:
    if isinstance(holder, Team):
        return absolute(f"/teams/{holder.slug}/rules/")
    return absolute(f"/account/tokens/{holder.uid}/rules/")
