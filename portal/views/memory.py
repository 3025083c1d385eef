"""What is remembered: one's own, a team's, one memory; deleted and taken back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.forms.memory import MemoryFilter
from portal.forms.refusals import say
from portal.showing.results import shown
from registry.catalog import find_team
from registry.middleware import ActorRequest
from registry.models import Team
from registry.packages.problems import Refused
from worker.api.memories import export_answer
from worker.memory import finding, reviewing
from worker.memory.documents import sees_skill
from worker.memory.owners import Owner
from worker.memory.store import Wanted, store
from worker.models import Memory, Run

PAGE = 50


@never_cache
@login_required
@require_safe
def page(request: ActorRequest, slug: str = "") -> HttpResponse:
    """Without a team one's own."""
    owner, team = _owner(request, slug)
    found = MemoryFilter(request.GET)
    wanted = found.wanted(request.actor, owner)
    rows: Any
    if found.words:
        rows = store().search(found.words, wanted, most=PAGE)
    else:
        rows = store().list(wanted).order_by("-updated_at", "-pk")
    pages = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    deletable = Memory.objects.deletable_by(request.actor).filter(pk__in=[row.pk for row in pages])
    context = _frame(request, team) | {
        "rows": pages.object_list,
        "page": pages,
        "filters": found,
        "deletable": set(deletable.values_list("pk", flat=True)),
        "waiting": reviewing.queue(request.actor, owner).count() if team else None,
        "waiting_all": reviewing.queue(request.actor).count(),
    }
    return render(request, "memory/list.html", context)


@never_cache
@login_required
@require_safe
def one(request: ActorRequest, uid: str) -> HttpResponse:
    memory = finding.find_memory(uid, request.actor)
    runs = Run.objects.visible_to(request.actor).filter(memory_writes__memory=memory).distinct()
    context = _frame(request, memory.owner_team) | {
        "memory": memory,
        "metadata": shown(memory.metadata) if memory.metadata else None,
        "runs": runs.order_by("-pk")[:20],
        "may_delete": finding.may_delete(memory, request.actor),
        "skill_seen": any(sees_skill(run, request.actor) for run in runs[:1]),
    }
    return render(request, "memory/one.html", context)


@login_required
@require_POST
def delete(request: ActorRequest, uid: str) -> HttpResponse:
    memory = finding.find_memory(uid, request.actor)
    try:
        finding.delete(memory, request.actor)
        undo = reverse("memory-restore", args=[memory.uid])
        messages.success(request, _("The memory is deleted; its content goes soon."), extra_tags=undo)
    except Refused as refused:
        say(request, refused)
    return redirect(_address(memory))


@login_required
@require_POST
def restore(request: ActorRequest, uid: str) -> HttpResponse:
    memory = finding.restore(uid, request.actor)
    messages.success(request, _("The memory is back."))
    return redirect(_address(memory))


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def clear(request: ActorRequest, slug: str = "") -> HttpResponse:
    """All of it, after it was confirmed."""
    owner, team = _owner(request, slug)
    count = finding.of_owner(owner).present().count()
    if request.method == "POST":
        done = finding.delete_all(owner, request.actor)
        undo = reverse("team-memory-undo", args=[team.slug]) if team else reverse("memory-undo")
        said = ngettext("%(n)d memory is deleted.", "%(n)d memories are deleted.", done) % {"n": done}
        messages.success(request, said, extra_tags=undo)
        return redirect("team-memory", team.slug) if team else redirect("memory")
    return render(request, "memory/clear.html", _frame(request, team) | {"count": count})


@login_required
@require_POST
def undo(request: ActorRequest, slug: str = "") -> HttpResponse:
    """Takes back what this person deleted lately."""
    owner, team = _owner(request, slug)
    done = finding.restore_all(owner, request.actor)
    messages.success(
        request, ngettext("%(n)d memory is back.", "%(n)d memories are back.", done) % {"n": done}
    )
    return redirect("team-memory", team.slug) if team else redirect("memory")


@login_required
@require_safe
def export(request: ActorRequest, slug: str = "") -> HttpResponse:
    owner, _team = _owner(request, slug)
    return export_answer(store().export(Wanted(request.actor, owner)))


def _owner(request: ActorRequest, slug: str) -> tuple[Owner, Team | None]:
    if not slug:
        return finding.find_owner("me", request.actor), None
    team = find_team(slug, request.actor)
    return finding.owner_team(team, request.actor), team


def _frame(request: ActorRequest, team: Team | None) -> dict[str, Any]:
    return {"team": team, "section": "teams" if team else "account"}


def _address(memory: Memory) -> str:
    if memory.owner_team:
        return reverse("team-memory", args=[memory.owner_team.slug])
    return reverse("run", args=[memory.owner_run.uid]) if memory.owner_run else reverse("memory")
