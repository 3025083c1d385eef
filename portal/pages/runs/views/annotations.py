"""Actions of a run's page: pin, labels, notes."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.runs.views.run import readable_run
from registry.identity.middleware import ActorRequest
from worker.annotations.marks import set_labels, set_pinned
from worker.annotations.notes import add_note, delete_note, edit_note, find_note


@signed_in_action
def pin(request: ActorRequest, uid: str) -> HttpResponse:
    """Pins the run, or unpins it with ``pinned=0``."""
    run = readable_run(uid, request.actor).run
    pinned = request.POST.get("pinned") != "0"
    with show_refusals(request):
        set_pinned(run, pinned, request.actor)
        messages.success(
            request, _("Run pinned. The retention policy won't remove it.") if pinned else _("Run unpinned.")
        )
    return redirect("run", uid)


@signed_in_action
def labels(request: ActorRequest, uid: str) -> HttpResponse:
    """Replaces the run's labels with the comma-separated ones in the form."""
    run = readable_run(uid, request.actor).run
    names = [name for name in request.POST.get("labels", "").replace("，", ",").split(",") if name.strip()]
    with show_refusals(request):
        set_labels(run, names, request.actor)
        messages.success(request, _("Labels saved."))
    return redirect("run", uid)


@signed_in_action
def add(request: ActorRequest, uid: str) -> HttpResponse:
    run = readable_run(uid, request.actor).run
    with show_refusals(request):
        add_note(run, request.POST.get("text", ""), request.actor)
        messages.success(request, _("Note added."))
    return redirect("run", uid)


@signed_in_action
def edit(request: ActorRequest, uid: str, note: str) -> HttpResponse:
    """Saves the text of a note, or deletes the note."""
    found = find_note(readable_run(uid, request.actor).run, note)
    with show_refusals(request):
        if "delete" in request.POST:
            delete_note(found, request.actor)
            messages.success(request, _("Note deleted."))
        else:
            edit_note(found, request.POST.get("text", ""), request.actor)
            messages.success(request, _("Note saved."))
    return redirect("run", uid)
