"""Editing a version's text in the browser into the next version; what was typed is never lost."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.edit import EditForm
from portal.showing.differences import differences
from portal.showing.found_problems import Found, by_file, every
from portal.showing.skill_use import fares_of
from portal.views.publish import published
from portal.views.skill import layout
from registry import editing
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Version
from registry.packages.problems import CODES, Refused
from registry.permissions import Action, require

_TYPED = ("text-", "added-", "changelog")


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """The editors; who was signed out meanwhile gets the text back that was typed."""
    if request.user.is_authenticated:
        return _page(request, team, slug, number)
    if request.method == "GET":
        return redirect_to_login(request.get_full_path())
    typed = [text for name, text in request.POST.items() if name.startswith(_TYPED) and text]
    return render(request, "publish/signed_out.html", {"typed": typed}, status=403)


def _page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Their buttons add a file, check, or publish."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    version = find_version(skill, number, request.actor, even_held=True)  # to be mended
    require(request.actor, Action.PUBLISH, skill=version.skill)
    form = EditForm(editing.files_of(version), _sent(request), initial={"seen": _latest(version)})
    if request.method == "GET" or "add" in request.POST:
        return _shown(request, version, form)
    if not form.is_valid():
        return _shown(request, version, form, status=422)
    try:
        return _done(request, version, form)
    except Refused as refused:
        return _refused(request, version, form, refused)


def _done(request: ActorRequest, version: Version, form: EditForm) -> HttpResponse:
    given = form.cleaned_data
    edition = editing.edit(version, form.edits, given["step"], onto=given["onto"])
    if "publish" in request.POST:
        done = editing.publish_edit(edition, request.actor, changelog=given["changelog"], seen=given["seen"])
        return published(request, done)
    preview = editing.preview(edition, request.actor)
    context = {
        "preview": preview,
        "ok": preview.ok and edition.package.ok,
        "problems": by_file(every(edition.package, preview), edition.package.files),
        "differences": differences(editing.files_of(version), edition.package.files),
        "fares": fares_of(edition.package),
    }
    return _shown(request, version, form, context)


def _refused(request: ActorRequest, version: Version, form: EditForm, refused: Refused) -> HttpResponse:
    found = by_file(refused.problems, form.package_files)
    context: dict[str, Any] = {"problems": found, "refused": refused.code}
    if refused.code == "EDIT_CONFLICT":
        context |= _newer(request, version)
        form = EditForm(
            form.package_files, _with(form.data, seen=context["newer"].digest, onto=context["newer"].number)
        )
    return _shown(request, version, form, context, status=CODES[refused.code].http)


def _newer(request: ActorRequest, version: Version) -> dict[str, Any]:
    """What was published meanwhile, beside what is being edited."""
    newer = find_version(version.skill, None, request.actor)
    changes = differences(editing.files_of(version), editing.files_of(newer))
    return {"newer": newer, "newer_differences": changes}


def _shown(
    request: ActorRequest,
    version: Version,
    form: EditForm,
    more: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    skill = version.skill
    context = layout(request, skill, "edit", version=version) | {"form": form, **(more or {})}
    problems = {row.path: row for row in context.get("problems", Found()).files}
    context["editors"] = [(editor, problems.pop(editor.path, None)) for editor in form.editors]
    context["elsewhere"] = Found(tuple(problems.values()))
    context["cancel"] = reverse("version", args=[skill.team.slug, skill.slug, version.number])
    return render(request, "publish/edit.html", context, status=status)


def _sent(request: ActorRequest) -> QueryDict | None:
    """The form as it came; with one more row where a new file was asked for."""
    if request.method == "GET":
        return None
    if "add" not in request.POST:
        return request.POST
    rows = str(request.POST.get("rows", "0"))
    return _with(request.POST, rows=str(int(rows) + 1 if rows.isdecimal() and len(rows) < 4 else 1))


def _with(data: Any, **values: str) -> QueryDict:
    changed: QueryDict = data.copy()
    for name, value in values.items():
        changed[name] = value
    return changed


def _latest(version: Version) -> str:
    latest = version.skill.latest
    return latest.digest if latest else ""
