"""Views to review proposed memories: accept, edit or decline one, or accept or decline several."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.decorators import signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.memory.forms import ProposalForm
from portal.presenters.explanations import explain
from portal.presenters.results import display_value
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from worker.memory import find, review
from worker.memory.documents import can_see_skill
from worker.memory.review import ReviewDecision
from worker.models import MemoryWrite, Run, WriteState

PAGE = 50


@signed_in_form
def queue(request: ActorRequest) -> HttpResponse:
    """Lists the waiting proposals. A POST accepts or declines the selected ones, or the one whose button was
    pressed.
    """
    if request.method == "POST":
        return _decide(request)
    name = request.GET.get("owner", "")[:80]
    owner = find.find_owner(name, request.actor) if name else None
    pages = Paginator(review.queue(request.actor, owner), PAGE).get_page(request.GET.get("page"))
    rows = [_proposal_row(write, request.actor) for write in pages]
    context = {"rows": rows, "page": pages, "owner": name, "section": "account"}
    return render(request, "memory/review.html", context)


@signed_in_form
def detail(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows one waiting proposal, which the reviewer can edit and accept.

    Redirects if the proposal has been decided.
    """
    write = review.find_write(uid, request.actor)
    if write.state != WriteState.WAITING:
        messages.info(request, _("This proposal has already been decided."))
        return redirect("memory-review")
    initial = {"content": write.content, "type": write.type, "importance": write.importance}
    form = ProposalForm(request.POST or None, initial=initial)
    if request.method == "POST" and (request.POST.get("decision") == "decline" or form.is_valid()):
        with add_refusals(form):
            return _decide_one(request, write, form)
    metadata = display_value(write.metadata) if write.metadata else None
    context = {
        "row": _proposal_row(write, request.actor),
        "form": form,
        "metadata": metadata,
        "section": "account",
    }
    return render(request, "memory/proposal.html", context, status=422 if form.errors else 200)


def _decide_one(request: ActorRequest, write: MemoryWrite, form: ProposalForm) -> HttpResponse:
    if request.POST.get("decision") == "decline":
        review.decide(write, ReviewDecision(False), request.actor)
        messages.success(request, _("Proposal declined."))
        return redirect("memory-review")
    edited = {name: form.cleaned_data[name] for name in form.changed_data}
    decided = review.decide(write, ReviewDecision(True, **edited), request.actor)
    messages.success(request, _("Memory saved."))
    return redirect("memory-one", decided.memory.uid) if decided.memory else redirect("memory-review")


def _decide(request: ActorRequest) -> HttpResponse:
    verb, _blank, uid = request.POST.get("decision", "").partition(" ")
    uids = [uid] if uid else request.POST.getlist("proposal")
    if not uids or verb not in ("accept", "decline"):
        messages.info(request, _("Select at least one proposal."))
        return redirect("memory-review")
    with show_refusals(request):
        done = review.decide_many(uids, verb == "accept", request.actor).decided
        if verb == "accept":
            text = ngettext("%(n)d memory saved.", "%(n)d memories saved.", done)
        else:
            text = ngettext("%(n)d proposal declined.", "%(n)d proposals declined.", done)
        messages.success(request, text % {"n": done})
    return redirect("memory-review")


def _proposal_row(write: MemoryWrite, actor: Actor) -> dict[str, Any]:
    """Template context of a proposed memory write; ``skill`` is "" and ``run`` None if the actor may not see
    them.
    """
    visible = Run.objects.visible_to(actor).filter(pk=write.run_id).exists()
    known = visible or can_see_skill(write.run, actor)
    why = explain(write.code, {}) if write.code else None
    return {
        "write": write,
        "skill": write.run.skill_label if known else "",
        "run": write.run if visible else None,
        "why": why.meaning if why else "",
    }
