"""Approval requests: the inbox and decisions."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_page
from portal.forms.errors import show_refusals
from portal.pages.approvals.forms import ApprovalDecisionForm, ApprovalFilter
from portal.presenters.approvals import approval_row
from registry.identity.middleware import ActorRequest
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import ApprovalDecision, Run, RunStatus

PAGE = 25


@signed_in_page
def waiting(request: ActorRequest) -> HttpResponse:
    """Pending requests, the first to expire first."""
    return _listing(request, "waiting", "expires_at")


@signed_in_page
def decided(request: ActorRequest) -> HttpResponse:
    """Decided requests, those of the newest runs first."""
    return _listing(request, "decided", "-run__uid")


def _listing(request: ActorRequest, tab: str, order: str) -> HttpResponse:
    filters = ApprovalFilter(request.GET)
    given = filters.cleaned_data if filters.is_valid() else {}
    rows = requests.filter_approvals(requests.approvals(request.actor), {**given, "state": tab})
    pages = Paginator(rows.order_by(order, "pk"), PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": [approval_row(approval, request.actor) for approval in pages],
        "page": pages,
        "filters": filters,
        "tab": tab,
    }
    return render(request, "approvals/list.html", context)


@signed_in_action
def decide(request: ActorRequest, uid: str) -> HttpResponse:
    """Records a decision and redirects back, with an undo link for a new rule."""
    approval, form = requests.find(uid, request.actor), ApprovalDecisionForm(request.POST)
    back = redirect("approvals") if request.POST.get("from") == "inbox" else redirect("run", uid)
    if not form.is_valid():
        messages.error(request, _("Choose a decision and give a reason of up to 500 characters."))
        return back
    given = form.cleaned_data
    choice = ApprovalDecision(given["decision"])
    with show_refusals(request):
        run = deciding.decide(approval, choice, request.actor, reason=given["reason"], rule=given["rule"])
        _confirm(request, run, choice)
    return back


def _confirm(request: ActorRequest, run: Run, choice: ApprovalDecision) -> None:
    approval = requests.find(run.uid, request.actor)
    undo = reverse("rule-remove", args=[approval.rule.uid]) if approval.rule else ""
    params = {"skill": run.skill_label, "why": run.message}
    if choice == ApprovalDecision.DENIED:
        messages.success(request, _("%(skill)s was denied.") % params, extra_tags=undo)
    elif run.status == RunStatus.REFUSED:
        messages.error(request, _("Can't start %(skill)s: %(why)s") % params)
    elif approval.rule:
        messages.success(
            request, _("%(skill)s was started. Future runs won't need approval.") % params, extra_tags=undo
        )
    else:
        messages.success(request, _("%(skill)s was started. Future runs still need approval.") % params)
