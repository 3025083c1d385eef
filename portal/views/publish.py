"""Publishing from the browser: check shows every problem at once, publish publishes what was checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from portal.forms.folder_upload import folder_files, keep_folders
from portal.forms.publish import PublishForm, Source
from portal.showing.allowances import allowances
from portal.showing.found_problems import by_file, every
from portal.showing.skill_use import fares_of
from registry import storage
from registry.actors import Actor
from registry.middleware import ActorRequest
from registry.models import Team
from registry.packages.limits import Limits
from registry.packages.migrating import Migration, migrate
from registry.packages.package import Package
from registry.packages.problems import CODES, Refused, refuse
from registry.packages.reading import read_files, read_upload
from registry.packages.repack import repack
from registry.permissions import Action, may
from registry.publishing import Preview, Publication, check, publish
from worker.inputs import store_input
from worker.models import InputFile

_FORM_BYTES = 2**20  # what a multipart body holds beside its files


@dataclass(frozen=True)
class Upload:
    """The bytes to publish, once as they came: ``name`` tells an archive from a SKILL.md."""

    data: bytes
    name: str


@csrf_exempt  # checked by the inner view: the body's parser is to be chosen before anybody reads the body
@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponseBase:
    """The form; its two buttons check or publish."""
    most = settings.SKILLQUAY_UNPACKED_BYTES + _FORM_BYTES
    if request.method == "POST" and int(request.META.get("CONTENT_LENGTH") or 0) > most:
        return _too_much(request)
    keep_folders(request)
    try:
        return _answer(request)
    except (TooManyFilesSent, RequestDataTooBig):
        return _too_much(request)


@csrf_protect
def _answer(request: Any) -> HttpResponse:
    teams = teams_of(request.actor)
    if request.method == "GET":
        return render(
            request, "publish/publish.html", {"form": _fresh(request, teams), "can": teams.exists()}
        )
    form = _form(request.actor, teams, request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "publish/publish.html", {"form": form, "can": True}, status=422)
    if "publish" in request.POST or "migrate" in request.POST:
        return _publish(request, form)
    return _check(request, form)


def _check(request: ActorRequest, form: PublishForm) -> HttpResponse:
    """Everything there is to say about the package; what passed is kept a while for its uploader alone."""
    try:
        upload = _upload(form.source, request.actor)
        package = _read(upload)
        preview = _preview(package, form, request.actor)
    except Refused as refused:
        return _refused(request, form, refused)
    migration = None if package.ok else _offered(package, form, request.actor)
    kept = _keep(upload, form, request.actor) if (preview.ok and package.ok) or migration else None
    context = {
        "form": _with_kept(form, kept),
        "can": True,
        "preview": preview,
        "package": package,
        "unpacked": sum(len(file.data) for file in package.files),
        "problems": by_file(every(package, preview), package.files),
        "fares": fares_of(package),
        "allowances": allowances(package.manifest),
        "ok": preview.ok and package.ok,
        "migration": migration,
        "changes": [change.translated(_) for change in migration.changes] if migration else [],
        "kept": kept,
    }
    return render(request, "publish/publish.html", context)


def _offered(package: Package, form: PublishForm, actor: Actor) -> Migration | None:
    """What a package that fails as an old one becomes, where that could be published."""
    if package.profile != "apexbridge":
        return None
    try:
        found = migrate(package, limits=_limits())
        return found if found.package.ok and _preview(found.package, form, actor).ok else None
    except Refused:
        return None  # what is wrong is among the problems that are shown


def _publish(request: ActorRequest, form: PublishForm) -> HttpResponse:
    try:
        package = _read(_upload(form.source, request.actor))
        if "migrate" in request.POST:
            package = migrate(package, limits=_limits()).package
        publication = _published(package, form, request.actor)
    except Refused as refused:
        return _refused(request, form, refused)
    return published(request, publication)


def published(request: HttpRequest, done: Publication) -> HttpResponse:
    """The version's page, which says what came of it."""
    version = done.version
    label = {"version": f"{version.skill}@{version.number}"}
    if not done.created:
        messages.success(request, _("%(version)s was published already; nothing changed.") % label)
    elif version.held_at:
        said = _("%(version)s is held: its findings wait for a maintainer of the team other than you.")
        messages.warning(request, said % label)
    else:
        messages.success(request, _("%(version)s is published.") % label)
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


def _published(package: Package, form: PublishForm, actor: Actor) -> Publication:
    given = form.cleaned_data
    return publish(
        package,
        team=given["team"],
        actor=actor,
        version=given["version"].strip() or None,
        visibility=given.get("visibility") or None,
        changelog=given["changelog"],
    )


def _preview(package: Package, form: PublishForm, actor: Actor) -> Preview:
    given = form.cleaned_data
    return check(
        package,
        team=given["team"],
        actor=actor,
        version=given["version"].strip() or None,
        visibility=given.get("visibility") or None,
    )


def _upload(source: Source, actor: Actor) -> Upload:
    if source.archive:
        return Upload(source.archive.read(), source.archive.name or "")
    if source.folder:
        files = folder_files(list(source.folder))
        return Upload(repack(read_files(files, limits=_limits()).files), "folder.zip")
    if source.text:
        return Upload(source.text.encode("utf-8", "surrogatepass"), "SKILL.md")
    kept = InputFile.objects.filter(
        uid=source.checked, owner=actor.user, expires_at__gt=timezone.now()
    ).first()
    if kept is None:
        raise refuse("UPLOAD_GONE")
    return Upload(storage.read(kept.digest), kept.name)


def _read(upload: Upload) -> Package:
    return read_upload(upload.data, filename=upload.name, limits=_limits())


def _limits() -> Limits:
    return Limits(
        archive=settings.SKILLQUAY_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_UNPACKED_BYTES,
        file=settings.SKILLQUAY_FILE_BYTES,
        entries=settings.SKILLQUAY_ARCHIVE_ENTRIES,
    )


def _keep(upload: Upload, form: PublishForm, actor: Actor) -> InputFile:
    if checked := form.source.checked:
        return InputFile.objects.get(uid=checked, owner=actor.user)
    return store_input([upload.data], upload.name, actor)


def _with_kept(form: PublishForm, kept: InputFile | None) -> PublishForm:
    """The form as it was sent, with what is kept in place of the files a browser cannot send back."""
    data = QueryDict(mutable=True)
    data.update(form.data)
    data["checked"] = kept.uid if kept else ""
    if kept:
        data["text"] = ""
    again = PublishForm(
        data,
        teams=form.fields["team"].queryset,  # type: ignore[attr-defined]
        settable="visibility" in form.fields,
    )
    again.is_valid()
    again.errors.clear()
    return again


def _refused(request: ActorRequest, form: PublishForm, refused: Refused) -> HttpResponse:
    context = {"form": form, "can": True, "problems": by_file(refused.problems), "refused": refused.code}
    return render(request, "publish/publish.html", context, status=CODES[refused.code].http)


def _too_much(request: HttpRequest) -> HttpResponse:
    teams = teams_of(request.actor)  # type: ignore[attr-defined]
    refused = refuse(
        "UPLOAD_TOO_LARGE",
        megabytes=settings.SKILLQUAY_UNPACKED_BYTES // 2**20,
        files=settings.SKILLQUAY_ARCHIVE_ENTRIES,
    )
    context = {
        "form": _form(request.actor, teams),  # type: ignore[attr-defined]
        "can": True,
        "problems": by_file(refused.problems),
        "refused": refused.code,
    }
    return render(request, "publish/publish.html", context, status=413)


def _fresh(request: ActorRequest, teams: QuerySet[Team]) -> PublishForm:
    return _form(request.actor, teams, initial={"team": request.GET.get("team")})


def _form(actor: Actor, teams: QuerySet[Team], *args: Any, **more: Any) -> PublishForm:
    """The form; it asks who sees the skill where the actor may say so."""
    settable = any(may(actor, Action.SETTINGS, team=team) for team in teams)
    return PublishForm(*args, teams=teams, settable=settable, **more)


def teams_of(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may publish."""
    seen = Team.objects.visible_to(actor).order_by("slug")
    return seen.filter(pk__in=[team.pk for team in seen if may(actor, Action.PUBLISH, team=team)])
