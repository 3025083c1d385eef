"""Memories of the user or a team: list, detail, deletion and undo."""

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
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import show_refusals
from portal.forms.suggestions import suggest, visible_skills
from portal.pages.memory.forms import MemoryFilter
from portal.presenters.results import display_value
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_team
from registry.models import Team
from worker.memory import find, review
from worker.memory.api.memories import export_response
from worker.memory.documents import can_see_skill
from worker.memory.owners import Owner
from worker.memory.store import MemoryQuery, store
from worker.models import Memory, Run

PAGE = 50


@signed_in_page
def page(request: ActorRequest, slug: str = "") -> HttpResponse:
    """Lists the memories of the team ``slug``, or of the user if it is ""."""
    owner, team = _owner(request, slug)
    filters = MemoryFilter(request.GET)
    query = filters.query(request.actor, owner)
    rows: Any
    if filters.words:
        rows = store().search(filters.words, query, limit=PAGE)
    else:
        rows = store().list(query).order_by("-updated_at", "-pk")
    pages = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    if pages.object_list or filters.is_set:
        suggest(filters, "skill", visible_skills(request.actor))
    deletable = Memory.objects.deletable_by(request.actor).filter(pk__in=[row.pk for row in pages])
    context = _frame(request, team) | {
        "rows": pages.object_list,
        "page": pages,
        "filters": filters,
        "deletable": set(deletable.values_list("pk", flat=True)),
        "waiting": review.queue(request.actor, owner).count() if team else None,
        "waiting_all": review.queue(request.actor).count(),
    }
    return render(request, "memory/list.html", context)


@signed_in_page
def detail(request: ActorRequest, uid: str) -> HttpResponse:
    memory = find.find_memory(uid, request.actor)
    runs = (
        Run.objects.visible_to(request.actor)
        .filter(memory_writes__memory=memory)
        .without_content()
        .distinct()
    )
    context = _frame(request, memory.owner_team) | {
        "memory": memory,
        "metadata": display_value(memory.metadata) if memory.metadata else None,
        "runs": runs.order_by("-pk")[:20],
        "may_delete": find.may_delete(memory, request.actor),
        "skill_seen": any(can_see_skill(run, request.actor) for run in runs[:1]),
    }
    return render(request, "memory/memory.html", context)


@signed_in_action
def delete(request: ActorRequest, uid: str) -> HttpResponse:
    memory = find.find_memory(uid, request.actor)
    with show_refusals(request):
        find.delete(memory, request.actor)
        undo = reverse("memory-restore", args=[memory.uid])
        messages.success(
            request, _("Memory deleted. Its stored content will be removed for good soon."), extra_tags=undo
        )
    return redirect(_address(memory))


@signed_in_action
def restore(request: ActorRequest, uid: str) -> HttpResponse:
    memory = find.restore(uid, request.actor)
    messages.success(request, _("Memory restored."))
    return redirect(_address(memory))


@signed_in_form
def clear(request: ActorRequest, slug: str = "") -> HttpResponse:
    """Shows a confirmation; a POST deletes all memories of the team or user that the user may delete."""
    owner, team = _owner(request, slug)
    count = find.owner_memories(owner).present().count()
    if request.method == "POST":
        done = find.delete_all(owner, request.actor)
        undo = reverse("team-memory-undo", args=[team.slug]) if team else reverse("memory-undo")
        text = ngettext("%(n)d memory deleted.", "%(n)d memories deleted.", done) % {"n": done}
        messages.success(request, text, extra_tags=undo)
        return redirect("team-memory", team.slug) if team else redirect("memory")
    return render(request, "memory/clear.html", _frame(request, team) | {"count": count})


@signed_in_action
def undo(request: ActorRequest, slug: str = "") -> HttpResponse:
    """Restores the memories of the team or user that the signed-in user deleted, while undo is possible."""
    owner, team = _owner(request, slug)
    done = find.restore_all(owner, request.actor)
    messages.success(
        request, ngettext("%(n)d memory restored.", "%(n)d memories restored.", done) % {"n": done}
    )
    return redirect("team-memory", team.slug) if team else redirect("memory")


@login_required
@require_safe
def export(request: ActorRequest, slug: str = "") -> HttpResponse:
    owner, _team = _owner(request, slug)
    return export_response(store().export(MemoryQuery(request.actor, owner)))


def _owner(request: ActorRequest, slug: str) -> tuple[Owner, Team | None]:
    if not slug:
        return find.find_owner("me", request.actor), None
    team = find_team(slug, request.actor)
    return find.find_team_owner(team, request.actor), team


def _frame(request: ActorRequest, team: Team | None) -> dict[str, Any]:
    return {"team": team, "section": "teams" if team else "account"}


def _address(memory: Memory) -> str:
    if memory.owner_team:
        return reverse("team-memory", args=[memory.owner_team.slug])
    return reverse("run", args=[memory.owner_run.uid]) if memory.owner_run else reverse("memory")
