"""The glossary of synonyms: the site's own and the built-in entries; for administrators."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusal
from portal.pages.catalog.forms import line
from portal.pages.glossary.forms import EntryForm
from portal.pages.glossary.presenters import by_topic
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.models import AuditEntry
from registry.packages.problems import Refusal
from registry.search.glossary import edit
from registry.search.glossary.documents import built_in_lines

PAGE = 50


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    require(request.actor, Action.GLOSSARY)
    if request.method == "GET":
        return _page(request, EntryForm(), "")
    form = EntryForm(request.POST)
    if form.is_valid():
        with add_refusals(form):
            entry, done = edit.add(form.cleaned_data["text"], request.actor)
            return _confirm(request, _("Added: %(line)s.") % {"line": entry.text}, done)
    return _page(request, form, "")


@signed_in_action
def change(request: ActorRequest, uid: str) -> HttpResponse:
    entry = edit.find_entry(uid, request.actor)
    form = EntryForm(request.POST, auto_id=f"{uid}-%s")
    if form.is_valid():
        with add_refusals(form):
            entry, done = edit.change(entry, form.cleaned_data["text"], request.actor)
            return _confirm(request, _("Saved: %(line)s.") % {"line": entry.text}, done)
    return _page(request, form, uid)


@signed_in_action
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    entry = edit.find_entry(uid, request.actor)
    done = edit.remove(entry, request.actor)
    return _confirm(request, _("Removed: %(line)s.") % {"line": entry.text}, done)


@signed_in_action
def undo(request: ActorRequest, uid: str) -> HttpResponse:
    try:
        edit.undo(uid, request.actor)
        messages.success(request, _("Change undone."))
    except Refusal as refused:
        if not request.actor.is_administrator:
            raise
        show_refusal(request, refused)
    return redirect("glossary")


def _confirm(request: ActorRequest, text: str, done: AuditEntry) -> HttpResponse:
    messages.success(request, text, extra_tags=reverse("glossary-undo", args=[done.uid]))
    return redirect("glossary")


def _page(request: ActorRequest, form: EntryForm, form_of: str) -> HttpResponse:
    """The page with ``form``, which changes the entry with the uid ``form_of``, or adds one if ``form_of`` is
    "".
    """
    find = line(request.GET, "q")
    own = Paginator(edit.entries(request.actor, find=find), PAGE)
    shown = own.get_page(request.GET.get("page"))
    built_in = Paginator(built_in_lines(find=find), PAGE).get_page(request.GET.get("file"))
    context = {
        "find": find,
        "page": shown,
        "rows": [
            (entry, form if form_of == entry.uid else _form_of(entry.uid, entry.text)) for entry in shown
        ],
        "form": EntryForm() if form_of else form,
        "refused": form if form.is_bound else None,
        "built_in": built_in,
        "topics": by_topic(built_in),
    }
    return render(request, "glossary/glossary.html", context, status=422 if form.is_bound else 200)


def _form_of(uid: str, text: str) -> EntryForm:
    return EntryForm(initial={"text": text}, auto_id=f"{uid}-%s")
