"""Pages to create and edit a schedule: its timing, next to the skill's run form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.context import page_uploads, reader_zone
from portal.decorators import signed_in_form
from portal.forms.errors import add_refusals
from portal.forms.resumable_uploads import attach_uploads
from portal.pages.runs.forms.file_field import StoredFile
from portal.pages.runs.presenters.run_form import Prefill, RunForm
from portal.pages.runs.views.form import artifact_choices, recent_artifacts, run_teams, store_upload
from portal.pages.schedules.forms import ScheduleForm, initial_of
from portal.pages.schedules.presenters import name_choices, version_choices
from portal.presenters.skill.permissions import verdict_of
from portal.presenters.skill.runnable_version import runnable_version
from registry.core.sql import read_together, reads_of
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.identity.teams import calling_team
from registry.lookup.skills import find_skill, find_version
from registry.models import Skill, Team, Version
from registry.packages.problems import Refusal
from registry.rates.limits import RateLimit, count_request
from worker.models import Schedule
from worker.schedules import change, errors
from worker.schedules.call import request_document
from worker.schedules.change import ScheduleOptions
from worker.schedules.documents import file_documents
from worker.schedules.timing import checked_timing

# Fields whose problems are shown at the form's fields.
_SETTINGS = {"name", "cron", "every_s", "at", "time_zone", "version"}


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    """Shows the form for a new schedule of ``?skill=``; redirects to the catalog if the URL names no
    skill.
    """
    label = request.GET.get("skill", "")[:130]
    if not label:
        return redirect("catalog")
    skill = find_skill(label, request.actor)
    require(request.actor, Action.RUN, skill=skill)
    version = request.GET.get("version", "")[:64]
    own = request.actor.user.username if request.actor.user else ""
    zone = reader_zone(request).key
    options = ScheduleOptions(
        name=str(skill), cron="0 9 * * 1-5", time_zone=zone, version=version, run_as=own
    )
    return _respond(request, skill, options, None)


@signed_in_form
def edit(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.find(uid, request.actor)
    options = change.options_of(schedule, request.actor)
    if schedule.skill is None:
        raise errors.SCHEDULE_SKILL_DELETED.refusal(skill=schedule.skill_label)
    if not options.run_as and not options.token and request.actor.user:
        options = replace(options, run_as=request.actor.user.username)
    return _respond(request, schedule.skill, options, schedule)


def _respond(
    request: ActorRequest, skill: Skill, options: ScheduleOptions, schedule: Schedule | None
) -> HttpResponse:
    is_post = request.method == "POST"
    attach_uploads(request)
    team = options.team or calling_team(request.actor, skill)
    initial = initial_of(options)
    uploads = page_uploads(request)
    teams, latest = run_teams(request.actor), Version.objects.filter(pk=skill.latest_id or 0)
    artifacts = recent_artifacts(request.actor)
    versions, names, _others = read_together(
        version_choices.reads(skill, initial["version"]),
        name_choices.reads(request.actor, team),
        reads_of(teams, latest, uploads, artifacts),
    )
    skill.latest = next(iter(latest), None)
    form = ScheduleForm(
        versions=versions,
        names=names,
        data=request.POST if is_post else None,
        initial=initial,
    )
    run_form = _run_form(request, skill, options, schedule, teams, artifact_choices(artifacts))
    if is_post and "save" in request.POST:
        count_request(request, request.actor, RateLimit.RUN)
        if saved := _save(request, skill, schedule, form, run_form):
            return redirect("schedule", saved.uid)
    elif is_post:
        form.is_valid()
        with add_refusals(form):
            run_form.clear_errors(lambda upload: store_upload(upload, request.actor))
    refused = is_post and "save" in request.POST
    next_runs = _preview(form, options)
    context = {
        "skill": skill,
        "schedule": schedule,
        "files": file_documents(schedule) if schedule else [],
        "form": form,
        "run_form": run_form,
        "unfinished_uploads": uploads,
        "version": run_form.runnable.version,
        "refused": refused,
        "title": _("Edit schedule") if schedule else _("New schedule"),
        "next_runs": next_runs or [],
        "is_invalid": next_runs is None,
        "verdict": verdict_of(run_form.runnable.version, request.actor, team),
    }
    return render(request, "schedules/form.html", context, status=422 if refused else 200)


def _run_form(
    request: ActorRequest,
    skill: Skill,
    options: ScheduleOptions,
    schedule: Schedule | None,
    teams: QuerySet[Team],
    artifacts: Sequence[tuple[str, str]],
) -> RunForm:
    is_post = request.method == "POST"
    query = request.POST if is_post else request.GET
    kind, _colon, name = query.get("version", "").partition(":")
    number = name if is_post and kind in ("version", "channel") else options.version or options.channel
    runnable = runnable_version(find_version(skill, number[:64] or None, request.actor))
    earlier: dict[str, Any] = {"arguments": [], **request_document(options.request)} if schedule else {}
    tools = [each.name for each in runnable.entry_points.tools]
    tool = query.get("tool", "") or earlier.get("tool", "")
    return RunForm(
        runnable,
        Prefill(earlier, options.team, files=_stored_files(schedule)),
        tool=tool if tool in tools else tools[0] if tools else "",
        shown_format=query.get("format", "") if query.get("format") in ("json", "line") else "",
        teams=teams,
        artifacts=artifacts,
        data=request.POST if is_post else None,
        files=request.FILES if is_post else None,
    )


def _stored_files(schedule: Schedule | None) -> dict[str, StoredFile]:
    """The uploads that the schedule keeps, by uid."""
    files = file_documents(schedule) if schedule else []
    uploads = ((each["reference"].get("input"), each) for each in files)
    return {uid: StoredFile(uid, each["name"], each["size"]) for uid, each in uploads if uid}


def _save(
    request: ActorRequest, skill: Skill, schedule: Schedule | None, form: ScheduleForm, run_form: RunForm
) -> Schedule | None:
    """Saves and returns the schedule; None if it was refused and the forms show the errors and the stored
    uploads.
    """

    def store(upload: UploadedFile[bytes]) -> StoredFile:
        return store_upload(upload, request.actor)

    is_valid = all([form.is_valid(), run_form.is_valid()])
    with add_refusals(form):
        run_form.keep_uploads(store)
        if not is_valid:
            return None
        try:
            call, team = run_form.request(store), run_form.team
            options = ScheduleOptions(request=call, team=team, **form.timing(), **form.settings())
            if schedule:
                return change.edit(schedule, options, request.actor)
            return change.create(skill, options, request.actor)
        except Refusal as refused:
            if refused.problems[0].path in _SETTINGS or refused.code.startswith("SCHEDULE"):
                raise _at_fields(refused) from None
            run_form.add_problems(refused.problems)
    return None


def _at_fields(refused: Refusal) -> Refusal:
    """The refusal with the paths of its problems replaced by the names of form fields."""
    return Refusal(*(each.at("every") if each.path == "every_s" else each for each in refused.problems))


def _preview(form: ScheduleForm, options: ScheduleOptions) -> list[Any] | None:
    """The next due times of the submitted timing, or of the current one; None if it is invalid. Adds the
    problems of a submitted timing to the form.
    """
    now = timezone.now()
    if not form.is_bound:
        try:
            return options.timing(now).next_runs(now)
        except Refusal:
            return []
    if form.is_valid():
        with add_refusals(form):
            try:
                return checked_timing(now=now, **form.timing()).next_runs(now)
            except Refusal as refused:
                raise _at_fields(refused) from None
    return None
