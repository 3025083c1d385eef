"""The page that creates, lists and revokes links to a run."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.runs.forms.share import ShareForm
from portal.pages.runs.presenters.run_page import RunAccess, title_context
from portal.pages.runs.views.run import readable_run
from registry.identity.middleware import ActorRequest
from worker.models import Run, ShareLink
from worker.sharing.links import create_link, find_link, links_of, may_share, revoke_link, state_of


@signed_in_form
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """Lists the run's links, with a form for a new link. Only the response to the POST shows the new URL.

    Raises Http404 unless the actor may share the run.
    """
    access = readable_run(uid, request.actor)
    if not may_share(access.run, request.actor):
        raise Http404
    form, address = ShareForm(request.POST or None), ""
    if form.is_valid():
        with add_refusals(form):
            _link, address = create_link(access.run, form.options(), request.actor)
            form = ShareForm()
    context = _context(request, access) | {"form": form, "address": address}
    response = render(request, "runs/share.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


@signed_in_action
def revoke(request: ActorRequest, uid: str, other: str) -> HttpResponse:
    """Revokes a link at once."""
    link = find_link(readable_run(uid, request.actor).run, other, request.actor)
    with show_refusals(request):
        revoke_link(link, request.actor)
        messages.success(request, _("Link revoked."))
    return redirect("run-share", uid)


def _context(request: ActorRequest, access: RunAccess) -> dict[str, Any]:
    run, user = access.run, request.actor.user
    controls = Run.objects.controlled_by(request.actor).filter(pk=run.pk).exists()
    return title_context(access, request.actor) | {
        "annotatable": run.erased_at is None and (run.team is None or run.team.archived_at is None),
        "rows": [_row(link, controls or link.created_by == user) for link in links_of(run)],
    }


def _row(link: ShareLink, revocable: bool) -> dict[str, Any]:
    return {"link": link, "state": state_of(link), "revocable": revocable}
