"""Decides on several approval requests at once and reports the failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.utils.translation import ngettext

from portal.forms.errors import problem_text
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.packages.problems import Refusal
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import ApprovalDecision, RunStatus


@dataclass
class BulkResult:
    """The result of a bulk decision. ``failures`` counts by error code and message: the requests that could
    not be decided, and the approved runs that were refused.
    """

    decided: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)


def decide_all(
    uids: Iterable[str], choice: ApprovalDecision, actor: Actor, *, reason: str = "", rule: bool = False
) -> BulkResult:
    """Decides each request in a separate transaction, so that one failure doesn't undo the others.

    With ``rule``, decides only the first request, because the deny rule then refuses the skill's other
    waiting runs.
    """
    result = BulkResult()
    for uid in list(uids)[: 1 if rule else None]:
        try:
            run = deciding.decide(requests.find(uid, actor), choice, actor, reason=reason, rule=rule)
        except Refusal as refused:
            problem = refused.problems[0]
            result.failures[problem.code, problem_text(problem)] += 1
            continue
        if choice != ApprovalDecision.DENIED and run.status == RunStatus.REFUSED:
            result.failures[run.failure_code, run.message] += 1
        else:
            result.decided += 1
    return result


def report(request: ActorRequest, choice: ApprovalDecision, result: BulkResult) -> None:
    """Shows how many requests were decided, and each reason why others were not."""
    n = result.decided
    params: dict[str, Any] = {"n": n}
    if n and choice == ApprovalDecision.DENIED:
        messages.success(request, ngettext("%(n)s run was denied.", "%(n)s runs were denied.", n) % params)
    elif n:
        text = ngettext("%(n)s run was approved and started.", "%(n)s runs were approved and started.", n)
        messages.success(request, text % params)
    for (code, why), number in result.failures.items():
        text = ngettext("%(n)s request failed: %(why)s", "%(n)s requests failed: %(why)s", number)
        messages.error(request, text % {"n": number, "why": why}, extra_tags=code)
