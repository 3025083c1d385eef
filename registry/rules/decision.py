"""Decides whether agents may run a version: by deny rules, the canonical version, allow rules, then safe
fields.

If none of these decides, the outcome is "ask".
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q, QuerySet

from registry.additions.additions import effective_manifest
from registry.core.addresses import absolute_url
from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.lookup.canonical import unavailable_reason
from registry.models import Canonical, Effect, Rule, Team, Token, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.problems import Refusal
from registry.packages.rule_names import PREFIX_MARK, is_prefix, matches
from registry.packages.unsafe_properties import (
    SAFE_WITHIN_TEAM,
    RequestedPermissions,
    permissions_from_document,
    unsafe_properties,
)
from registry.rules.coverage import former_names, rule_names
from registry.rules.edit import active_rules, lock_holders
from registry.rules.errors import (
    APPROVAL_NEEDED,
    APPROVAL_NEEDED_WITHOUT_TEAM,
    NOT_FOR_AGENTS,
    RULE_DENIED,
)
from registry.rules.holders import holder_of, owner_may_grant
from registry.rules.requested_permissions import declared_permissions, has_scripts, version_permissions

NO_PERMISSIONS = RequestedPermissions()
Outcome = Literal["allow", "deny", "ask"]
DecisionBasis = Literal["rule", "canonical", "safe", "none", "skill"]


@dataclass(frozen=True)
class Decision:
    """Whether agents of a team may run a version without approval, and why."""

    version: Version
    team: Team | None
    outcome: Outcome
    by: DecisionBasis
    requested_permissions: RequestedPermissions
    unsafe_properties: tuple[str, ...]  # properties that are not listed as safe
    rule: Rule | None = None  # the rule that decided; for "ask", the allow rule that covers too little
    # For "ask": permissions not covered by that rule or the canonical version.
    added_permissions: RequestedPermissions = NO_PERMISSIONS

    @property
    def for_agents(self) -> tuple[Outcome, DecisionBasis]:
        """The outcome and its basis for agents. A version reserved for people is denied to agents, with the
        basis "skill".
        """
        applies = self.outcome == "deny" or allows_agents(self.version)
        return (self.outcome, self.by) if applies else ("deny", "skill")

    @property
    def exact(self) -> str:
        """The name of an allow rule for this skill."""
        return str(self.version.skill)

    @property
    def prefix(self) -> str:
        """The name of an allow rule for all skills whose names start with this skill's name."""
        return self.exact + PREFIX_MARK

    def basis_document(self) -> dict[str, str | None]:
        """The basis on which a run was allowed, as JSON; "person" if a person started it despite the outcome
        "ask".
        """
        rule = self.rule if self.outcome == "allow" else None
        return {
            "basis": "person" if self.outcome == "ask" else self.by,
            "rule": rule.uid if rule else None,
            "name": rule.name if rule else None,
        }


def is_unattended(actor: Actor) -> bool:
    """Whether the actor uses a token and therefore counts as an agent. People approve runs by starting
    them.
    """
    return actor.token is not None


def allows_agents(version: Version) -> bool:
    return not manifest_of(version.manifest).disable_model_invocation


def require_agents_allowed(version: Version, actor: Actor) -> None:
    """Raises NOT_FOR_AGENTS if the actor is an agent and the version's author reserves it for people."""
    if is_unattended(actor) and not allows_agents(version):
        raise NOT_FOR_AGENTS.refusal(version=str(version), page=run_page(version))


def run_page(version: Version) -> str:
    return absolute_url(f"/skills/{version.skill}/run/?version={version.number}")


@reader
def decide(version: Version, *, team: Team | None, token: Token | None = None) -> Reads[Decision]:
    """The decision for agents of ``team``. ``token`` is the agent's token, whose rules apply too."""
    rows, canonicals = _rule_rows(team, token), version.skill.canonicals.select_related("version__skill")
    _, scripts = yield from gather(reads_of(rows, canonicals), has_scripts.reads(version))
    rules = _effective_rules(rows, team)
    names = rule_names(version.skill, team, canonicals)
    is_own = team is not None and version.skill.team_id == team.pk
    requested = version_permissions(version, has_scripts=scripts)
    unsafe = unsafe_properties(effective_manifest(version), has_scripts=scripts)
    unsafe = tuple(name for name in unsafe if not (is_own and name in SAFE_WITHIN_TEAM))

    def result(
        outcome: Outcome,
        by: DecisionBasis,
        rule: Rule | None = None,
        added: RequestedPermissions = NO_PERMISSIONS,
    ) -> Decision:
        return Decision(version, team, outcome, by, requested, unsafe, rule, added)

    deny_rules = [rule for rule in rules if rule.effect == Effect.DENY]
    if deny_rules:
        names_to_deny = (*names, *(yield from former_names.reads(version.skill, team)))
        if rule := _first_match(deny_rules, names_to_deny):
            return result("deny", "rule", rule)
    canonical_grant = yield from _canonical_grant(canonicals, requested)
    if canonical_grant is not None and not requested.beyond(canonical_grant):
        return result("allow", "canonical")
    allow_rules = [rule for rule in rules if rule.effect == Effect.ALLOW and matches(rule.name, names)]
    if rule := next((rule for rule in allow_rules if not _added_permissions(requested, rule)), None):
        return result("allow", "rule", rule)
    if not unsafe:
        return result("allow", "safe")
    if allow_rules:
        return result("ask", "none", allow_rules[0], _added_permissions(requested, allow_rules[0]))
    return result(
        "ask",
        "none",
        added=requested.beyond(canonical_grant) if canonical_grant is not None else NO_PERMISSIONS,
    )


def decide_locked(decision: Decision, token: Token | None) -> Decision:
    """Decides again, with the rules locked until the transaction ends. A rule that is added later therefore
    also applies to this run if it waits for approval.
    """
    lock_holders(decision.team, token)
    return decide(decision.version, team=decision.team, token=token)


def require_not_denied(decision: Decision) -> None:
    """Raises RULE_DENIED, for people as for agents, if the outcome is "deny"."""
    if decision.outcome == "deny":
        raise _denial(decision)


def require_allowed(decision: Decision) -> None:
    """Raises RULE_DENIED, APPROVAL_NEEDED or APPROVAL_NEEDED_WITHOUT_TEAM, for people as for agents, unless
    the outcome is "allow".
    """
    require_not_denied(decision)
    if decision.outcome == "ask":
        raise _approval_refusal(decision)


def require_allowed_for(decision: Decision, actor: Actor) -> None:
    """Raises RULE_DENIED if the outcome is "deny", and APPROVAL_NEEDED or APPROVAL_NEEDED_WITHOUT_TEAM if it
    is "ask" and the actor is an agent. For callers whose runs can't wait for approval.
    """
    require_not_denied(decision)
    if decision.outcome == "ask" and is_unattended(actor):
        raise _approval_refusal(decision)


@reader
def teams_with_denials(teams: Collection[int]) -> Reads[frozenset[int]]:
    """Those of the teams with these ids that have an active deny rule. All versions in the others are allowed
    to people.
    """
    rules = active_rules().filter(team__in=teams, effect=Effect.DENY).order_by()
    yield (found := rules.values_list("team_id", flat=True).distinct())
    return frozenset(found)


def _rule_rows(team: Team | None, token: Token | None) -> QuerySet[Rule]:
    """The active rules of team and token."""
    owned = Q(team=team) if team else Q(pk=None)
    if token and token.pk:  # a webhook's token has no row
        owned |= Q(token=token)
    return active_rules().filter(owned).select_related("team", "token")


def _effective_rules(rows: Iterable[Rule], team: Team | None) -> list[Rule]:
    """The rules of ``rows`` in the order in which they count: exact names before prefixes, then longer names
    before shorter ones, then the team's before the token's. A token's allow rules count only if its owner may
    grant permissions in ``team``.
    """
    rules = [
        rule
        for rule in rows
        if rule.effect == Effect.DENY or rule.token is None or owner_may_grant(rule.token, team)
    ]
    return sorted(
        rules, key=lambda rule: (is_prefix(rule.name), -len(rule.name), rule.team_id is None, rule.pk)
    )


def _first_match(rules: Sequence[Rule], names: tuple[str, ...]) -> Rule | None:
    return next((rule for rule in rules if matches(rule.name, names)), None)


def _canonical_grant(
    rows: Iterable[Canonical], requested: RequestedPermissions
) -> Reads[RequestedPermissions | None]:
    """The permissions that an available canonical version declares, or None if there is none. Prefers a
    version that has all of ``requested``. Additions are excluded: no administrator has approved them.
    """
    pinned = [row.version for row in rows if row.version and not unavailable_reason(row)]
    grants = yield from gather(*map(declared_permissions.reads, pinned))
    return min(grants, key=lambda grant: bool(requested.beyond(grant)), default=None)


def _added_permissions(requested: RequestedPermissions, rule: Rule) -> RequestedPermissions:
    return requested.beyond(permissions_from_document(rule.granted))


def _denial(decision: Decision) -> Refusal:
    assert decision.rule
    holder = holder_of(decision.rule)
    name = holder.slug if isinstance(holder, Team) else holder.name
    rule, page = decision.rule.name, rules_page(holder)
    return RULE_DENIED.refusal(version=str(decision.version), rule=rule, holder=name, page=page)


def _approval_refusal(decision: Decision) -> Refusal:
    requested = decision.added_permissions.document() or {"": list(decision.unsafe_properties)}
    permissions = "; ".join(f"{part} {', '.join(names)}".strip() for part, names in requested.items())
    version, asks, page = str(decision.version), permissions[:500], run_page(decision.version)
    names = {"exact": decision.exact, "prefix": decision.prefix}
    if decision.team is None:
        return APPROVAL_NEEDED_WITHOUT_TEAM.refusal(version=version, asks=asks, page=page, **names)
    return APPROVAL_NEEDED.refusal(version=version, team=decision.team.slug, asks=asks, page=page, **names)


def rules_page(holder: Team | Token) -> str:
    if isinstance(holder, Team):
        return absolute_url(f"/teams/{holder.slug}/rules/")
    return absolute_url(f"/account/tokens/{holder.uid}/rules/")
