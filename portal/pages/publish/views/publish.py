"""The publish page: "check" shows all problems of a package, "publish" publishes it, and "migrate" migrates
it first.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
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
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from portal.decorators import signed_in_form
from portal.errors import UPLOAD_GONE, UPLOAD_TOO_LARGE
from portal.forms.team_choice import has_team_to_publish, publishing_teams
from portal.pages.publish.forms.folder_upload import folder_files, keep_folders
from portal.pages.publish.forms.publish import PublishForm
from portal.pages.publish.presenters.problems import all_problems, by_file
from portal.pages.publish.presenters.profiles import profile_cause, without_field
from portal.presenters.skill.allowances import allowances
from portal.presenters.skill.runnable_version import profile_reports
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.index.abilities import Ability, detect_abilities
from registry.lookup.skills import find_skill
from registry.models import Team, Version
from registry.packages.archive.repack import repack
from registry.packages.limits import Limits
from registry.packages.manifest.manifest import manifest_of
from registry.packages.migrate.migration import Migration, migrate
from registry.packages.package import Package
from registry.packages.problems import Refusal, code_named
from registry.packages.read_package import read_files, read_upload
from registry.rates.limits import RateLimit, count_request
from registry.storage import blobs
from registry.versions.errors import ADDITIONS_NOT_CARRIED, SKILL_PURGED, VERSION_PURGED
from registry.versions.publishing.publish import Preview, Publication, preview_publication, publish
from worker.files.inputs import delete_input, store_input
from worker.models import InputFile
from worker.run_views.observed import ObservedPermissions, observed_permissions

_FORM_BYTES = 2**20  # overhead of a multipart body besides its files


@dataclass(frozen=True)
class Upload:
    """The bytes to publish: the text of a SKILL.md if ``name`` ends in .md, otherwise an archive."""

    data: bytes
    name: str
    stored: InputFile | None = None  # stored by an earlier check


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
    if request.method == "GET":
        chosen = request.GET.get("team", "")
        form = _form(request.actor, teams, initial={"team": chosen})
        context = {"form": form, "can": has_team_to_publish(teams, chosen)}
        return render(request, "publish/publish.html", context)
    count_request(request, request.actor, RateLimit.PUBLISH)
    form = _form(request.actor, teams, request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "publish/publish.html", {"form": form, "can": True}, status=422)
    if "publish" in request.POST or "migrate" in request.POST:
        return _publish(request, form)
    return _check(request, _without_field(form, request.POST.get("remove", "")))


def _check(request: ActorRequest, form: PublishForm) -> HttpResponse:
    """Shows all problems of a package. Stores a package that can be published or migrated, so that the user
    need not upload it again.
    """
    try:
        upload = _upload(form, request.actor)
        package = _read(upload)
        preview = preview_publication(package, actor=request.actor, **_options(form))
    except Refusal as refused:
        return _render_refusal(request, form, refused)
    migration = None if package.ok else _find_migration(package, form, request.actor)
    stored = None
    if (preview.ok and package.ok) or migration:
        stored = upload.stored or store_input([upload.data], upload.name, request.actor)
    context = {
        "form": _form_again(form, stored, _text_of(upload)),
        "can": True,
        "preview": preview,
        "package": package,
        "unpacked": sum(len(file.data) for file in package.files),
        "problems": by_file(all_problems(package, preview), package.files),
        "profile": profile_cause(package),
        "profile_reports": profile_reports(package),
        "allowances": allowances(package.manifest),
        "observed": _observed(preview, request.actor),
        "ok": preview.ok and package.ok,
        "migration": migration,
        "changes": [change.translated(_) for change in migration.changes] if migration else [],
        "stored": stored,
    }
    return render(request, "publish/publish.html", context)


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


def _find_migration(package: Package, form: PublishForm, actor: Actor) -> Migration | None:
    """The migration of an invalid package; None unless its profile is ``apexbridge`` and the result could be
    published.
    """
    if package.profile != "apexbridge":
        return None
    try:
        found = migrate(package, limits=_limits())
        if not found.package.ok:
            return None
        return found if preview_publication(found.package, actor=actor, **_options(form)).ok else None
    except Refusal:
        return None  # the reason is among the problems shown


def _publish(request: ActorRequest, form: PublishForm) -> HttpResponse:
    package = stored = None
    try:
        upload = _upload(form, request.actor)
        stored, package = upload.stored, _read(upload)
        if "migrate" in request.POST:
            package = migrate(package, limits=_limits()).package
        changelog = form.cleaned_data["changelog"]
        publication = publish(package, actor=request.actor, changelog=changelog, **_options(form))
    except Refusal as refused:
        if stored and refused.code in (VERSION_PURGED.name, SKILL_PURGED.name):
            delete_input(stored)
        return _render_refusal(request, form, refused, package)
    return redirect_to_version(request, publication)


def redirect_to_version(request: HttpRequest, done: Publication) -> HttpResponse:
    """Redirects to the version's page with a message about the result."""
    version = done.version
    label = {"version": f"{version.skill}@{version.number}"}
    if not done.created:
        text = _("%(version)s was already published. Nothing changed.")
        messages.success(request, text % label, extra_tags="UNCHANGED")
    elif version.held_at:
        text = _("%(version)s is held until another maintainer of the team reviews its findings.")
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


def _upload(form: PublishForm, actor: Actor) -> Upload:
    """The submitted package. A new upload takes precedence over a stored one.

    Raises UPLOAD_GONE if there is neither or the stored one has expired, and other refusals for an invalid
    folder.
    """
    given = form.cleaned_data
    if archive := given["archive"]:
        return Upload(archive.read(), archive.name or "")
    if given["folder"]:
        files = folder_files(given["folder"])
        return Upload(repack(read_files(files, limits=_limits()).files), "folder.zip")
    if given["text"].strip():
        return Upload(given["text"].replace("\r\n", "\n").encode("utf-8", "surrogatepass"), "SKILL.md")
    uploads = InputFile.objects.filter(owner=actor.user, expires_at__gt=timezone.now())
    stored = uploads.filter(uid=given["upload_id"]).first()
    if stored is None:
        raise UPLOAD_GONE.refusal()
    return Upload(blobs.read(stored.digest), stored.name, stored)


def _read(upload: Upload) -> Package:
    return read_upload(upload.data, filename=upload.name, limits=_limits())


def _limits() -> Limits:
    return Limits(
        archive=settings.SKILLQUAY_MAX_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_MAX_UNPACKED_BYTES,
        file=settings.SKILLQUAY_MAX_FILE_BYTES,
        entries=settings.SKILLQUAY_MAX_ARCHIVE_ENTRIES,
    )


def _form_again(form: PublishForm, stored: InputFile | None, text: str) -> PublishForm:
    """The submitted form without errors. It contains the uid of the stored upload or the text of an invalid
    SKILL.md, because a browser can't resend files.
    """
    fresh = _with_values(form, upload_id=stored.uid if stored else "", text="" if stored else text)
    fresh.errors.clear()
    return fresh


def _without_field(form: PublishForm, field: str) -> PublishForm:
    """A copy of the form whose SKILL.md text lacks this field; the form itself if ``field`` is ""."""
    text = form.cleaned_data["text"]
    return _with_values(form, text=without_field(text.replace("\r\n", "\n"), field)) if field else form


def _with_values(form: PublishForm, **values: str) -> PublishForm:
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
    return fresh


def _text_of(upload: Upload) -> str:
    """The text of an upload that is a single SKILL.md, for the form; "" for other packages."""
    return upload.data.decode("utf-8", "replace") if upload.name.endswith(".md") else ""


def _render_refusal(
    request: ActorRequest, form: PublishForm, refused: Refusal, package: Package | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "can": True,
        "problems": by_file(refused.problems, package.files if package else ()),
        "profile": profile_cause(package) if package and not package.ok else None,
        "refused": refused.code,
    }
    return render(request, "publish/publish.html", context, status=code_named(refused.code).http)


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
    settable = any(may(actor, Action.SETTINGS, team=team) for team in teams)
    return PublishForm(*args, teams=teams, settable=settable, **more)
