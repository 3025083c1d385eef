"""Saves the filters of the run list under a name, and removes saved views."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.runs.forms.run_filter import RunFilter
from registry.identity.middleware import ActorRequest
from registry.models import User
from worker.saved_views.saved_views import remove_view, save_view


@signed_in_action
def save(request: ActorRequest) -> HttpResponse:
    """Saves the filters in ``query`` under ``name``. Undoing a removal sends both in the URL.

    Drops filters that are unknown or invalid.
    """
    given = request.POST if "query" in request.POST else request.GET
    query = RunFilter(QueryDict(given.get("query", "").encode())).query
    with show_refusals(request):
        view = save_view(_user(request), given.get("name", ""), query)
        messages.success(request, _("The view %(name)s was saved.") % {"name": view.name})
    return redirect(f"{reverse('runs')}?{query}")


@signed_in_action
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    """Removes a view of the user, with Undo; does nothing if it does not exist."""
    if view := remove_view(_user(request), uid):
        undo = f"{reverse('run-views')}?{urlencode({'name': view.name, 'query': view.query})}"
        text = _("The view %(name)s was removed.") % {"name": view.name}
        messages.success(request, text, extra_tags=undo)
    return redirect("runs")


def _user(request: ActorRequest) -> User:
    assert isinstance(request.actor.user, User)
    return request.actor.user
