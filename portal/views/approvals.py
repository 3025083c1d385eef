"""What waits for somebody's leave: the inbox, and the decision."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from portal.forms.approvals import ApprovalFilter, DecisionForm
from portal.forms.refusals import say
from portal.showing.approvals import asked_of
from registry.middleware import ActorRequest
from registry.packages.problems import Refused
from worker.approvals import asking, deciding
from worker.models import Choice, Run, Status

PAGE = 25


@never_cache
@login_required
@require_safe
def waiting(request: ActorRequest) -> HttpResponse:
    """What waits, the soonest to expire first."""
    return _listing(request, "waiting", "expires_at")


@never_cache
@login_required
@require_safe
def decided(request: ActorRequest) -> HttpResponse:
    """What waited before, the latest first."""
    return _listing(request, "decided", "-run__uid")


def _listing(request: ActorRequest, tab: str, order: str) -> HttpResponse:
    filters = ApprovalFilter(request.GET)
    given = filters.cleaned_data if filters.is_valid() else {}
    rows = asking.narrowed(asking.approvals(request.actor), {**given, "standing": tab})
    pages = Paginator(rows.order_by(order, "pk"), PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": [asked_of(approval, request.actor) for approval in pages],
        "page": pages,
        "filters": filters,
        "tab": tab,
    }
    return render(request, "approvals/list.html", context)


@login_required
@require_POST
def decide(request: ActorRequest, uid: str) -> HttpResponse:
    """Says what somebody decided; back to where they were, with the rule to undo."""
    approval, form = asking.find(uid, request.actor), DecisionForm(request.POST)
    there = redirect("approvals") if request.POST.get("from") == "inbox" else redirect("run", uid)
    if not form.is_valid():
        messages.error(request, _("Choose what is to happen, and give a reason of at most 500 characters."))
        return there
    given = form.cleaned_data
    choice = Choice(given["decision"])
    try:
        run = deciding.decide(approval, choice, request.actor, reason=given["reason"], rule=given["rule"])
        _say_decided(request, run, choice)
    except Refused as refused:
        say(request, refused)
    return there


def _say_decided(request: ActorRequest, run: Run, choice: Choice) -> None:
    approval = asking.find(run.uid, request.actor)
    undo = reverse("rule-remove", args=[approval.rule.uid]) if approval.rule else ""
    said = {"skill": run.skill_label, "why": run.message}
    if choice == Choice.DENIED:
        messages.success(request, _("%(skill)s was not let run.") % said, extra_tags=undo)
    elif run.status == Status.REFUSED:
        messages.error(request, _("%(skill)s could not start any more: %(why)s") % said)
    elif approval.rule:
        messages.success(request, _("%(skill)s runs, from now on unasked.") % said, extra_tags=undo)
    else:
        messages.success(request, _("%(skill)s runs this once.") % said)
