"""Decides on several approval requests at once and reports the failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.forms.errors import problem_text
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.models import Effect, Rule
from registry.packages.problems import Refusal
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import ApprovalDecision, RunStatus

_MAX_RULES = 5  # number of new rules with a message and an undo button each


@dataclass
class BulkResult:
    """The result of a bulk decision. ``failures`` counts by error code and message: the requests that could
    not be decided, and the approved runs that were refused. ``rules`` has the new rules by primary key.
    """

    decided: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: dict[int, Rule] = field(default_factory=dict)


def decide_all(
    uids: Iterable[str], choice: ApprovalDecision, actor: Actor, *, reason: str = "", rule: bool = False
) -> BulkResult:
    """Decides each request in a separate transaction, so that one failure doesn't undo the others.

    A request that a new rule of this action decided already counts as decided.
    """
    result = BulkResult()
    for uid in dict.fromkeys(uids):
        try:
            approval = requests.find(uid, actor)
            if approval.rule_id not in result.rules:
                run = deciding.decide(approval, choice, actor, reason=reason, rule=rule)
                if choice != ApprovalDecision.DENIED and run.status == RunStatus.REFUSED:
                    result.failures[run.failure_code, run.message] += 1
                    continue
        except Refusal as refused:
            problem = refused.problems[0]
            result.failures[problem.code, problem_text(problem)] += 1
            continue
        result.decided += 1
        if (rule or choice == ApprovalDecision.EXACT) and (created := requests.find(uid, actor).rule):
            result.rules[created.pk] = created
    return result


def report(request: ActorRequest, choice: ApprovalDecision, result: BulkResult) -> None:
    """Shows how many requests were decided, the new rules, and each reason why requests were not decided."""
    n = result.decided
    params: dict[str, Any] = {"n": n}
    if n and choice == ApprovalDecision.DENIED:
        messages.success(request, ngettext("%(n)s run was denied.", "%(n)s runs were denied.", n) % params)
    elif n:
        text = ngettext("%(n)s run was approved and started.", "%(n)s runs were approved and started.", n)
        messages.success(request, text % params)
    for rule in list(result.rules.values())[:_MAX_RULES]:
        report_rule(request, rule)
    for (code, why), number in result.failures.items():
        text = ngettext(
            "%(n)s request could not be processed: %(why)s",
            "%(n)s requests could not be processed: %(why)s",
            number,
        )
        messages.error(request, text % {"n": number, "why": why}, extra_tags=code)


def report_rule(request: ActorRequest, rule: Rule) -> None:
    """Shows what the new rule does, with a button that removes only the rule."""
    text = _("Agents in %(team)s can now run %(name)s without approval.")
    if rule.effect == Effect.DENY:
        text = _("A rule now denies %(name)s to everyone in %(team)s.")
    undo = reverse("rule-remove", args=[rule.uid])
    messages.success(request, text % {"team": rule.team, "name": rule.name}, extra_tags=undo)
