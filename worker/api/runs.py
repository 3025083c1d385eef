"""Runs: start, list, read, follow, cancel, and what they left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from registry import catalog, storage
from registry.actors import Actor
from registry.api import cursors, etags
from registry.api.attachments import attachment
from registry.api.documents import api_address, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import WaitQuery, read_body, read_query
from registry.packages.problems import refuse
from registry.permissions import Action
from worker import erasing, events, runs
from worker.api import examples
from worker.api.documents import ArtifactsDoc, LogDoc, RunDoc, RunSummaryDoc, artifact_document, run_summary
from worker.api.finding import find_readable_run, find_run
from worker.api.shapes import EventsQuery, LogQuery, RunRequest, RunsQuery
from worker.dependencies.waiting import waits_of
from worker.models import Run, RunQuerySet
from worker.protocols.call import Request as Asked
from worker.recording import log_after
from worker.states import ENDED

_READS = (Action.READ_RUNS, Action.RUN)  # whoever may start a run may read how it ended


class Runs(Endpoint):
    needs = {"GET": _READS, "POST": (Action.RUN,)}
    signed_in = True

    @extend_schema(
        operation_id="list_runs",
        summary="List the runs you may know of",
        tags=["runs"],
        parameters=[RunsQuery],
        responses=page_shape(RunSummaryDoc),
        examples=[examples.answers(examples.page(examples.SUMMARY))],
    )
    def get(self, request: Request) -> HttpResponse:
        """Yours, your teams' and those of your teams' skills; the newest first."""
        query = read_query(RunsQuery, request)
        rows = _filtered(Run.objects.visible_to(self.actor), query, self.actor)
        rows = rows.select_related("team", "caller").defer("request", "files", "result")
        found, cursor = cursors.newest_first(rows, cursors.page_of("runs", query, kinds=(str,)))
        mine = Run.objects.readable_by(self.actor).filter(pk__in=[run.pk for run in found])
        readable = set(mine.values_list("pk", flat=True))
        waits = waits_of(found)
        items = [run_summary(run, readable=run.pk in readable, waits=waits.get(run.pk, ())) for run in found]
        return etags.document_response(request, page_document(items, cursor))

    @extend_schema(
        operation_id="start_run",
        summary="Start a run",
        tags=["runs"],
        parameters=[WaitQuery],
        request=RunRequest,
        responses={200: RunDoc, 202: RunDoc},
        examples=[examples.asks(examples.ASKED), examples.answers(examples.RUN, "200", "202")],
    )
    def post(self, request: Request) -> HttpResponse:
        """202 with the run's address as soon as it is queued; 200 where it has already ended: answered from
        the cache, or refused. With `?wait=30` the answer waits for the end. Inputs are checked before."""
        read_query(WaitQuery, request)
        asked = read_body(RunRequest, request.data)
        return once(request, asked, lambda: _start(request, asked, self.actor))


def _start(request: Request, asked: Mapping[str, Any], actor: Actor) -> HttpResponse:
    label, _, number = asked["skill"].partition("@")
    version = catalog.find_version(
        catalog.find_skill(label, actor), asked.get("version") or number or None, actor
    )
    run = runs.request_run(
        actor=actor,
        version=version,
        request=_request_of(asked),
        team=catalog.find_team(asked["team"], actor) if asked.get("team") else None,
        again_of=find_readable_run(asked["again_of"], actor) if asked.get("again_of") else None,
        fresh=asked["fresh"],
    )
    document = runs.run_document(run, actor=actor)
    response = etags.document_response(request, document, status=200 if run.status in ENDED else 202)
    response["Location"] = api_address("runs", run.uid)
    return response


def _request_of(asked: Mapping[str, Any]) -> Asked:
    return Asked(
        inputs=asked.get("inputs") or {},
        script=asked.get("script"),
        action=asked.get("action"),
        tool=asked.get("tool"),
        stdin=asked.get("stdin"),
        debug=asked["debug"],
        context=asked.get("context") or {},
    )


def _filtered(rows: RunQuerySet, query: Mapping[str, Any], actor: Actor) -> QuerySet[Run]:
    lookups = {
        "version": "version_number",
        "team": "team__slug",
        "failure_code": "failure_code",
        "since": "created_at__gte",
        "until": "created_at__lt",
    }
    if "skill" in query:
        rows = rows.of_skill(query["skill"])
    chosen = Q(**{lookup: query[name] for name, lookup in lookups.items() if name in query})
    if statuses := query.get("status"):
        chosen &= Q(status__in=sorted(statuses))
    if query["mine"]:
        chosen &= Q(caller=actor.user)
    if "request_id" in query:
        readable = Run.objects.readable_by(actor)
        chosen &= Q(request_id=query["request_id"], pk__in=readable.values("pk"))
    if "ids" in query:
        chosen &= Q(uid__in=query["ids"].split(","))
    return rows.filter(chosen)


class RunDetail(Endpoint):
    needs = {"GET": _READS}
    signed_in = True

    @extend_schema(
        operation_id="get_run",
        summary="Read one run",
        tags=["runs"],
        parameters=[WaitQuery],
        responses=RunDoc,
        examples=[examples.answers(examples.RUN)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """With `?wait=30` the answer comes when the run has ended, or after that many seconds."""
        read_query(WaitQuery, request)
        run = find_run(uid, self.actor)
        return etags.document_response(request, runs.run_document(run, actor=self.actor))


class Cancel(Endpoint):
    needs = {"POST": (Action.RUN,)}
    signed_in = True

    @extend_schema(
        operation_id="cancel_run",
        summary="Cancel a run",
        tags=["runs"],
        request=None,
        responses=RunDoc,
        examples=[examples.answers({**examples.RUN, "status": "cancelled", "failure_code": "CANCELLED"})],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """A queued run ends at once, a running one within seconds; one that has ended stays as it is."""

        def act() -> HttpResponse:
            run = find_run(uid, self.actor)
            runs.cancel(run, actor=self.actor)
            run.refresh_from_db()
            return etags.document_response(request, runs.run_document(run, actor=self.actor))

        return once(request, uid, act)


class Erase(Endpoint):
    needs = {"POST": _READS}
    signed_in = True

    @extend_schema(
        operation_id="erase_run",
        summary="Erase a run's content",
        tags=["runs"],
        request=None,
        responses=RunDoc,
        examples=[examples.answers({**examples.RUN, "erased_at": "2026-11-20T10:00:00.000000Z"})],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """In a session, for who may read it. Inputs, log, steps, answer and artifacts go for good; that it
        ran, of which version and how it ended stays."""

        def act() -> HttpResponse:
            run = erasing.erase_run(find_run(uid, self.actor), actor=self.actor)
            return etags.document_response(request, runs.run_document(run, actor=self.actor))

        return once(request, uid, act)


class Log(Endpoint):
    needs = {"GET": _READS}
    signed_in = True

    @extend_schema(
        operation_id="read_log",
        summary="Read a run's log",
        tags=["runs"],
        parameters=[LogQuery],
        responses=LogDoc,
        examples=[examples.answers(examples.LOG)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """From a byte offset on. Every attempt keeps its own log."""
        query = read_query(LogQuery, request)
        run = find_readable_run(uid, self.actor)
        attempt = query.get("attempt") or max(run.attempt, 1)
        part = log_after(run, attempt, query["offset"], query["limit"])
        document = {
            "attempt": attempt,
            "offset": query["offset"],
            "pieces": [{"stream": p.stream, "offset": p.offset, "text": p.text} for p in part.pieces],
            "next_offset": part.next_offset,
            "ended": part.ended,
        }
        return etags.document_response(request, document)


class Events(Endpoint):
    needs = {"GET": _READS}
    signed_in = True

    @extend_schema(
        operation_id="follow_run",
        summary="Follow a run as server-sent events",
        tags=["runs"],
        parameters=[EventsQuery],
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR)},
        examples=[examples.answers(examples.EVENTS)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Log, progress, steps and status as they come, until `event: end`. A client that was cut off goes
        on with `Last-Event-ID` or `?after=`."""
        query = read_query(EventsQuery, request)
        run = find_readable_run(uid, self.actor)
        after = request.headers.get("Last-Event-ID") or query.get("after", "")
        told = events.told_after(run.uid, after)
        text = told.text + ("event: end\ndata: {}\n\n" if told.ended else "")
        response = HttpResponse(text, content_type="text/event-stream; charset=utf-8")
        response["Cache-Control"] = "private, no-store"
        return response


class Artifacts(Endpoint):
    needs = {"GET": _READS}
    signed_in = True

    @extend_schema(
        operation_id="list_artifacts",
        summary="List the files that a run left",
        tags=["runs"],
        responses=ArtifactsDoc,
        examples=[examples.answers(examples.ARTIFACTS)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """By path. One of them can be an input of the next run: `{"artifact": "run id/path"}`."""
        run = find_readable_run(uid, self.actor)
        items = [artifact_document(run, artifact) for artifact in run.artifacts.order_by("path")]
        return etags.document_response(request, {"items": items})


class ArtifactContent(Endpoint):
    needs = {"GET": _READS}
    signed_in = True

    @extend_schema(
        operation_id="download_artifact",
        summary="Download a file that a run left",
        tags=["runs"],
        responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY)},
    )
    def get(self, request: Request, uid: str, path: str) -> HttpResponseBase:
        """Always an attachment, never rendered; the ETag is the file's digest."""
        run = find_readable_run(uid, self.actor)
        artifact = run.artifacts.filter(path=path).first()
        if artifact is None:
            raise refuse("NOT_FOUND", what="artifact", name=path[:200])
        etag = f'"{artifact.digest}"'
        if unchanged := etags.not_modified(request, etag):
            return unchanged
        response = attachment(FileResponse(storage.open_blob(artifact.digest)), path, etag)
        response["Content-Length"] = str(artifact.size)
        return etags.private(response)
