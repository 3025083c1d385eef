"""The page that edits a version's files in the browser and publishes them. Errors keep the typed text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.pages.publish.forms.edit import EditForm
from portal.pages.publish.presenters.differences import differences
from portal.pages.publish.presenters.problems import ProblemList, all_problems, by_file
from portal.pages.publish.views.publish import redirect_to_version
from portal.pages.skill.views.skill import layout, version_at
from portal.presenters.skill.runnable_version import profile_reports
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.lookup.skills import find_version
from registry.models import Version
from registry.packages.problems import Refusal, code_named
from registry.rates.limits import RateLimit, count_request
from registry.versions.content import edit as editing
from registry.versions.errors import EDIT_CONFLICT
from worker.run_views.observed import observed_permissions

_TYPED = ("text-", "added-", "changelog")


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Shows the edit page. A POST after the session has ended returns the typed texts, with status 403."""
    if request.user.is_authenticated:
        return _page(request, team, slug, number)
    if request.method == "GET":
        return redirect_to_login(request.get_full_path())
    typed = [text for name, text in request.POST.items() if name.startswith(_TYPED) and text]
    return render(request, "publish/signed_out.html", {"typed": typed}, status=403)


def _page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Shows the edit form; its buttons add a row for a new file, check the edits, or publish them."""
    version = version_at(request, team, slug, number)  # also finds held versions, so that they can be fixed
    require(request.actor, Action.PUBLISH, skill=version.skill)
    form = EditForm(
        editing.version_files(version),
        _form_data(request),
        numbers=editing.next_numbers(version),
        initial={"base_digest": _latest(version)},
    )
    if request.method == "GET" or "add" in request.POST:
        return _render(request, version, form)
    if not form.is_valid():
        return _render(request, version, form, status=422)
    try:
        return _check_or_publish(request, version, form)
    except Refusal as refused:
        return _render_refusal(request, version, form, refused)


def _check_or_publish(request: ActorRequest, version: Version, form: EditForm) -> HttpResponse:
    count_request(request, request.actor, RateLimit.PUBLISH)
    values = form.cleaned_data
    edition = editing.apply_edits(version, form.edits, values["bump"], files=form.package_files)
    if "publish" in request.POST:
        done = editing.publish_edit(
            edition, request.actor, changelog=values["changelog"], base_digest=values["base_digest"]
        )
        return redirect_to_version(request, done)
    preview = editing.preview_edit(edition, request.actor)
    context = {
        "preview": preview,
        "ok": preview.ok and edition.package.ok,
        "problems": by_file(all_problems(edition.package, preview), edition.package.files),
        "differences": differences(form.package_files, edition.package.files),
        "observed": observed_permissions(version, request.actor),
        "profile_reports": profile_reports(edition.package),
    }
    return _render(request, version, form, context)


def _render_refusal(
    request: ActorRequest, version: Version, form: EditForm, refused: Refusal
) -> HttpResponse:
    found = by_file(refused.problems, form.package_files)
    context: dict[str, Any] = {"problems": found, "refused": refused.code}
    if refused.code == EDIT_CONFLICT.name:
        context |= _newer(request, version)
        form = EditForm(
            form.package_files,
            _with_values(form.data, base_digest=context["newer"].digest),
            numbers=editing.next_numbers(version),
        )
    return _render(request, version, form, context, status=code_named(refused.code).http)


def _newer(request: ActorRequest, version: Version) -> dict[str, Any]:
    newer = find_version(version.skill, None, request.actor)
    changes = differences(editing.version_files(version), editing.version_files(newer))
    return {"newer": newer, "newer_differences": changes}


def _render(
    request: ActorRequest,
    version: Version,
    form: EditForm,
    more: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    skill = version.skill
    context = layout(request, skill, "edit", version=version) | {"form": form, **(more or {})}
    found = context.get("problems", ProblemList())
    problems = {row.path: row for row in found.files}
    context["editors"] = [(editor, problems.pop(editor.path, None)) for editor in form.editors]
    context["elsewhere"] = replace(found, files=tuple(problems.values()))
    context["cancel"] = reverse("version", args=[skill.team.slug, skill.slug, version.number])
    return render(request, "publish/edit.html", context, status=status)


def _form_data(request: ActorRequest) -> QueryDict | None:
    """The submitted form, with one more row if "add" was pressed; None for a GET."""
    if request.method == "GET":
        return None
    if "add" not in request.POST:
        return request.POST
    rows = str(request.POST.get("rows", "0"))
    return _with_values(request.POST, rows=str(int(rows) + 1 if rows.isdecimal() and len(rows) < 4 else 1))


def _with_values(data: Any, **values: str) -> QueryDict:
    changed: QueryDict = data.copy()
    for name, value in values.items():
        changed[name] = value
    return changed


def _latest(version: Version) -> str:
    latest = version.skill.latest
    return latest.digest if latest else ""
