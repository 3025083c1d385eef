"""Groups waiting approval requests by skill and agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.presenters.approvals import approval_rows
from registry.identity.actors import Actor
from registry.models import Skill
from worker.models import Approval

_MAX_COVERED = 200  # number of skills read for all previews of a page
_SHOWN = 3  # number of runs per group that are not folded
_MAX_PREVIEWED = 6  # number of skills named per preview


@dataclass
class ApprovalGroup:
    """The requests of one agent for one skill; the request that expires next comes first.

    ``covered`` names the visible skills that a rule for the skill's prefix would cover.
    """

    requests: list[dict[str, Any]] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)

    @property
    def first(self) -> dict[str, Any]:
        return self.requests[0]

    @property
    def uids(self) -> list[str]:
        return [row["run"].uid for row in self.requests]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The requests that are not folded: the first three, and a fourth if it is the last."""
        return self.requests if len(self.requests) == _SHOWN + 1 else self.requests[:_SHOWN]

    @property
    def folded(self) -> list[dict[str, Any]]:
        return self.requests[len(self.shown) :]

    @property
    def versions(self) -> list[dict[str, Any]]:
        """One row per version, for its first request, because versions differ in their permissions."""
        return list({row["run"].version_number: row for row in reversed(self.requests)}.values())[::-1]


def approval_groups(approvals: Iterable[Approval], actor: Actor) -> list[ApprovalGroup]:
    """The groups in the order of their first requests."""
    groups: dict[tuple[object, ...], ApprovalGroup] = {}
    for row in approval_rows(approvals, actor):
        run = row["run"]
        key = (run.skill_label, run.team_id, run.caller_id, run.token_id, run.token_name)
        groups.setdefault(key, ApprovalGroup()).requests.append(row)
    _preview(list(groups.values()), actor)
    return list(groups.values())


def rule_scopes(groups: Iterable[ApprovalGroup]) -> list[ApprovalGroup]:
    """The groups for which the actor may add a rule, with those that would get the same rule as one."""
    scopes: dict[tuple[object, ...], ApprovalGroup] = {}
    for group in groups:
        run = group.first["run"]
        if group.first["may_always_allow"]:
            key = (run.team_id, group.first["rule_name"], run.version_number)
            scopes.setdefault(key, ApprovalGroup()).requests.extend(group.requests)
    return list(scopes.values())


def approval_tabs(current: str) -> list[dict[str, Any]]:
    tabs = (("waiting", _("Waiting"), "approvals"), ("decided", _("Decided"), "approvals-decided"))
    return [{"url": reverse(url), "label": label, "current": name == current} for name, label, url in tabs]


def _preview(groups: list[ApprovalGroup], actor: Actor) -> None:
    """Sets ``covered`` of the groups for which the actor may add a rule. Sends one query."""
    names = {group.first["rule_name"]: group for group in groups if group.first["may_always_allow"]}
    if not names:
        return
    prefixes = [
        Q(team__slug=team, slug__startswith=slug) for team, _slash, slug in (n.partition("/") for n in names)
    ]
    visible = Skill.objects.visible_to(actor).filter(reduce(or_, prefixes)).order_by("team__slug", "slug")
    found = [f"{team}/{slug}" for team, slug in visible.values_list("team__slug", "slug")[:_MAX_COVERED]]
    for group in groups:
        if group.first["may_always_allow"]:
            begins = [name for name in found if name.startswith(group.first["rule_name"])]
            group.covered = begins[:_MAX_PREVIEWED]
