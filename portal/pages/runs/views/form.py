"""The page with the form that starts a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.context import page_uploads
from portal.forms.resumable_uploads import attach_uploads
from portal.pages.runs.forms.file_field import StoredFile
from portal.pages.runs.presenters.failure import usage_of
from portal.pages.runs.presenters.run_form import Prefill, RunForm
from portal.pages.runs.presenters.sample_calls import sample_calls
from portal.pages.skill.views.skill import layout
from portal.pages.skill.views.use import RerunSource, rerun_source
from portal.presenters.content.text import json_text
from portal.presenters.secrets import missing_secrets
from portal.presenters.skill.allowances import allowances
from portal.presenters.skill.needs import need_groups
from portal.presenters.skill.permissions import verdict_of
from portal.presenters.skill.runnable_version import RunnableVersion, runnable_version
from registry.core.sql import evaluate, read_together, reads_of
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.identity.teams import calling_team
from registry.lookup.skills import find_skill, find_version
from registry.models import Role, Skill, Team
from registry.models.identity import new_uid
from registry.packages.problems import Problem, Refusal
from registry.rates.limits import RateLimit, count_request
from worker.attempts.recording import read_stream_ends
from worker.files.inputs import store_input
from worker.models import Artifact, Run
from worker.protocols.call import Request
from worker.runs.request import request_run

_MAX_SEARCHED = 500  # number of the actor's newest runs whose files are suggested as inputs
_ARTIFACTS = 30  # number of files of earlier runs suggested as inputs
_HELP = {"help": ""}
_MAX_HELP_REQUEST = 3_000  # characters; a request for --help is never longer
_MAX_HELP = 20_000


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Shows the run form, prefilled by ``?rerun_of=<run>``, ``?example=<number>`` or ``?inputs=<JSON>``; a
    POST starts a run.

    Redirects anonymous users to sign-in, and prompt skills to their own page.
    """
    skill = find_skill(f"{team}/{slug}", request.actor)
    if not request.actor.is_signed_in:
        return redirect_to_login(request.get_full_path())
    source = rerun_source(request)
    named = request.POST.get("version") or request.GET.get("version")
    number = named or (source.run.version_number if source else None)
    runnable = runnable_version(find_version(skill, number, request.actor))
    if runnable.entry_points.prompt and not (request.POST.get("script") or request.GET.get("script")):
        return _redirect_to_use(request, skill)
    if not runnable.runnable or not may(request.actor, Action.RUN, skill=skill):
        return _render_not_runnable(request, runnable)
    attach_uploads(request)
    run_form = _run_form(request, runnable, source)
    if request.method == "POST":
        if "show_fields" in request.POST or "redraw" in request.POST:
            run_form.clear_errors(lambda upload: store_upload(upload, request.actor))
        elif "show_request" in request.POST:
            run_form.show_request(lambda upload: store_upload(upload, request.actor))
        elif "add_rows" not in request.POST and (run := _start(request, run_form, source)):
            return redirect("run", run.uid)
    return _render(request, run_form, source)


def _redirect_to_use(request: ActorRequest, skill: Skill) -> HttpResponse:
    """Redirects to the page for prompt skills, with the requested version and the run to repeat."""
    query = {name: value for name in ("rerun_of", "version") if (value := request.GET.get(name))}
    if skill.resolved_canonical:
        query["version"] = skill.resolved_canonical.number
    address = reverse("use", args=[skill.team.slug, skill.slug])
    return redirect(f"{address}?{urlencode(query)}" if query else address)


def _start(request: ActorRequest, run_form: RunForm, source: RerunSource | None) -> Run | None:
    """Starts a run, or a ``--help`` run if that button was pressed. Returns None if the form now shows
    errors.
    """
    count_request(request, request.actor, RateLimit.RUN)
    if "help" in request.POST:
        return _request_help(request, run_form)
    if not run_form.is_valid():
        return None
    try:
        return request_run(
            actor=request.actor,
            version=run_form.runnable.version,
            request=run_form.request(lambda upload: store_upload(upload, request.actor)),
            team=run_form.team,
            rerun_of=source.run if source else None,
            idempotency_key=_idempotency_key(request),
            no_cache=run_form.no_cache,
        )
    except Refusal as refused:
        run_form.add_problems(refused.problems)
        return None


def _idempotency_key(request: ActorRequest) -> str:
    """The form's idempotency key, with which a double click starts only one run; "" if the form has none."""
    once = request.POST.get("form_token", "")
    return f"form:{once[:40]}" if once else ""


def _request_help(request: ActorRequest, run_form: RunForm) -> Run | None:
    """Starts the script with ``--help``; None if the request is refused. The form shows the output after the
    run.
    """
    run_form.is_valid()
    help_request = Request(inputs=_HELP, script=run_form.options.value("script"))
    try:
        return request_run(
            actor=request.actor, version=run_form.runnable.version, request=help_request, team=run_form.team
        )
    except Refusal as refused:
        for form in run_form.forms:
            form.errors.clear()
        run_form.add_problems(
            [Problem(problem.code, "", None, problem.params) for problem in refused.problems]
        )
        return None


def store_upload(upload: UploadedFile[bytes], actor: Actor) -> StoredFile:
    """Stores an upload of a form as an input file of the actor; raises the refusals of ``store_input``."""
    stored = store_input(upload.chunks(), upload.name or "", actor)
    return StoredFile(stored.uid, stored.name, stored.size)


def _run_form(request: ActorRequest, runnable: RunnableVersion, source: RerunSource | None) -> RunForm:
    is_post = request.method == "POST"
    query = request.POST if is_post else request.GET
    calls = sample_calls(runnable)
    number = _sample_number(query.get("example", ""))
    call = calls[number] if number is not None and number < len(calls) else None
    earlier = call.request if call else source.request if source else None
    tool = query.get("tool", "") or str((earlier.get("tool") if earlier else None) or "")
    tools = [each.name for each in runnable.entry_points.tools]
    tool = tool if tool in tools else tools[0] if tools else ""
    is_same_tool = earlier is not None and (earlier.get("tool") or "") in (tool, "")
    teams = run_teams(request.actor)
    artifacts = recent_artifacts(request.actor)
    evaluate(teams, artifacts)
    named = next((team for team in teams if team.slug == query.get("team", "")), None)
    return RunForm(
        runnable,
        Prefill(
            earlier if earlier and is_same_tool else _query_prefill(query),
            named or (source.run.team if source else None),
            _sample_number(query.get("sample", "")),
        ),
        tool=tool,
        shown_format=query.get("format", "") if query.get("format") in ("json", "line") else "",
        teams=teams,
        artifacts=artifact_choices(artifacts),
        data=request.POST if is_post else None,
        files=request.FILES if is_post else None,
        calls=calls,
        call=call,
    )


def _sample_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None


def _query_prefill(query: QueryDict) -> Mapping[str, object]:
    """The values of ``script`` and ``inputs`` in the query; ``inputs`` is None if missing or invalid JSON."""
    try:
        inputs = json.loads(query.get("inputs", "null"))
        json.dumps(inputs, ensure_ascii=False).encode()  # fails for a lone surrogate, which pages can't show
    except (ValueError, RecursionError):
        inputs = None
    return {"script": query.get("script"), "inputs": inputs}


def _render(request: ActorRequest, run_form: RunForm, source: RerunSource | None) -> HttpResponse:
    runnable = run_form.runnable
    refused = any(form.is_bound and form.errors for form in run_form.forms) and "add_rows" not in request.POST
    team = run_form.selected_team or calling_team(request.actor, runnable.version.skill)
    path = run_form.command_line.path if run_form.command_line else ""
    uploads = page_uploads(request)
    page, needs, _uploads = read_together(
        layout.reads(request, runnable.version.skill, "run", version=runnable.version),
        need_groups.reads(runnable.version, path=path),
        reads_of(uploads),
    )
    context = page | {
        "run_form": run_form,
        "unfinished_uploads": uploads,
        "runnable_version": runnable,
        "source": source,
        "refused": refused,
        "has_advanced": run_form.has_advanced,
        "as_json": run_form.input_format == "json",
        "as_line": run_form.offers_fields and run_form.input_format == "arguments",
        "can_switch": run_form.input_format != "json" or run_form.shown_format == "json",
        "form_token": new_uid(),
        "schema_text": json_text(run_form.schema),
        "allowances": allowances(runnable.manifest),
        "needs": needs,
        "verdict": verdict_of(runnable.version, request.actor, team),
        "missing_secrets": missing_secrets(runnable.version, team),
        "curl": run_form.curl(),
        "help": _usage(request.actor, run_form, source),
    }
    return render(request, "runs/form.html", context, status=422 if refused else 200)


def _render_not_runnable(request: ActorRequest, runnable: RunnableVersion) -> HttpResponse:
    """The page that explains why the version can't run and lists its files; status 403 without permission."""
    version = runnable.version
    context = layout(request, version.skill, "run", version=version) | {
        "runnable_version": runnable,
        "files": version.files.order_by("path"),
    }
    return render(request, "runs/not_runnable.html", context, status=403 if runnable.runnable else 200)


def run_teams(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may start runs."""
    keys = [team for team, role in actor.roles.items() if role != Role.VIEWER]
    return Team.objects.filter(pk__in=keys).order_by("slug")


def recent_artifacts(actor: Actor) -> QuerySet[Artifact, tuple[str, str, str]]:
    """Run, path and skill of the newest files of the actor's newest runs."""
    runs = Run.objects.readable_by(actor).filter(caller=actor.user).order_by("-id")
    rows = (
        Artifact.objects.filter(run__in=runs.values("pk")[:_MAX_SEARCHED])
        .order_by("-id")
        .values_list("run__uid", "path", "run__skill_label")
    )
    return rows[:_ARTIFACTS]


def artifact_choices(artifacts: Iterable[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """The suggestions of a control for files: value and label of each artifact of ``recent_artifacts``."""
    return [(f"{uid}/{path}", f"{path} · {label}") for uid, path, label in artifacts]


def _usage(actor: Actor, run_form: RunForm, source: RerunSource | None) -> str:
    """The usage text if the form has an argument line or ``source`` failed because of its arguments,
    otherwise "".
    """
    if printed := usage_of(source.run) if source else "":
        return printed
    if run_form.input_format != "arguments":
        return ""
    return run_form.usage or _help_output(actor, run_form.runnable)


def _help_output(actor: Actor, runnable: RunnableVersion) -> str:
    """The output of the actor's last finished ``--help`` run of the version.

    "" if there is none among the last 50 finished runs with a short request.
    """
    runs = Run.objects.readable_by(actor).filter(caller=actor.user, digest=runnable.version.digest)
    short = runs.annotate(length=Length(Cast("request", TextField()))).filter(length__lt=_MAX_HELP_REQUEST)
    rows = short.filter(finished_at__isnull=False).order_by("-id").values_list("pk", "request")
    key = next((pk for pk, request in rows[:50] if request.get("inputs") == _HELP), None)
    run = runs.only("pk", "attempt").filter(pk=key).first() if key is not None else None
    return "".join(read_stream_ends(run, max_bytes=_MAX_HELP))[:_MAX_HELP] if run else ""
