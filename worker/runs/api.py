from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from registry.api import etag as etags
from registry.api import pagination
from registry.api.attachments import StoredFile, make_attachment, stored_response
from registry.api.documents.skills import api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, WaitQuery, binary_answer, read_body, read_query
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.rates.limits import RateLimit
from worker.annotations.marks import labels_of, set_labels, set_pinned
from worker.api.documents.annotations import RunChange
from worker.api.documents.find_run import find_readable_run, find_run
from worker.api.documents.run_requests import EventsQuery, LogQuery, RerunRequest, RunRequest, RunsQuery
from worker.api.documents.runs import (
    ArtifactsDoc,
    LogDoc,
    RunDoc,
    RunSummaryDoc,
    run_summary,
)
from worker.attempts.recording import read_log
from worker.dependencies.waits import waits_of
from worker.models import Run
from worker.protocols.call import Request as Asked
from worker.queue.states import ENDED
from worker.retention import erase
from worker.run_views import events
from worker.run_views.documents import artifacts_of, run_document
from worker.runs import cancel
from worker.runs import request as runs
from worker.runs.filters import filter_runs
from worker.runs.repeat import repeat_run

operation = Operations("runs")
_READS = (Action.READ_RUNS, Action.RUN)  # a token that may start a run may also read how it ended


class Runs(Endpoint):
    required_actions = {"GET": _READS, "POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}
    requires_sign_in = True

    @operation("list_runs", "List runs", query=RunsQuery, answer=page_schema(RunSummaryDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists your runs, your teams' runs and runs of your teams' skills, newest first; administrators get
        all."""
        query = read_query(RunsQuery, request)
        rows = filter_runs(Run.objects.visible_to(self.actor), query, self.actor)
        rows = rows.select_related("team", "caller").defer("request", "files", "result")
        found, cursor = pagination.last_first(rows, pagination.read_page("runs", query, kinds=(int,)))
        readable_runs = Run.objects.readable_by(self.actor).filter(pk__in=[run.pk for run in found])
        readable = set(readable_runs.values_list("pk", flat=True))
        waits = waits_of(found)
        labels = labels_of(found)
        items = [
            run_summary(
                run,
                readable=run.pk in readable,
                waits=waits.get(run.pk, ()),
                labels=labels.get(run.pk, ()),
            )
            for run in found
        ]
        return etags.document_response(request, page_document(items, cursor))

    @operation(
        "start_run", "Start a run", query=WaitQuery, body=RunRequest, answer={200: RunDoc, 202: RunDoc}
    )
    @idempotent(RunRequest)
    def post(self, request: Request) -> HttpResponse:
        """Checks the inputs and queues the run, or requests approval for it. Returns 202, or 200 with a
        cached result. Add `?wait=30` to wait up to 30 seconds for the end of the run.
        """
        read_query(WaitQuery, request)
        body = read_body(RunRequest, request.data)
        return _start(request, body, self.actor)


def _start(request: Request, body: Mapping[str, Any], actor: Actor) -> HttpResponse:
    label, _, number = body["skill"].partition("@")
    version = skills.find_version(
        skills.find_skill(label, actor), body.get("version") or number or None, actor
    )
    run = runs.request_run(
        actor=actor,
        version=version,
        request=_build_request(body),
        team=skills.find_team(body["team"], actor) if body.get("team") else None,
        rerun_of=find_readable_run(body["rerun_of"], actor) if body.get("rerun_of") else None,
        no_cache=body["no_cache"],
    )
    return _started_response(request, run, actor)


def _started_response(request: Request, run: Run, actor: Actor) -> HttpResponse:
    document = run_document(run, actor=actor)
    response = etags.document_response(request, document, status=200 if run.status in ENDED else 202)
    response["Location"] = api_url("runs", run.uid)
    return response


def _build_request(body: Mapping[str, Any]) -> Asked:
    return Asked(
        inputs=body.get("inputs") or {},
        arguments=body.get("arguments") or [],
        script=body.get("script"),
        action=body.get("action"),
        tool=body.get("tool"),
        stdin=body.get("stdin"),
        debug=body["debug"],
        context=body.get("context") or {},
    )


class RunDetail(Endpoint):
    required_actions = {"GET": _READS, "PATCH": (Action.RUN,)}
    requires_sign_in = True

    @operation("get_run", "Get a run", query=WaitQuery, answer=RunDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the run, and its content if you can read it. Add `?wait=30` to wait up to 30 seconds for
        the end of the run.
        """
        read_query(WaitQuery, request)
        run = find_run(uid, self.actor)
        return etags.document_response(request, run_document(run, actor=self.actor))

    @operation("edit_run", "Pin or label a run", body=RunChange, answer=RunDoc)
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Pins or unpins the run, and replaces its labels. You must be able to read the run. Viewers of its
        team can change only runs that they started.
        """
        run = find_readable_run(uid, self.actor)
        body = read_body(RunChange, request.data)
        with transaction.atomic():
            if "labels" in body:
                set_labels(run, body["labels"], self.actor)
            if "pinned" in body:
                set_pinned(run, body["pinned"], self.actor)
        run.refresh_from_db()
        return etags.document_response(request, run_document(run, actor=self.actor))


class Rerun(Endpoint):
    required_actions = {"POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}
    requires_sign_in = True

    @operation("rerun", "Run again", query=WaitQuery, body=RerunRequest, answer={200: RunDoc, 202: RunDoc})
    @idempotent(RerunRequest)
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Starts a new run with the version and request of this run. Values that you send, such as `inputs`,
        replace the run's values completely. You must be able to read the run.
        """
        read_query(WaitQuery, request)
        body = read_body(RerunRequest, request.data)
        run = find_readable_run(uid, self.actor)
        skill = skills.find_skill(run.skill_label, self.actor)
        version = skills.find_version(skill, body.get("version") or run.version_number, self.actor)
        again = repeat_run(
            run,
            version,
            self.actor,
            inputs=body.get("inputs"),
            arguments=body.get("arguments"),
            no_cache=body["no_cache"],
        )
        return _started_response(request, again, self.actor)


class Cancel(Endpoint):
    required_actions = {"POST": (Action.RUN,)}
    requires_sign_in = True

    @operation("cancel_run", "Cancel a run", answer=RunDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Cancels the run. A queued or waiting run ends at once, and a running one within seconds. A run that
        has already ended stays unchanged.
        """
        run = find_run(uid, self.actor)
        cancel.cancel(run, actor=self.actor)
        run.refresh_from_db()
        return etags.document_response(request, run_document(run, actor=self.actor))


class Erase(Endpoint):
    required_actions = {"POST": _READS}
    requires_sign_in = True

    @operation("erase_run", "Erase a run's content", answer=RunDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Permanently deletes the run's inputs, log, steps, answer and artifacts. The site keeps the run's
        caller, version, times and status. You must have started the run, maintain its team or be an
        administrator. Requires a session.
        """
        run = erase.erase_run(find_run(uid, self.actor), actor=self.actor)
        return etags.document_response(request, run_document(run, actor=self.actor))


class Log(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation("get_run_log", "Read a run's log", query=LogQuery, answer=LogDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the log from a byte offset. Every attempt has its own log; the default is the last
        attempt's.
        """
        query = read_query(LogQuery, request)
        run = find_readable_run(uid, self.actor)
        attempt = query.get("attempt") or max(run.attempt, 1)
        part = read_log(run, attempt, query["offset"], query["limit"])
        document = {
            "attempt": attempt,
            "offset": query["offset"],
            "chunks": [{"stream": p.stream, "offset": p.offset, "text": p.text} for p in part.pieces],
            "next_offset": part.next_offset,
            "ended": part.ended,
        }
        return etags.document_response(request, document)


class Events(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation(
        "stream_run_events",
        "Stream a run as server-sent events",
        query=EventsQuery,
        answer={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Streams log, progress, steps and status until `event: end`. To resume after a disconnect, send
        `Last-Event-ID` or `?after=`."""
        query = read_query(EventsQuery, request)
        run = find_readable_run(uid, self.actor)
        after = request.headers.get("Last-Event-ID") or query.get("after", "")
        batch = events.events_since(run.uid, after)
        text = batch.text + ("event: end\ndata: {}\n\n" if batch.ended else "")
        response = HttpResponse(text, content_type="text/event-stream; charset=utf-8")
        response["Cache-Control"] = "private, no-store"
        return response


class Artifacts(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation("list_artifacts", "List the artifacts of a run", answer=ArtifactsDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Lists artifacts by path. Use one as an input of another run with `{"artifact": "run id/path"}`."""
        run = find_readable_run(uid, self.actor)
        items = artifacts_of(run)
        return etags.document_response(request, {"items": items})


class ArtifactContent(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation(
        "download_artifact",
        "Download an artifact of a run",
        answer=binary_answer("application/octet-stream"),
    )
    def get(self, request: Request, uid: str, path: str) -> HttpResponseBase:
        """Returns the file as an attachment. The ETag is its digest."""
        run = find_readable_run(uid, self.actor)
        artifact = run.artifacts.filter(path=path).first()
        if artifact is None:
            raise NOT_FOUND.refusal(what="artifact", name=path[:200])
        etag = f'"{artifact.digest}"'
        if unchanged := etags.not_modified(request, etag, vary=()):
            return unchanged
        response = make_attachment(stored_response(StoredFile(artifact.digest, artifact.size)), path, etag)
        return etags.set_private(response)
