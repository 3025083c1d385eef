"""Views of approval requests: the lists of waiting and decided requests, and the decision."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_page
from portal.forms.errors import show_refusals
from portal.pages.approvals.bulk import decide_all, report, report_rule
from portal.pages.approvals.forms import ApprovalDecisionForm, ApprovalFilter, BulkDecisionForm
from portal.pages.approvals.pagination import ApprovalPaginator
from portal.pages.approvals.presenters import approval_groups, approval_tabs, rule_scopes
from portal.presenters.approvals import approval_rows, decides_approvals
from registry.identity.middleware import ActorRequest
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import ApprovalDecision, Run, RunStatus

PAGE = 50
_MAX_UNFILTERED = 5  # requests without filters above them


@signed_in_page
def waiting(request: ActorRequest) -> HttpResponse:
    """Lists the visible requests that wait for a decision; the request that expires next comes first."""
    return _listing(request, "waiting", "expires_at", "pk")


@signed_in_page
def decided(request: ActorRequest) -> HttpResponse:
    """Lists the visible requests that no longer wait, such as approved or cancelled ones; newest
    runs first.
    """
    return _listing(request, "decided", "-pk")


def _listing(request: ActorRequest, tab: str, *order: str) -> HttpResponse:
    filters = ApprovalFilter(request.GET)
    given = filters.cleaned_data if filters.is_valid() else {}
    approvals = requests.approvals(request.actor)
    rows = requests.filter_approvals(approvals, {**given, "state": tab})
    number = request.GET.get("page")
    page = ApprovalPaginator(rows.order_by(*order), PAGE, number).get_page(number)
    waiting = tab == "waiting"
    groups = approval_groups(page, request.actor) if waiting else []
    if has_filters := len(page.object_list) > _MAX_UNFILTERED or filters.is_set:
        filters.suggest_values(requests.filter_approvals(approvals, {"state": tab}))
    context = {
        "groups": groups,
        "uids": [uid for group in groups if group.first["may_decide"] for uid in group.uids],
        "scopes": rule_scopes(groups),
        "rows": [] if waiting else approval_rows(page, request.actor),
        "page": page,
        "filters": filters,
        "has_filters": has_filters,
        "tabs": approval_tabs(tab),
        "tab": tab,
        "may_decide": decides_approvals(request.actor),
    }
    return render(request, "approvals/list.html", context)


@signed_in_action
def decide_selected(request: ActorRequest) -> HttpResponse:
    """Applies one decision to the approval requests of up to ``PAGE`` runs and reports the failures."""
    form = BulkDecisionForm(request.POST)
    uids = ",".join(request.POST.getlist("run")).split(",")  # a group's checkbox has the uids of its runs
    uids = [uid for uid in dict.fromkeys(uids) if uid][:PAGE]
    if not uids or form.has_error("decision"):
        messages.error(request, _("Select requests and choose a decision."))
        return redirect("approvals")
    if not form.is_valid():
        messages.error(request, _invalid())
        return redirect("approvals")
    given = form.cleaned_data
    choice = ApprovalDecision(given["decision"])
    result = decide_all(uids, choice, request.actor, reason=given["reason"], rule=given["rule"])
    report(request, choice, result)
    return redirect("approvals")


@signed_in_action
def decide(request: ActorRequest, uid: str) -> HttpResponse:
    """Records a decision and redirects back; the message links to the removal of a new rule.

    An invalid form or a refused decision changes nothing and shows an error message.
    """
    approval, form = requests.find(uid, request.actor), ApprovalDecisionForm(request.POST)
    back = redirect("approvals") if request.POST.get("from") == "inbox" else redirect("run", uid)
    if not form.is_valid():
        messages.error(request, _invalid())
        return back
    given = form.cleaned_data
    choice = ApprovalDecision(given["decision"])
    with show_refusals(request):
        run = deciding.decide(approval, choice, request.actor, reason=given["reason"], rule=given["rule"])
        _confirm(request, run, choice)
    return back


def _invalid() -> str:
    return _("Choose a decision; a reason can have at most 500 characters.")


def _confirm(request: ActorRequest, run: Run, choice: ApprovalDecision) -> None:
    approval = requests.find(run.uid, request.actor)
    params = {"skill": run.skill_label, "why": run.message}
    if choice == ApprovalDecision.DENIED:
        messages.success(request, _("The run of %(skill)s was denied.") % params)
        if approval.rule:
            report_rule(request, approval.rule)
    elif run.status == RunStatus.REFUSED:
        messages.error(request, _("Can't start %(skill)s: %(why)s") % params)
    elif approval.rule:
        undo = reverse("rule-remove", args=[approval.rule.uid])
        text = _("%(skill)s was started. Future runs won't need approval.")
        messages.success(request, text % params, extra_tags=undo)
    else:
        messages.success(request, _("%(skill)s was started. Future runs still need approval.") % params)
