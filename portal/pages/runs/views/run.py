"""The pages of one run: overview, live parts, log, files; and the actions cancel, erase and rerun."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from portal.forms.errors import show_refusals
from portal.pages.runs.presenters import log as run_log
from portal.pages.runs.presenters.artifacts import artifact_rows, image_type
from portal.pages.runs.presenters.comparison import comparison_targets
from portal.pages.runs.presenters.memories import write_rows
from portal.pages.runs.presenters.timeline import omitted_steps, ran_ms, timeline, waited_ms
from portal.presenters.approvals import approval_of_run
from portal.presenters.content.images import is_drawable
from portal.presenters.enforcement import enforcement_rows
from portal.presenters.explanations import Explanation, explain, is_standard_message
from portal.presenters.results import display_value
from portal.templatetags.skillquay import first_rows
from registry.api.attachments import disable_rendering
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill, find_version
from registry.models.skill import INTERNAL
from registry.rates.limits import RateLimit, count_request
from registry.storage import blobs
from worker.child_runs.lineage import require_runnable_from_ui
from worker.core.display_budget import MAX_TEXT
from worker.dependencies.waits import waits_of
from worker.models import Artifact, Run, RunStatus
from worker.protocols.call import Request
from worker.queue.states import ENDED
from worker.quotas.team_limits import blocking_limit
from worker.retention.erase import erase_run
from worker.run_views.documents import host_accesses
from worker.run_views.events import position_of
from worker.runs.cancel import cancel
from worker.runs.request import request_run


@dataclass(frozen=True)
class RunAccess:
    """A run, and how much of it the actor may read."""

    run: Run
    readable: bool
    own: bool

    @property
    def ended(self) -> bool:
        return self.run.status in ENDED

    @property
    def cancellable(self) -> bool:
        return self.readable and not self.ended


@require_GET
@never_cache
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """The run's page; without JavaScript it refreshes itself unless ``?refresh=0``."""
    access = _visible_run(uid, request.actor)
    position = "" if access.ended else position_of(access.run)  # first, so that no later event is missed
    context = {"position": position} | _context(access, request) | _log(access, request)
    context |= {
        "refreshes": not access.ended and not _may_be_deciding(context) and request.GET.get("refresh") != "0"
    }
    return render(request, "runs/run.html", context)


@require_GET
@never_cache
def live(request: ActorRequest, uid: str) -> HttpResponse:
    """The parts that change during a run; with ``?part=log`` only the log lines after ``?position=``."""
    if request.GET.get("part") == "log":
        return _new_lines(request, uid)
    access = _visible_run(uid, request.actor)
    attempt = _attempt(request, access.run)
    context = _context(access, request) | {"attempt": attempt}
    if access.readable:
        position = request.GET.get("position", "")
        context["log"] = run_log.since(access.run, attempt, position, running=not access.ended)
    return render(request, "runs/live.html", context)


def _new_lines(request: ActorRequest, uid: str) -> HttpResponse:
    """Renders only the new log lines, at a sixth of the cost of the page: most events are log lines."""
    readable = Run.objects.readable_by(request.actor).only("uid", "status", "attempt")
    run = get_object_or_404(readable, uid=uid)
    attempt, position = _attempt(request, run), request.GET.get("position", "")
    log = run_log.since(run, attempt, position, running=run.status not in ENDED)
    return render(request, "runs/new_log_lines.html", {"run": run, "attempt": attempt, "log": log})


@require_GET
@never_cache
def log(request: ActorRequest, uid: str) -> HttpResponseBase:
    """The log, page by page, or as a download with ``?raw=1``."""
    access = _readable_run(uid, request.actor)
    attempt = _attempt(request, access.run)
    if request.GET.get("raw"):
        chunks = _as_file(run_log.raw(access.run, attempt))
        return _download(chunks, f"{uid}-{attempt}.log", "text/plain; charset=utf-8")
    line = _number(request.GET.get("line", ""), 1)
    lines = run_log.page(access.run, attempt, line, running=not access.ended)
    first = lines.lines[0].number if lines.lines else 1
    context = {
        "access": access,
        "run": access.run,
        "attempt": attempt,
        "log": lines,
        "earlier": max(1, first - run_log.PAGE) if first > 1 else None,
        "later": first + run_log.PAGE if first + run_log.PAGE <= lines.total else None,
        "pages": (lines.total + run_log.PAGE - 1) // run_log.PAGE or 1,
        "page_number": (first - 1) // run_log.PAGE + 1,
    }
    return render(request, "runs/log.html", context)


@require_GET
def artifact(request: ActorRequest, uid: str, path: str) -> HttpResponseBase:
    """A file of the run, as a download, so that browsers don't render it."""
    row = _artifact(request, uid, path)
    response = _download(blobs.open_blob(row.digest), path.rpartition("/")[2], "application/octet-stream")
    response["Content-Length"] = str(row.size)
    return response


@require_GET
def artifact_image(request: ActorRequest, uid: str, path: str) -> HttpResponseBase:
    """An image of the run, for its page; 404 unless its first bytes are those of an image."""
    row = _artifact(request, uid, path)
    file = blobs.open_blob(row.digest)
    kind = image_type(file.read(12))
    if not kind or not is_drawable(file):
        file.close()
        raise Http404
    file.seek(0)
    response = _download(file, path.rpartition("/")[2], kind)
    response["Content-Length"] = str(row.size)
    return response


@require_POST
def stop(request: ActorRequest, uid: str) -> HttpResponse:
    """Requests cancellation of a run."""
    access = _readable_run(uid, request.actor)
    with show_refusals(request):
        cancel(access.run, actor=request.actor)
        messages.success(request, _("Stop requested."))
    return redirect("run", uid)


@require_POST
def erase(request: ActorRequest, uid: str) -> HttpResponse:
    """Erases the run's content; keeps caller, version, times and status."""
    access = _readable_run(uid, request.actor)
    with show_refusals(request):
        erase_run(access.run, actor=request.actor)
        messages.success(request, _("Run content erased."))
    return redirect("run", uid)


@require_POST
def again(request: ActorRequest, uid: str) -> HttpResponse:
    """Starts a run of the same version with the same inputs."""
    count_request(request, request.actor, RateLimit.RUN)
    access = _readable_run(uid, request.actor)
    with show_refusals(request):
        skill = find_skill(access.run.skill_label, request.actor)
        version = find_version(skill, access.run.version_number, request.actor)
        require_runnable_from_ui(version)
        run = request_run(
            actor=request.actor,
            version=version,
            request=request_of(access.run),
            team=access.run.team if access.run.team_id in request.actor.team_ids else None,
            rerun_of=access.run,
            no_cache="no_cache" in request.POST,
        )
        return redirect("run", run.uid)
    return redirect("run", uid)


def request_of(run: Run) -> Request:
    """The run's request, for a rerun; without the context, which is rebuilt."""
    row = run.request
    return Request(
        inputs=row.get("inputs") or {},
        script=row.get("script"),
        action=row.get("action"),
        tool=row.get("tool"),
        stdin=row.get("stdin"),
        debug=bool(row.get("debug")),
    )


def _visible_run(uid: str, actor: Actor, *, with_content: bool = True) -> RunAccess:
    related = ("skill__team", "team", "caller", "rerun_of", "parent")
    visible = Run.objects.visible_to(actor).select_related(*related)
    heavy = ["rerun_of__request", "rerun_of__result", "parent__request", "parent__result"]
    visible = visible.defer(*heavy, *([] if with_content else ["request", "result"]))
    run = get_object_or_404(visible, uid=uid)
    readable = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    return RunAccess(run, readable, actor.user is not None and run.caller_id == actor.user.pk)


def _readable_run(uid: str, actor: Actor) -> RunAccess:
    """A run without its content, which is loaded on use; raises Http404 unless the actor may read the run."""
    access = _visible_run(uid, actor, with_content=False)
    if not access.readable:
        raise Http404
    return access


def _artifact(request: ActorRequest, uid: str, path: str) -> Artifact:
    return get_object_or_404(_readable_run(uid, request.actor).run.artifacts, path=path)


def _context(access: RunAccess, request: ActorRequest) -> dict[str, Any]:
    run, now = access.run, timezone.now()
    result = (run.result or {}) if access.readable else {}
    failed = run.status not in (
        RunStatus.SUCCEEDED,
        RunStatus.QUEUED,
        RunStatus.RUNNING,
        RunStatus.WAITING_APPROVAL,
    )
    return {
        "access": access,
        "run": run,
        "approval": approval_of_run(run, request.actor),
        "skill_seen": run.skill
        and type(run.skill).objects.visible_to(request.actor).filter(pk=run.skill.pk).exists(),
        "pressable": run.skill is not None and run.skill.type != INTERNAL,
        "enforcement": enforcement_rows(run.sandbox),
        "waits": waits_of([run]).get(run.pk, ()),
        "most_at_once": blocking_limit(run),
        "waited_ms": waited_ms(run, now),
        "ran_ms": ran_ms(run, now),
        "rows": timeline(run) if access.readable else (),
        "dials": host_accesses(run) if access.readable else (),
        "omitted_steps": omitted_steps(run) if access.readable else 0,
        "why": _why(access, result) if failed and run.failure_code else None,
        "error": result.get("error"),
        "message": _own_message(run) if access.readable else "",
        "error_details": _details(result),
        "result": result,
        "prompt_messages": _messages(result),
        "output": display_value(_output(result), format=str(result.get("format") or "")),
        "metadata": _metadata(result),
        "artifacts": artifact_rows(run.artifacts.order_by("path")) if access.readable else (),
        "memory_writes": write_rows(run, result.get("memory_writes"), actor=request.actor),
        "inputs": display_value(run.request.get("inputs") or {}) if access.readable else None,
        "earlier": _cached_source(run, request.actor),
        "rerun_of": _visible_related(run.rerun_of, request.actor),
        "parent": _visible_related(run.parent, request.actor),
        "children": _children(run, request.actor) if access.readable else (),
        "comparison_targets": comparison_targets(run, request.actor)
        if access.readable and access.ended
        else (),
    }


def _may_be_deciding(context: dict[str, Any]) -> bool:
    """Whether the reader may be typing a reason, which a refresh would lose."""
    approval = context["approval"]
    return approval is not None and bool(approval["is_waiting"] and approval["may_decide"])


def _why(access: RunAccess, result: dict[str, Any]) -> Explanation:
    details = _error(result)
    match details:
        case {"remedy": str(remedy)} | {"problems": [{"remedy": str(remedy)}, *_]}:
            pass
        case _:
            remedy = ""
    message = access.run.message if access.readable else ""
    return explain(access.run.failure_code, details, message=message, remedy=remedy)


def _own_message(run: Run) -> str:
    """The run's message; "" if it only repeats the text of its code."""
    return "" if is_standard_message(run.failure_code, run.message) else run.message


def _visible_related(run: Run | None, actor: Actor) -> Run | None:
    """A related run, None if the actor may not see it."""
    return Run.objects.visible_to(actor).without_content().filter(pk=run.pk).first() if run else None


def _cached_source(run: Run, actor: Actor) -> Run | None:
    """The run whose cached result this run returned; None if the actor may not read it."""
    return (
        Run.objects.readable_by(actor).without_content().filter(pk=run.cached_from_id).first()
        if run.cached_from_id
        else None
    )


def _children(run: Run, actor: Actor) -> QuerySet[Run]:
    """The visible runs that this run started, in order."""
    return Run.objects.visible_to(actor).filter(parent=run).without_content().order_by("pk")


def _output(result: dict[str, Any]) -> object:
    output = result.get("output")
    return output if output not in (None, {}, "") else result.get("outputs")


def _error(result: dict[str, Any]) -> dict[str, Any]:
    error = result.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    return details if isinstance(details, dict) else {}


def _details(result: dict[str, Any]) -> Any:
    error = result.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    if isinstance(details, dict) and details.keys() <= {"name", "stack"} and details.get("stack"):
        details = details["stack"]  # of an exception: text of several lines that includes the name
    return display_value(details) if details else None


def _messages(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a prompt, with as much of their texts as a page may show."""
    shown, left = [], MAX_TEXT
    for message in first_rows(result.get("messages") or ()):
        assert isinstance(message, dict)
        text = str(message.get("content") or "")[:left]
        left -= len(text)
        shown.append({"role": message.get("role"), "content": text})
    return shown


def _metadata(result: dict[str, Any]) -> list[tuple[str, str]]:
    metadata = result.get("metadata")
    if not isinstance(metadata, dict):
        return []
    return [
        (str(_METADATA.get(str(key), key)), str(value))
        for key, value in metadata.items()
        if isinstance(value, str | int | float)
    ][:20]


_METADATA = {"execution_time_ms": gettext_lazy("Execution time in ms"), "items_count": gettext_lazy("Items")}


def _log(access: RunAccess, request: HttpRequest) -> dict[str, Any]:
    attempt = _attempt(request, access.run)
    if not access.readable:
        return {"attempt": attempt, "log": None}
    lines = run_log.tail(access.run, attempt, running=not access.ended)
    return {"attempt": attempt, "log": lines, "hidden_lines": lines.total - len(lines.lines)}


def _attempt(request: HttpRequest, run: Run) -> int:
    return _number(request.GET.get("attempt", ""), max(run.attempt, 1))


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _as_file(chunks: Iterable[bytes]) -> IO[bytes]:
    """The chunks in an unnamed temporary file."""
    file = tempfile.TemporaryFile(dir=str(settings.SKILLQUAY_VAR))  # noqa: SIM115  (closed with the response)
    file.writelines(chunks)
    file.seek(0)
    return file


def _download(file: IO[bytes], name: str, content_type: str) -> FileResponse:
    """A file response; the server sends it without a thread, even to slow clients."""
    response = disable_rendering(FileResponse(file, content_type=content_type), name)
    response["Cache-Control"] = "private, no-store"
    return response
