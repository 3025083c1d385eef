"""Endpoints that import skills, report on imports and manage a team's sources."""

import hashlib
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag, pagination
from registry.api.documents.skills import Doc, ProblemDoc, api_url, page_document, page_schema
from registry.api.documents.sources import SourceDoc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent, run_once
from registry.api.schema import (
    Operations,
    PageQuery,
    WaitQuery,
    binary_bodies,
    read_query,
)
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from registry.imports import queue, sources
from registry.imports.api.requests import (
    ARCHIVES,
    JSON,
    ArchiveUploadForm,
    ImportArchiveQuery,
    ImportRequest,
    read_import_request,
)
from registry.imports.drift import detect_drift
from registry.imports.report import MAX_PROBLEMS, PHASES, count_outcomes, first_problems, phase_of
from registry.lookup import skills
from registry.models import Import, ImportOutcome, ImportRow, ImportStatus, Source

operation = Operations("imports")


class ReportsQuery(PageQuery):
    source = serializers.CharField(required=False, max_length=26)  # type: ignore[assignment]
    team = serializers.CharField(required=False, max_length=64)


class ReportQuery(WaitQuery, PageQuery):
    outcome = serializers.ChoiceField(required=False, choices=ImportOutcome.choices)


class SourcesQuery(PageQuery):
    team = serializers.CharField(required=False, max_length=64)


class DriftDoc(Doc):
    current_revision = serializers.CharField(
        source="now", allow_null=True, help_text="The source's current commit; null for all kinds except git."
    )
    imported_revision = serializers.CharField(
        source="imported", help_text="The revision that was imported last."
    )
    has_changes = serializers.BooleanField(
        allow_null=True,
        help_text="Whether the source has changed since the last import; null if only an import"
        " can find out.",
    )
    overwritten_by = serializers.ListField(
        child=serializers.CharField(),
        help_text="Skills of this source whose latest version does not come from an import.",
    )


class ImportRowDoc(Doc):
    path = serializers.CharField(help_text="The path in the source.")
    outcome = serializers.ChoiceField(choices=ImportOutcome.choices)
    skill = serializers.CharField(help_text="`team/slug`, empty if unknown.")
    version = serializers.CharField()
    digest = serializers.CharField()
    problems = ProblemDoc(many=True, help_text=f"At most {MAX_PROBLEMS} problems.")
    omitted = serializers.IntegerField(help_text="The number of further problems.")


class ImportSummaryDoc(Doc):
    id = serializers.CharField()
    source = SourceDoc()  # type: ignore[assignment]
    status = serializers.ChoiceField(choices=ImportStatus.choices)
    phase = serializers.ChoiceField(choices=PHASES, help_text="What the import does now.")
    read_bytes = serializers.IntegerField(help_text="Bytes received from the source.")
    total = serializers.IntegerField(
        help_text="Number of folders and files found; `checked`, then `processed` count up to this number."
    )
    checked = serializers.IntegerField()
    processed = serializers.IntegerField()
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="The number of rows by outcome."
    )
    problems = ProblemDoc(
        many=True, help_text=f"Problems that concern the whole import, at most {MAX_PROBLEMS}."
    )
    omitted = serializers.IntegerField(help_text="The number of further problems of the whole import.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()


class ImportDoc(ImportSummaryDoc):
    rows = ImportRowDoc(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Value of `cursor` for the next page of rows; null on the last page."
    )


class Imports(Endpoint):
    parser_classes = [bodies.RawBody]
    required_actions = {"GET": (Action.SEE,), "POST": (Action.PUBLISH,)}
    requires_sign_in = True

    @operation("list_imports", "List imports", query=ReportsQuery, answer=page_schema(ImportSummaryDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists the imports of your teams, newest first, without their rows. Administrators get those of
        all teams.
        """
        query = read_query(ReportsQuery, request)
        reports = sources.visible_imports(self.actor)
        if "source" in query:
            reports = reports.filter(source__uid=query["source"])
        if "team" in query:
            reports = reports.filter(source__team__slug=query["team"])
        page = pagination.read_page("imports", query, kinds=(str,))
        rows, cursor = pagination.newest_first(reports, page)
        return etag.document_response(request, page_document([*map(import_summary, rows)], cursor))

    @operation(
        "import_skills",
        "Import skills from a source",
        query=ImportArchiveQuery,
        body={JSON: ImportRequest, **binary_bodies(ARCHIVES), bodies.FORM_TYPE: ArchiveUploadForm},
        answer={200: ImportDoc, 202: ImportSummaryDoc},
    )
    def post(self, request: Request) -> HttpResponse:
        """Starts an import. Send a JSON body that describes a source, or a zip or tar.gz with the query
        parameter `team`: as the body, or as the file `archive` of a form. With `?wait=30`, the server waits
        up to 30 seconds for the end, then returns 200 with the rows.
        """
        body, content = read_import_request(request, self.actor)

        def act() -> HttpResponse:
            return _accepted_response(request, self._import(body, content))

        digest = hashlib.sha256(content).hexdigest() if content else ""
        return run_once(request, {**body, "content": digest}, act)

    def _import(self, body: dict[str, Any], content: bytes | None) -> Import:
        source = sources.prepare_source(
            self.actor,
            team=skills.find_team(body["team"], self.actor),
            kind=body["kind"],
            location=body["location"],
            options=body.get("options"),
            content=content,
        )
        visibility, interval_s = body.get("visibility", ""), body.get("interval_s")
        sources.save_source(source, self.actor, visibility=visibility, interval_s=interval_s)
        return queue.request_import(source, self.actor)


class ImportDetail(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    requires_sign_in = True

    @operation("get_import", "Get an import", query=ReportQuery, answer=ImportDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the import and a page of its rows, one per folder or file. `phase`, `read_bytes`,
        `checked` and `processed` of `total` show the progress.
        """
        report = sources.find_import(uid, self.actor)
        query = read_query(ReportQuery, request)
        page = pagination.read_page(f"rows {uid}", query, kinds=(int,))
        rows = report.rows.all()
        if "outcome" in query:
            rows = rows.filter(outcome=query["outcome"])
        page_rows, cursor = pagination.in_order(rows, page)
        document = {**import_summary(report), "rows": [*map(row_document, page_rows)], "next_cursor": cursor}
        return etag.document_response(request, document)


class ImportCancel(Endpoint):
    required_actions = {"POST": (Action.PUBLISH,)}
    requires_sign_in = True

    @operation("cancel_import", "Cancel an import", answer=ImportSummaryDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Ends the import as failed with `IMPORT_CANCELLED`. Skills that it had already published stay. An
        import that has already ended stays unchanged.
        """
        queue.cancel_import(sources.find_import(uid, self.actor), self.actor)
        return etag.document_response(request, import_summary(sources.find_import(uid, self.actor)))


class Sources(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    requires_sign_in = True

    @operation("list_sources", "List sources", query=SourcesQuery, answer=page_schema(SourceDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists the sources of your teams, newest first. Administrators get those of all teams. The first
        import from a location creates its source.
        """
        query = read_query(SourcesQuery, request)
        found = Source.objects.visible_to(self.actor).select_related("team")
        if "team" in query:
            found = found.filter(team__slug=query["team"])
        rows, cursor = pagination.newest_first(found, pagination.read_page("sources", query, kinds=(str,)))
        return etag.document_response(request, page_document([*map(SourceDoc.document, rows)], cursor))


class SourceDetail(Endpoint):
    required_actions = {"GET": (Action.SEE,), "DELETE": (Action.PUBLISH,)}
    requires_sign_in = True

    @operation("get_source", "Get a source", answer=SourceDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the source's location, options and schedule."""
        return etag.document_response(request, SourceDoc.document(sources.find_source(uid, self.actor)))

    @operation("remove_source", "Remove a source")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the source and its import reports. Imported skills stay."""
        sources.remove_source(sources.find_source(uid, self.actor), self.actor)
        return HttpResponse(status=204)


class SourceDrift(Endpoint):
    contacts_servers = True
    required_actions = {"GET": (Action.PUBLISH,)}
    requires_sign_in = True

    @operation("get_source_drift", "Check a source for changes", answer=DriftDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Compares the source with its last import. For git, reads the refs of the repository. Other kinds of
        sources are not contacted, so `has_changes` is null.
        """
        drift = detect_drift(sources.find_source(uid, self.actor), self.actor)
        return etag.document_response(request, DriftDoc.document(drift))


class SourceImports(Endpoint):
    required_actions = {"POST": (Action.PUBLISH,)}

    @operation(
        "reimport_source",
        "Import a source again",
        query=WaitQuery,
        answer={200: ImportDoc, 202: ImportSummaryDoc},
    )
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Imports the source again. If the source has not changed, the report has no rows; otherwise,
        unchanged skills have the outcome `unchanged`.
        """
        read_query(WaitQuery, request)
        report = queue.request_import(sources.find_source(uid, self.actor), self.actor)
        return _accepted_response(request, report)


def import_summary(report: Import) -> dict[str, Any]:
    return {
        "id": report.uid,
        "source": SourceDoc.document(report.source),
        "status": report.status,
        "phase": phase_of(report),
        "read_bytes": report.read_bytes,
        "total": report.total,
        "checked": report.checked,
        "processed": report.processed,
        "counts": count_outcomes(report),
        **_problem_fields(report),
        "created_at": rfc3339(report.created_at),
        "started_at": rfc3339(report.started_at),
        "finished_at": rfc3339(report.finished_at),
        "url": api_url("imports", report.uid),
    }


def row_document(row: ImportRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "outcome": row.outcome,
        "skill": row.skill,
        "version": row.version,
        "digest": row.digest,
        **_problem_fields(row),
    }


def _problem_fields(of: Import | ImportRow) -> dict[str, Any]:
    problems, omitted = first_problems(of)
    return {"problems": [each.document(gettext) for each in problems], "omitted": omitted}


def _accepted_response(request: Request, report: Import) -> HttpResponse:
    response = etag.document_response(request, import_summary(report), status=202)
    response["Location"] = api_url("imports", report.uid)
    return response
