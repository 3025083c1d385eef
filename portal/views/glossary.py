"""The glossary: the site's own words that mean the same, and those that came with it; for administrators."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from portal.forms.catalog import line
from portal.forms.glossary import LineForm
from portal.forms.refusals import add_refusal, say
from registry.glossary import editing
from registry.glossary.documents import built_in_lines
from registry.middleware import ActorRequest
from registry.models import AuditEntry
from registry.packages.problems import Refused
from registry.permissions import Action, require

PAGE = 50


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest) -> HttpResponse:
    require(request.actor, Action.GLOSSARY)
    if request.method == "GET":
        return _page(request, LineForm(), "")
    form = LineForm(request.POST)
    if form.is_valid():
        try:
            entry, done = editing.add(form.cleaned_data["text"], request.actor)
            return _done(request, _("Added: %(line)s.") % {"line": entry.text}, done)
        except Refused as refused:
            add_refusal(form, refused)
    return _page(request, form, "")


@login_required
@require_POST
def change(request: ActorRequest, uid: str) -> HttpResponse:
    entry = editing.find_entry(uid, request.actor)
    form = LineForm(request.POST, auto_id=f"{uid}-%s")
    if form.is_valid():
        try:
            entry, done = editing.change(entry, form.cleaned_data["text"], request.actor)
            return _done(request, _("Saved: %(line)s.") % {"line": entry.text}, done)
        except Refused as refused:
            add_refusal(form, refused)
    return _page(request, form, uid)


@login_required
@require_POST
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    entry = editing.find_entry(uid, request.actor)
    done = editing.remove(entry, request.actor)
    return _done(request, _("Removed: %(line)s.") % {"line": entry.text}, done)


@login_required
@require_POST
def undo(request: ActorRequest, uid: str) -> HttpResponse:
    try:
        editing.undo(uid, request.actor)
        messages.success(request, _("It is as it was before."))
    except Refused as refused:
        if not request.actor.is_administrator:
            raise
        say(request, refused)
    return redirect("glossary")


def _done(request: ActorRequest, said: str, done: AuditEntry) -> HttpResponse:
    messages.success(request, said, extra_tags=reverse("glossary-undo", args=[done.uid]))
    return redirect("glossary")


def _page(request: ActorRequest, form: LineForm, form_of: str) -> HttpResponse:
    """``form_of``: the line that the form changes; "" where it adds one."""
    find = line(request.GET, "q")
    own = Paginator(editing.entries(request.actor, find=find), PAGE)
    shown = own.get_page(request.GET.get("page"))
    context = {
        "find": find,
        "page": shown,
        "rows": [
            (entry, form if form_of == entry.uid else _form_of(entry.uid, entry.text)) for entry in shown
        ],
        "form": LineForm() if form_of else form,
        "refused": form if form.is_bound else None,
        "built_in": Paginator(built_in_lines(find=find), PAGE).get_page(request.GET.get("file")),
    }
    return render(request, "glossary/glossary.html", context, status=422 if form.is_bound else 200)


def _form_of(uid: str, text: str) -> LineForm:
    return LineForm(initial={"text": text}, auto_id=f"{uid}-%s")
