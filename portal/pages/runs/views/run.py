"""The pages of one run (overview, live parts, log, files) and the actions cancel, erase and rerun."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from portal.delivery.downloads import as_file, download
from portal.forms.errors import show_refusals
from portal.pages.runs.presenters import log as run_log
from portal.pages.runs.presenters.artifacts import image_type
from portal.pages.runs.presenters.failure import error_lines
from portal.pages.runs.presenters.run_page import RunAccess, run_context, title_context
from portal.presenters.content.images import is_drawable
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.rates.limits import RateLimit, count_request
from registry.storage import blobs
from worker.models import Artifact, Run
from worker.queue.states import ENDED
from worker.retention.erase import erase_run
from worker.run_batches.selection import NEWEST, SAME, version_for
from worker.run_views.cause import cause_of
from worker.run_views.events import position_of
from worker.runs.cancel import cancel
from worker.runs.repeat import repeat_run


@require_GET
@never_cache
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows one run. Without JavaScript, the page refreshes itself until the run ends.

    It does not refresh with ``?refresh=0``, or while the user may decide the run's approval.
    """
    access = _visible_run(uid, request.actor)
    position = "" if access.ended else position_of(access.run)  # read first, so that no later event is missed
    log = _log(access, request)
    context = {"position": position} | log
    context |= run_context(access, request.actor, attempt=log["attempt"], log=log["log"])
    context |= {
        "refreshes": not access.ended and not _may_be_deciding(context) and request.GET.get("refresh") != "0"
    }
    return render(request, "runs/run.html", context)


@require_GET
@never_cache
def live(request: ActorRequest, uid: str) -> HttpResponse:
    """Renders the parts of the page that change during a run.

    With ``?part=log``, renders only the log lines after ``?position=``.
    """
    if request.GET.get("part") == "log":
        return _new_lines(request, uid)
    access = _visible_run(uid, request.actor)
    attempt = _attempt(request, access.run)
    context = run_context(access, request.actor, attempt=attempt) | {"attempt": attempt}
    if access.readable:
        position = request.GET.get("position", "")
        context["log"] = run_log.since(access.run, attempt, position, running=not access.ended)
    return render(request, "runs/live.html", context)


def _new_lines(request: ActorRequest, uid: str) -> HttpResponse:
    """Renders only the new log lines, because most events are log lines and the other parts take far
    longer.
    """
    readable = Run.objects.readable_by(request.actor).only("uid", "status", "attempt")
    run = get_object_or_404(readable, uid=uid)
    attempt, position = _attempt(request, run), request.GET.get("position", "")
    log = run_log.since(run, attempt, position, running=run.status not in ENDED)
    return render(request, "runs/new_log_lines.html", {"run": run, "attempt": attempt, "log": log})


@require_GET
@never_cache
def log(request: ActorRequest, uid: str) -> HttpResponseBase:
    """Shows the page of the log that contains the line ``?line=``; with ``?raw=1``, downloads the
    full log.
    """
    access = readable_run(uid, request.actor)
    attempt = _attempt(request, access.run)
    if request.GET.get("raw"):
        chunks = as_file(run_log.raw(access.run, attempt))
        return download(chunks, f"{uid}-{attempt}.log", "text/plain; charset=utf-8")
    line = _number(request.GET.get("line", ""), 1)
    lines = run_log.page(access.run, attempt, line, running=not access.ended)
    first = lines.lines[0].number if lines.lines else 1
    context = title_context(access, request.actor) | {
        "attempt": attempt,
        "log": lines,
        "error_lines": error_lines(lines.lines, cause_of(access.run)),
        "earlier": max(1, first - run_log.PAGE) if first > 1 else None,
        "later": first + run_log.PAGE if first + run_log.PAGE <= lines.total else None,
        "pages": (lines.total + run_log.PAGE - 1) // run_log.PAGE or 1,
        "page_number": (first - 1) // run_log.PAGE + 1,
    }
    return render(request, "runs/log.html", context)


@require_GET
def artifact(request: ActorRequest, uid: str, path: str) -> HttpResponseBase:
    """Downloads a file of the run, which browsers save instead of rendering it."""
    row = _artifact(request, uid, path)
    response = download(blobs.open_blob(row.digest), path.rpartition("/")[2], "application/octet-stream")
    response["Content-Length"] = str(row.size)
    return response


@require_GET
def artifact_image(request: ActorRequest, uid: str, path: str) -> HttpResponseBase:
    """Returns an image among the run's files, for the run's page.

    Raises Http404 unless the file begins like an image that is small enough to draw.
    """
    row = _artifact(request, uid, path)
    file = blobs.open_blob(row.digest)
    kind = image_type(file.read(12))
    if not kind or not is_drawable(file):
        file.close()
        raise Http404
    file.seek(0)
    response = download(file, path.rpartition("/")[2], kind)
    response["Content-Length"] = str(row.size)
    return response


@require_POST
def stop(request: ActorRequest, uid: str) -> HttpResponse:
    """Requests the cancellation of a run, and redirects to its page."""
    access = readable_run(uid, request.actor)
    with show_refusals(request):
        cancel(access.run, actor=request.actor)
        messages.success(request, _("Cancellation requested."))
    return redirect("run", uid)


@require_POST
def erase(request: ActorRequest, uid: str) -> HttpResponse:
    """Erases the run's content; keeps caller, version, times and status."""
    access = readable_run(uid, request.actor)
    with show_refusals(request):
        erase_run(access.run, actor=request.actor)
        messages.success(request, _("Run content erased."))
    return redirect("run", uid)


@require_POST
def again(request: ActorRequest, uid: str) -> HttpResponse:
    """Repeats a run with the same request: of the same version, or of the newest one with ``newest``."""
    count_request(request, request.actor, RateLimit.RUN)
    access = readable_run(uid, request.actor)
    with show_refusals(request):
        run = start_again(
            access.run,
            request.actor,
            no_cache="no_cache" in request.POST,
            choice=NEWEST if "newest" in request.POST else SAME,
        )
        return redirect("run", run.uid)
    return redirect("run", uid)


def start_again(run: Run, actor: Actor, *, no_cache: bool = False, choice: str = SAME) -> Run:
    """Starts a new run with the same request, of the version that ``choice`` names; raises ``Refusal``."""
    return repeat_run(run, version_for(run, choice, actor), actor, no_cache=no_cache)


def _visible_run(uid: str, actor: Actor, *, with_content: bool = True) -> RunAccess:
    related = ("skill__team", "team", "caller", "rerun_of", "parent")
    visible = Run.objects.visible_to(actor).select_related(*related)
    same = {"pk": OuterRef("pk")}
    visible = visible.annotate(
        is_readable=Exists(Run.objects.readable_by(actor).filter(**same)),
        is_controlled=Exists(Run.objects.controlled_by(actor).filter(**same)),
    )
    heavy = ["rerun_of__request", "rerun_of__result", "parent__request", "parent__result"]
    visible = visible.defer(*heavy, *([] if with_content else ["request", "result"]))
    run: Any = get_object_or_404(visible, uid=uid)
    own = actor.user is not None and run.caller_id == actor.user.pk
    return RunAccess(run, run.is_readable, own, run.is_readable and run.is_controlled)


def readable_run(uid: str, actor: Actor) -> RunAccess:
    """The run, with its request and result deferred; raises Http404 unless the actor may read it."""
    access = _visible_run(uid, actor, with_content=False)
    if not access.readable:
        raise Http404
    return access


def _artifact(request: ActorRequest, uid: str, path: str) -> Artifact:
    return get_object_or_404(readable_run(uid, request.actor).run.artifacts, path=path)


def _may_be_deciding(context: dict[str, Any]) -> bool:
    """Whether the user may decide the approval. A refresh would then discard the reason that the user is
    typing.
    """
    approval = context["approval"]
    return approval is not None and bool(approval["is_waiting"] and approval["may_decide"])


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
