"""One run's page: what is seen of it, its parts while it goes on, its log, its files, again and cancel."""

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
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from portal.showing import run_log
from portal.showing.approvals import asked_for_run
from portal.showing.artifacts import image_type, left_of
from portal.showing.enforcement import held
from portal.showing.explanations import Explanation, explain, says_the_same
from portal.showing.memories import write_rows
from portal.showing.pictures import is_drawable
from portal.showing.results import shown
from portal.showing.run_comparison import others_of
from portal.showing.timeline import left_off, ran_ms, timeline, waited_ms
from registry import storage
from registry.actors import Actor
from registry.api.attachments import harmless
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Version
from registry.models.skill import INTERNAL
from registry.packages.problems import Refused
from worker.children import require_pressable
from worker.dependencies.waiting import waits_of
from worker.documents import dials_of
from worker.erasing import erase_run
from worker.events import position_of
from worker.models import Artifact, Run, Status
from worker.protocols.call import Request
from worker.runs import cancel, request_run
from worker.states import ENDED
from worker.team_limits import held_back_by


@dataclass(frozen=True)
class Seen:
    """A run and how much of it this actor may read."""

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
    """Everything about a run; it refreshes itself where scripts are off, unless asked to hold still."""
    seen = _seen(uid, request.actor)
    heard = "" if seen.ended else position_of(seen.run)  # before all else: what comes meanwhile is told again
    context = {"heard": heard} | _context(seen, request) | _log(seen, request)
    context |= {"refreshes": not seen.ended and not _decides(context) and request.GET.get("refresh") != "0"}
    return render(request, "run/run.html", context)


@require_GET
@never_cache
def live(request: ActorRequest, uid: str) -> HttpResponse:
    """The parts that change while a run goes on, and the log's lines after ``?position=``; or those alone."""
    if request.GET.get("part") == "log":
        return _new_lines(request, uid)
    seen = _seen(uid, request.actor)
    attempt = _attempt(request, seen.run)
    context = _context(seen, request) | {"attempt": attempt}
    if seen.readable:
        position = request.GET.get("position", "")
        context["log"] = run_log.since(seen.run, attempt, position, running=not seen.ended)
    return render(request, "run/live.html", context)


def _new_lines(request: ActorRequest, uid: str) -> HttpResponse:
    """A sixth of the work: most of what a run tells are lines. That it has ended the other parts say."""
    readable = Run.objects.readable_by(request.actor).only("uid", "status", "attempt")
    run = readable.filter(uid=uid).first()
    if run is None:
        raise Http404
    attempt, position = _attempt(request, run), request.GET.get("position", "")
    log = run_log.since(run, attempt, position, running=run.status not in ENDED)
    return render(request, "run/new_lines.html", {"run": run, "attempt": attempt, "log": log})


@require_GET
@never_cache
def log(request: ActorRequest, uid: str) -> HttpResponseBase:
    """The whole log by pages of lines, or as bytes with ``?raw=1``."""
    seen = _readable(uid, request.actor)
    attempt = _attempt(request, seen.run)
    if request.GET.get("raw"):
        pieces = _as_file(run_log.raw(seen.run, attempt))
        return _download(pieces, f"{uid}-{attempt}.log", "text/plain; charset=utf-8")
    line = _number(request.GET.get("line", ""), 1)
    lines = run_log.page(seen.run, attempt, line, running=not seen.ended)
    first = lines.lines[0].number if lines.lines else 1
    context = {
        "seen": seen,
        "run": seen.run,
        "attempt": attempt,
        "log": lines,
        "earlier": max(1, first - run_log.PAGE) if first > 1 else None,
        "later": first + run_log.PAGE if first + run_log.PAGE <= lines.total else None,
        "pages": (lines.total + run_log.PAGE - 1) // run_log.PAGE or 1,
        "page_number": (first - 1) // run_log.PAGE + 1,
    }
    return render(request, "run/log.html", context)


@require_GET
def artifact(request: ActorRequest, uid: str, path: str) -> HttpResponseBase:
    """A file that the run left, as a download that no browser opens."""
    row = _artifact(request, uid, path)
    answer = _download(storage.open_blob(row.digest), path.rpartition("/")[2], "application/octet-stream")
    answer["Content-Length"] = str(row.size)
    return answer


@require_GET
def artifact_image(request: ActorRequest, uid: str, path: str) -> HttpResponseBase:
    """A picture among the files, for the run's page; what its first bytes do not say is one is not shown."""
    row = _artifact(request, uid, path)
    file = storage.open_blob(row.digest)
    kind = image_type(file.read(12))
    if not kind or not is_drawable(file):
        file.close()
        raise Http404
    file.seek(0)
    answer = _download(file, path.rpartition("/")[2], kind)
    answer["Content-Length"] = str(row.size)
    return answer


@require_POST
def stop(request: ActorRequest, uid: str) -> HttpResponse:
    """Asks a run to end."""
    seen = _readable(uid, request.actor)
    try:
        cancel(seen.run, actor=request.actor)
        messages.success(request, _("The run was asked to stop."))
    except Refused as refused:
        messages.error(request, refused.problems[0].message(_))
    return redirect("run", uid)


@require_POST
def erase(request: ActorRequest, uid: str) -> HttpResponse:
    """Takes what the run holds away; its row stays, with who ran which version when."""
    seen = _readable(uid, request.actor)
    try:
        erase_run(seen.run, actor=request.actor)
        messages.success(request, _("What the run held is erased."))
    except Refused as refused:
        messages.error(request, refused.problems[0].message(_))
    return redirect("run", uid)


@require_POST
def again(request: ActorRequest, uid: str) -> HttpResponse:
    """The same version with the same inputs once more; the earlier run and its log stay."""
    seen = _readable(uid, request.actor)
    try:
        version = _version(seen.run, request.actor)
        require_pressable(version)
        run = request_run(
            actor=request.actor,
            version=version,
            request=request_of(seen.run),
            team=seen.run.team if seen.run.team_id in request.actor.team_ids else None,
            again_of=seen.run,
            fresh="fresh" in request.POST,
        )
    except Refused as refused:
        messages.error(request, refused.problems[0].message(_))
        return redirect("run", uid)
    return redirect("run", run.uid)


def request_of(run: Run) -> Request:
    """What was asked of the run, to be asked again; the context is made anew."""
    row = run.request
    return Request(
        inputs=row.get("inputs") or {},
        script=row.get("script"),
        action=row.get("action"),
        tool=row.get("tool"),
        stdin=row.get("stdin"),
        debug=bool(row.get("debug")),
    )


def _version(run: Run, actor: Actor) -> Version:
    return find_version(find_skill(run.skill_label, actor), run.version_number, actor)


def _seen(uid: str, actor: Actor) -> Seen:
    visible = Run.objects.visible_to(actor).select_related(
        "skill__team", "team", "caller", "again_of", "parent"
    )
    run = visible.filter(uid=uid).first()
    if run is None:
        raise Http404
    readable = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    return Seen(run, readable, actor.user is not None and run.caller_id == actor.user.pk)


def _readable(uid: str, actor: Actor) -> Seen:
    seen = _seen(uid, actor)
    if not seen.readable:
        raise Http404
    return seen


def _artifact(request: ActorRequest, uid: str, path: str) -> Artifact:
    row = _readable(uid, request.actor).run.artifacts.filter(path=path).first()
    if row is None:
        raise Http404
    return row


def _context(seen: Seen, request: ActorRequest) -> dict[str, Any]:
    run, now = seen.run, timezone.now()
    result = (run.result or {}) if seen.readable else {}
    failed = run.status not in (Status.SUCCEEDED, Status.QUEUED, Status.RUNNING, Status.WAITING_APPROVAL)
    return {
        "seen": seen,
        "run": run,
        "asked": asked_for_run(run, request.actor),
        "skill_seen": run.skill
        and type(run.skill).objects.visible_to(request.actor).filter(pk=run.skill.pk).exists(),
        "pressable": run.skill is not None and run.skill.type != INTERNAL,
        "held": held(run.sandbox),
        "waits": waits_of([run]).get(run.pk, ()),
        "most_at_once": held_back_by(run),
        "waited_ms": waited_ms(run, now),
        "ran_ms": ran_ms(run, now),
        "rows": timeline(run) if seen.readable else (),
        "dials": dials_of(run) if seen.readable else (),
        "steps_left_off": left_off(run) if seen.readable else 0,
        "why": _why(seen, result) if failed and run.failure_code else None,
        "error": result.get("error"),
        "told": _told(run) if seen.readable else "",
        "error_details": _details(result),
        "result": result,
        "output": shown(_output(result), format=str(result.get("format") or "")),
        "metadata": _metadata(result),
        "artifacts": left_of(run.artifacts.order_by("path")) if seen.readable else (),
        "memory_writes": write_rows(run, result.get("memory_writes"), actor=request.actor),
        "inputs": shown(run.request.get("inputs") or {}) if seen.readable else None,
        "earlier": _stored(run, request.actor),
        "again_of": _linked(run.again_of, request.actor),
        "parent": _linked(run.parent, request.actor),
        "children": _children(run, request.actor) if seen.readable else (),
        "others": others_of(run, request.actor) if seen.readable and seen.ended else (),
    }


def _decides(context: dict[str, Any]) -> bool:
    """Whether the reader may be writing a reason, which a new page would take away."""
    asked = context["asked"]
    return asked is not None and asked.waits and asked.may_decide


def _why(seen: Seen, result: dict[str, Any]) -> Explanation:
    details = _error(result)
    match details:
        case {"remedy": str(remedy)} | {"problems": [{"remedy": str(remedy)}, *_]}:
            pass
        case _:
            remedy = ""
    message = seen.run.message if seen.readable else ""
    return explain(seen.run.failure_code, details, message=message, remedy=remedy)


def _told(run: Run) -> str:
    """The run's message, unless it says no more than its code's meaning does."""
    return "" if says_the_same(run.failure_code, run.message) else run.message


def _linked(run: Run | None, actor: Actor) -> Run | None:
    """Another run that this one tells of, where the reader may know of it."""
    return Run.objects.visible_to(actor).filter(pk=run.pk).first() if run else None


def _stored(run: Run, actor: Actor) -> Run | None:
    """The run whose answer this is, for those who may read that one too."""
    return (
        Run.objects.readable_by(actor).filter(pk=run.cached_from_id).first() if run.cached_from_id else None
    )


def _children(run: Run, actor: Actor) -> QuerySet[Run]:
    """The runs that it started, in their order."""
    return Run.objects.visible_to(actor).filter(parent=run).defer("request", "result").order_by("pk")


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
        details = details["stack"]  # what was thrown: a text of many lines, with the name in it
    return shown(details) if details else None


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


def _log(seen: Seen, request: HttpRequest) -> dict[str, Any]:
    attempt = _attempt(request, seen.run)
    if not seen.readable:
        return {"attempt": attempt, "log": None}
    lines = run_log.tail(seen.run, attempt, running=not seen.ended)
    return {"attempt": attempt, "log": lines, "hidden_lines": lines.total - len(lines.lines)}


def _attempt(request: HttpRequest, run: Run) -> int:
    return _number(request.GET.get("attempt", ""), max(run.attempt, 1))


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _as_file(pieces: Iterable[bytes]) -> IO[bytes]:
    """The pieces in a file that no name leads to."""
    file = tempfile.TemporaryFile(dir=str(settings.SKILLQUAY_VAR))  # noqa: SIM115  (closed with the answer)
    file.writelines(pieces)
    file.seek(0)
    return file


def _download(file: IO[bytes], name: str, content_type: str) -> FileResponse:
    """A file answer: the server sends it without a thread, however slowly it is read."""
    answer = harmless(FileResponse(file, content_type=content_type), name)
    answer["Cache-Control"] = "private, no-store"
    return answer
