"""The publish page: "check" shows all problems of a package, and "publish" publishes the package. "fix" and
"migrate" change a package and check it again, as does the address of a draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from portal.decorators import signed_in_form
from portal.errors import UPLOAD_TOO_LARGE
from portal.forms.resumable_uploads import attach_uploads, erase_attached
from portal.forms.team_choice import has_team_to_publish, publishing_teams
from portal.pages.publish.drafts.fixes import ADD, VERSION, apply_fix, problem_fix, profile_fixes
from portal.pages.publish.drafts.upload import Upload, submitted_upload, upload_limits, with_files
from portal.pages.publish.forms.folder_upload import keep_folders, split_folder
from portal.pages.publish.forms.publish import PublishForm
from portal.pages.publish.presenters.problems import all_problems, by_file
from portal.pages.publish.presenters.profiles import profile_cause
from portal.presenters.skill.allowances import allowances
from portal.presenters.skill.runnable_version import profile_reports
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, active_teams_where
from registry.index.abilities import Ability, detect_abilities
from registry.lookup.skills import find_skill
from registry.models import Team, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.migrate.migration import Migration, migrate
from registry.packages.problems import Problem, Refusal, code_named
from registry.packages.version_numbers import FIRST_VERSION
from registry.rates.limits import RateLimit, count_request
from registry.versions.errors import ADDITIONS_NOT_CARRIED, SKILL_PURGED, VERSION_PURGED
from registry.versions.publishing.publish import (
    Preview,
    Publication,
    next_number,
    preview_publication,
    publish,
)
from worker.files.inputs import delete_input
from worker.run_views.observed import ObservedPermissions, observed_permissions

_MAX_IN_ADDRESS = 500  # characters of a changelog
_FORM_BYTES = 2**20  # overhead of a multipart body besides its files


@csrf_exempt  # the inner view checks it, because the parser must be set before the body is read
@signed_in_form
def page(request: HttpRequest) -> HttpResponseBase:
    """Shows the publish form; its buttons check or publish. Requests above the size limits get status 413."""
    max_bytes = settings.SKILLQUAY_MAX_UNPACKED_BYTES + _FORM_BYTES
    if request.method == "POST" and int(request.META.get("CONTENT_LENGTH") or 0) > max_bytes:
        return _render_too_large(request)
    keep_folders(request)
    try:
        return _answer(request)
    except (TooManyFilesSent, RequestDataTooBig):
        return _render_too_large(request)


@csrf_protect
def _answer(request: Any) -> HttpResponse:
    teams = publishing_teams(request.actor)
    if request.method == "GET" and "upload_id" not in request.GET:
        chosen = request.GET.get("team", "")
        form = _form(request.actor, teams, initial={"team": chosen})
        context = {"form": form, "can": has_team_to_publish(teams, chosen)}
        return render(request, "publish/publish.html", context)
    count_request(request, request.actor, RateLimit.PUBLISH)
    attach_uploads(request)
    split_folder(request)
    given = request.POST if request.method == "POST" else request.GET
    form = _form(request.actor, teams, given, request.FILES)
    if not form.is_valid():
        return render(request, "publish/publish.html", {"form": form, "can": True}, status=422)
    try:
        upload = submitted_upload(form.cleaned_data, request.actor)
        if fix := request.POST.get("fix"):
            upload = apply_fix(fix, upload, _next_number(upload, form))
            form = _with_values(form, version="") if fix == VERSION else form
        elif "migrate" in request.POST:
            upload = with_files(upload, migrate(upload.package, limits=upload_limits()).after)
    except Refusal as refused:
        return _render_refusal(request, form, refused)
    if "publish" in request.POST:
        return _publish(request, form, upload)
    if "X-Upload" in request.headers and (address := _draft_address(request, form, upload)):
        return redirect(address)
    return _check(request, form, upload)


def _draft_address(request: ActorRequest, form: PublishForm, upload: Upload) -> str:
    """Keeps the upload as a draft, and returns the address that checks it, also after a reload. Returns "" if
    the changelog is too long for an address.
    """
    options = {name: value for name, value in _options(form).items() if value}
    options |= {"team": form.cleaned_data["team"].slug, "changelog": form.cleaned_data["changelog"]}
    if len(options["changelog"]) > _MAX_IN_ADDRESS:
        return ""
    return f"{reverse('publish')}?{urlencode({'upload_id': upload.keep(request.actor).uid, **options})}"


def _check(request: ActorRequest, form: PublishForm, upload: Upload) -> HttpResponse:
    """Shows all problems of a package, and keeps it as a draft unless its content was purged."""
    package = upload.package
    try:
        preview = preview_publication(package, actor=request.actor, **_options(form))
    except Refusal as refused:
        return _render_refusal(request, form, refused)
    problems = all_problems(package, preview)
    if purged := [problem for problem in problems if _is_purged(problem)]:
        return _refuse_purged(request, form, Refusal(*purged), upload)
    migration = _find_migration(upload, form, request.actor)
    context = {
        "preview": preview,
        "package": package,
        "unpacked": sum(len(file.data) for file in package.files),
        "profile_reports": profile_reports(package),
        "allowances": allowances(package.manifest),
        "observed": _observed(preview, request.actor),
        "ok": preview.ok and package.ok,
        "migration": migration,
        "changes": [change.translated(_) for change in migration.changes] if migration else [],
        **_draft_context(request, form, upload, problems),
    }
    if migration:  # which adds the fields, too
        context["fixes"] = [fix for fix in context["fixes"] if fix.name != ADD]
    return render(request, "publish/publish.html", context)


def _draft_context(
    request: ActorRequest, form: PublishForm, upload: Upload, problems: Sequence[Problem]
) -> dict[str, Any]:
    """The problems of a draft with their fixes, and the form that edits the draft."""
    package = upload.package
    has_errors = any(problem.severity == "error" for problem in problems)
    number = _next_number(upload, form) if has_errors else ""
    stored = upload.keep(request.actor)
    return {
        "form": _with_values(form, upload_id=stored.uid, text=upload.text),
        "can": True,
        "problems": by_file(
            problems, package.files, lambda problem: problem_fix(problem, package, number) if number else None
        ),
        "profile": profile_cause(package) if not package.ok else None,
        "fixes": profile_fixes(package, number) if number else [],
        "stored": stored,
    }


def _is_purged(problem: Problem) -> bool:
    return problem.code in (VERSION_PURGED.name, SKILL_PURGED.name)


def _next_number(upload: Upload, form: PublishForm) -> str:
    return next_number(form.cleaned_data["team"], upload.package.manifest.slug)


def _observed(preview: Preview, actor: Actor) -> ObservedPermissions | None:
    """The accesses of the skill's latest version; None for a new skill and for one that the actor
    can't see.
    """
    if preview.creates_skill or not preview.skill:
        return None
    with suppress(Refusal):
        latest = find_skill(preview.skill, actor).latest
        return observed_permissions(latest, actor) if latest else None
    return None


def _find_migration(upload: Upload, form: PublishForm, actor: Actor) -> Migration | None:
    """The migration of an invalid package; None unless its profile is ``apexbridge``, the result could be
    published, and adding the missing fields does not suffice.
    """
    package = upload.package
    if package.profile != "apexbridge" or package.ok:
        return None
    try:
        if apply_fix(ADD, upload, FIRST_VERSION).package.ok:
            return None
        found = migrate(package, limits=upload_limits())
        if not found.package.ok:
            return None
        return found if preview_publication(found.package, actor=actor, **_options(form)).ok else None
    except Refusal:
        return None  # the reason is among the problems shown


def _publish(request: ActorRequest, form: PublishForm, upload: Upload) -> HttpResponse:
    try:
        changelog = form.cleaned_data["changelog"]
        publication = publish(upload.package, actor=request.actor, changelog=changelog, **_options(form))
    except Refusal as refused:
        if _is_purged(refused.problems[0]):
            return _refuse_purged(request, form, refused, upload)
        return _render_refusal(request, form, refused, upload)
    return redirect_to_version(request, publication)


def redirect_to_version(request: HttpRequest, done: Publication) -> HttpResponse:
    """Redirects to the version's page with a message about the result."""
    version = done.version
    label = {"version": f"{version.skill}@{version.number}"}
    if not done.created:
        text = _("%(version)s was already published. Nothing changed.")
        messages.success(request, text % label, extra_tags="UNCHANGED")
    elif version.held_at:
        text = _(
            "%(version)s was published but is held: it can't be used until another "
            "maintainer of the team reviews its findings."
        )
        messages.warning(request, text % label)
    else:
        messages.success(request, _("%(version)s was published.") % label, extra_tags=run_link(version))
    for problem in done.problems:
        if problem.code == ADDITIONS_NOT_CARRIED.name:
            messages.warning(request, problem.message(_))
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


def run_link(version: Version) -> str:
    """Message tags that make ``components/messages.html`` link to the run form; "" if the version has no run
    form.
    """
    if Ability.RUN not in detect_abilities(version, manifest_of(version.manifest)):
        return ""
    address = reverse("run-form", args=[version.skill.team.slug, version.skill.slug])
    return f"run:{address}?{urlencode({'version': version.number})}"


def _options(form: PublishForm) -> dict[str, Any]:
    given = form.cleaned_data
    return {
        "team": given["team"],
        "version": given["version"].strip() or None,
        "visibility": given.get("visibility") or None,
    }


def _with_values(form: PublishForm, **values: str) -> PublishForm:
    """A copy of the form with these values and without errors: a browser can't resend files."""
    data = QueryDict(mutable=True)
    data.update(form.data)
    for name, value in values.items():
        data[name] = value
    fresh = PublishForm(
        data,
        teams=form.fields["team"].queryset,  # type: ignore[attr-defined]
        settable="visibility" in form.fields,
    )
    fresh.is_valid()
    fresh.errors.clear()
    return fresh


def _render_refusal(
    request: ActorRequest, form: PublishForm, refused: Refusal, upload: Upload | None = None
) -> HttpResponse:
    context = {"form": form, "can": True, "problems": by_file(refused.problems), "refused": refused.code}
    if upload:
        context |= _draft_context(request, form, upload, refused.problems)
    return render(request, "publish/publish.html", context, status=code_named(refused.code).http)


def _refuse_purged(
    request: ActorRequest, form: PublishForm, refused: Refusal, upload: Upload
) -> HttpResponse:
    if upload.stored:
        delete_input(upload.stored)
    erase_attached(request)
    return _render_refusal(request, form, refused)


def _render_too_large(request: HttpRequest) -> HttpResponse:
    teams = publishing_teams(request.actor)  # type: ignore[attr-defined]
    refused = UPLOAD_TOO_LARGE.refusal(
        megabytes=settings.SKILLQUAY_MAX_UNPACKED_BYTES // 2**20, files=settings.SKILLQUAY_MAX_ARCHIVE_ENTRIES
    )
    context = {
        "form": _form(request.actor, teams),  # type: ignore[attr-defined]
        "can": True,
        "problems": by_file(refused.problems),
        "refused": refused.code,
    }
    return render(request, "publish/publish.html", context, status=413)


def _form(actor: Actor, teams: QuerySet[Team], *args: Any, **more: Any) -> PublishForm:
    """The form, with a visibility field if the actor may set the visibility in any of the teams."""
    settable = teams.filter(pk__in=active_teams_where(actor, Action.SETTINGS).values("pk"))
    return PublishForm(*args, teams=teams, settable=settable.exists(), **more)
