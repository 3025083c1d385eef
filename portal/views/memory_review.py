"""Proposed memory that waits for this person: accepted, changed and accepted, declined, many at once."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.memory import ProposalForm
from portal.forms.refusals import add_refusal, say
from portal.showing.explanations import explain
from portal.showing.results import shown
from registry.actors import Actor
from registry.middleware import ActorRequest
from registry.packages.problems import Refused
from worker.memory import finding, reviewing
from worker.memory.documents import sees_skill
from worker.memory.reviewing import Decision
from worker.models import MemoryWrite, Run, WriteState

PAGE = 50


@dataclass(frozen=True)
class Waiting:
    """A proposal with what its reader may know of where it comes from."""

    write: MemoryWrite
    skill: str
    run: Run | None
    why: str


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def queue(request: ActorRequest) -> HttpResponse:
    """A POST decides what was ticked, or the one whose button was pressed."""
    if request.method == "POST":
        return _decide(request)
    name = request.GET.get("owner", "")[:80]
    owner = finding.find_owner(name, request.actor) if name else None
    pages = Paginator(reviewing.queue(request.actor, owner), PAGE).get_page(request.GET.get("page"))
    rows = [_waiting(write, request.actor) for write in pages]
    context = {"rows": rows, "page": pages, "owner": name, "section": "account"}
    return render(request, "memory/review.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def one(request: ActorRequest, uid: str) -> HttpResponse:
    """One proposal, which may be changed before it is kept."""
    write = reviewing.find_write(uid, request.actor)
    if write.state != WriteState.WAITING:
        messages.info(request, _("This was decided already."))
        return redirect("memory-review")
    said = {"content": write.content, "type": write.type, "importance": write.importance}
    form = ProposalForm(request.POST or None, initial=said)
    if request.method == "POST" and (request.POST.get("decision") == "decline" or form.is_valid()):
        try:
            return _decided(request, write, form)
        except Refused as refused:
            add_refusal(form, refused)
    metadata = shown(write.metadata) if write.metadata else None
    context = {
        "row": _waiting(write, request.actor),
        "form": form,
        "metadata": metadata,
        "section": "account",
    }
    return render(request, "memory/proposal.html", context, status=422 if form.errors else 200)


def _decided(request: ActorRequest, write: MemoryWrite, form: ProposalForm) -> HttpResponse:
    if request.POST.get("decision") == "decline":
        reviewing.decide(write, Decision(False), request.actor)
        messages.success(request, _("Declined."))
        return redirect("memory-review")
    edited = {name: form.cleaned_data[name] for name in form.changed_data}
    decided = reviewing.decide(write, Decision(True, **edited), request.actor)
    messages.success(request, _("It is remembered now."))
    return redirect("memory-one", decided.memory.uid) if decided.memory else redirect("memory-review")


def _decide(request: ActorRequest) -> HttpResponse:
    verb, _blank, uid = request.POST.get("decision", "").partition(" ")
    uids = [uid] if uid else request.POST.getlist("write")
    if not uids or verb not in ("accept", "decline"):
        messages.info(request, _("Tick at least one."))
        return redirect("memory-review")
    try:
        done = reviewing.decide_many(uids, verb == "accept", request.actor).done
        if verb == "accept":
            said = ngettext("%(n)d memory is kept.", "%(n)d memories are kept.", done)
        else:
            said = ngettext("%(n)d proposal is declined.", "%(n)d proposals are declined.", done)
        messages.success(request, said % {"n": done})
    except Refused as refused:
        say(request, refused)
    return redirect("memory-review")


def _waiting(write: MemoryWrite, actor: Actor) -> Waiting:
    seen = Run.objects.visible_to(actor).filter(pk=write.run_id).exists()
    known = seen or sees_skill(write.run, actor)
    why = explain(write.code, {}) if write.code else None
    skill = write.run.skill_label if known else ""
    return Waiting(write, skill, write.run if seen else None, why.meaning if why else "")
