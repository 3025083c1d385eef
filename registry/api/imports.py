"""Imports: a source is named and read, its report tells what became of each folder; sources are kept."""

from __future__ import annotations

import hashlib
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog
from registry.api import bodies, cursors, etags, examples
from registry.api.documents import Doc, ProblemDoc, api_address, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictText, WaitQuery, read_body, read_query
from registry.imports import queue, sources
from registry.imports.drift import Drift, drift
from registry.imports.report import counts_of, problems_of
from registry.models import Import, ImportOutcome, ImportRow, ImportStatus, Source, SourceKind, Visibility
from registry.moments import moment
from registry.packages.problems import Problem, refuse
from registry.permissions import Action

ARCHIVES = ("application/zip", "application/gzip", "application/x-gzip", "application/octet-stream")
_JSON = "application/json"


class ImportRequest(Shape):
    team = StrictText(max_length=64)
    kind = serializers.ChoiceField(
        choices=[kind for kind in SourceKind.choices if kind[0] != SourceKind.ARCHIVE]
    )
    location = StrictText(max_length=2000, help_text="An address; a path of the server for administrators.")
    options = serializers.DictField(
        required=False, help_text="Of the kind: branch, tags, path, deep, paths, allow_external …"
    )
    visibility = serializers.ChoiceField(
        required=False,
        choices=Visibility.choices,
        help_text="Of the skills that are new; private if not said.",
    )
    interval_s = serializers.IntegerField(
        required=False, allow_null=True, help_text="Import again by itself, every so many seconds."
    )


class ArchiveQuery(WaitQuery):
    team = serializers.CharField(required=False, max_length=64, help_text="Whose skills these will be.")
    filename = serializers.CharField(required=False, max_length=255, help_text="What the archive is called.")
    visibility = serializers.ChoiceField(required=False, choices=Visibility.choices)


class ReportsQuery(PageQuery):
    source = serializers.CharField(required=False, max_length=26)  # type: ignore[assignment]
    team = serializers.CharField(required=False, max_length=64)


class ReportQuery(WaitQuery, PageQuery):
    outcome = serializers.ChoiceField(required=False, choices=ImportOutcome.choices)


class SourcesQuery(PageQuery):
    team = serializers.CharField(required=False, max_length=64)


class SourceDoc(Doc):
    id = serializers.CharField()
    team = serializers.CharField()
    kind = serializers.ChoiceField(choices=SourceKind.choices)
    location = serializers.CharField()
    options = serializers.DictField()
    visibility = serializers.CharField(help_text="Of the skills that it creates; empty for private.")
    interval_s = serializers.IntegerField(allow_null=True)
    next_at = serializers.DateTimeField(allow_null=True)
    seen = serializers.CharField(help_text="The commit, etag or digest that was read last.")
    created_at = serializers.DateTimeField()
    url = serializers.URLField()


class DriftDoc(Doc):
    now = serializers.CharField(allow_null=True, help_text="The commit it is at; null for all but git.")
    imported = serializers.CharField(help_text="What was read last.")
    is_ahead = serializers.BooleanField(allow_null=True, help_text="Whether importing again brings news.")
    published_over = serializers.ListField(
        child=serializers.CharField(), help_text="Skills from it whose latest version came another way."
    )


class ImportRowDoc(Doc):
    path = serializers.CharField(help_text="Within the source.")
    outcome = serializers.ChoiceField(choices=ImportOutcome.choices)
    skill = serializers.CharField(help_text="`team/slug`, empty where it was not found out.")
    version = serializers.CharField()
    digest = serializers.CharField()
    problems = ProblemDoc(many=True)


class ImportSummaryDoc(Doc):
    id = serializers.CharField()
    source = SourceDoc()  # type: ignore[assignment]
    status = serializers.ChoiceField(choices=ImportStatus.choices)
    found = serializers.IntegerField(help_text="Folders and files seen; `done` counts up to it.")
    done = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Rows of each outcome.")
    problems = ProblemDoc(many=True, help_text="Why it failed as a whole.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()


class ImportDoc(ImportSummaryDoc):
    rows = ImportRowDoc(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Of the next page of rows.")


class Imports(Endpoint):
    parser_classes = [bodies.AnyBytes]
    needs = {"GET": (Action.SEE,), "POST": (Action.PUBLISH,)}
    signed_in = True

    @extend_schema(
        operation_id="list_imports",
        summary="List the imports of your teams",
        tags=["imports"],
        parameters=[ReportsQuery],
        responses=page_shape(ImportSummaryDoc),
        examples=[examples.answers(examples.page(examples.IMPORT_SUMMARY))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The newest first, without their rows."""
        query = read_query(ReportsQuery, request)
        reports = sources.reports(self.actor)
        if "source" in query:
            reports = reports.filter(source__uid=query["source"])
        if "team" in query:
            reports = reports.filter(source__team__slug=query["team"])
        page = cursors.page_of("imports", query, kinds=(str,))
        rows, cursor = cursors.newest_first(reports, page)
        return etags.document_response(request, page_document([*map(import_summary, rows)], cursor))

    @extend_schema(
        operation_id="import_skills",
        summary="Import skills from a source",
        tags=["imports"],
        parameters=[ArchiveQuery],
        request={
            _JSON: ImportRequest,
            "application/zip": OpenApiRequest(OpenApiTypes.BINARY),
            "application/gzip": OpenApiRequest(OpenApiTypes.BINARY),
        },
        responses={200: ImportDoc, 202: ImportSummaryDoc},
        examples=[
            examples.asks({"team": "docs", "kind": "git", "location": "https://git.example/skills.git"}),
            examples.answers(examples.IMPORT, "200"),
            examples.answers(examples.IMPORT_SUMMARY, "202"),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """A JSON body names a source; the bytes of a zip or tar.gz with many skills are one, with `team`.
        With `?wait=30` the answer waits for the end, and is 200 with the rows."""
        asked, content = _asked(request)

        def act() -> HttpResponse:
            return _accepted(request, self._import(asked, content))

        digest = hashlib.sha256(content).hexdigest() if content else ""
        return once(request, {**asked, "content": digest}, act)

    def _import(self, asked: dict[str, Any], content: bytes | None) -> Import:
        source = sources.described(
            self.actor,
            team=catalog.find_team(asked["team"], self.actor),
            kind=asked["kind"],
            location=asked["location"],
            options=asked.get("options"),
            content=content,
        )
        wished = {"visibility": asked.get("visibility", ""), "interval_s": asked.get("interval_s")}
        return queue.request(sources.keep(source, self.actor, **wished), self.actor)


class ImportDetail(Endpoint):
    needs = {"GET": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="get_import",
        summary="One import with its rows",
        tags=["imports"],
        parameters=[ReportQuery],
        responses=ImportDoc,
        examples=[examples.answers(examples.IMPORT)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """A row for each folder seen, in order; while it runs, `done` of `found` says how far it is."""
        report = sources.find_report(uid, self.actor)
        query = read_query(ReportQuery, request)
        page = cursors.page_of(f"rows {uid}", query, kinds=(int,))
        rows = report.rows.all()
        if "outcome" in query:
            rows = rows.filter(outcome=query["outcome"])
        shown, cursor = cursors.in_order(rows, page)
        document = {**import_summary(report), "rows": [*map(row_document, shown)], "next_cursor": cursor}
        return etags.document_response(request, document)


class Sources(Endpoint):
    needs = {"GET": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="list_sources",
        summary="List the sources of your teams",
        tags=["imports"],
        parameters=[SourcesQuery],
        responses=page_shape(SourceDoc),
        examples=[examples.answers(examples.page(examples.SOURCE))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The newest first. A source is made by its first import."""
        query = read_query(SourcesQuery, request)
        found = Source.objects.visible_to(self.actor).select_related("team")
        if "team" in query:
            found = found.filter(team__slug=query["team"])
        rows, cursor = cursors.newest_first(found, cursors.page_of("sources", query, kinds=(str,)))
        return etags.document_response(request, page_document([*map(source_document, rows)], cursor))


class SourceDetail(Endpoint):
    needs = {"GET": (Action.SEE,), "DELETE": (Action.PUBLISH,)}
    signed_in = True

    @extend_schema(
        operation_id="get_source",
        summary="One source",
        tags=["imports"],
        responses=SourceDoc,
        examples=[examples.answers(examples.SOURCE)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Where it is, how it is read, and when by itself."""
        return etags.document_response(request, source_document(sources.find(uid, self.actor)))

    @extend_schema(
        operation_id="remove_source", summary="Forget a source", tags=["imports"], responses={204: None}
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Its reports go with it; the skills that came from it stay."""
        sources.remove(sources.find(uid, self.actor), self.actor)
        return HttpResponse(status=204)


class SourceDrift(Endpoint):
    needs = {"GET": (Action.PUBLISH,)}
    signed_in = True

    @extend_schema(
        operation_id="get_source_drift",
        summary="How far a source and its skills have gone apart",
        tags=["imports"],
        responses=DriftDoc,
        examples=[examples.answers(examples.DRIFT)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """A repository is asked what it is at now; nothing of it is read."""
        found = drift(sources.find(uid, self.actor), self.actor)
        return etags.document_response(request, drift_document(found))


class SourceImports(Endpoint):
    needs = {"POST": (Action.PUBLISH,)}

    @extend_schema(
        operation_id="import_again",
        summary="Import a source again",
        tags=["imports"],
        parameters=[WaitQuery],
        request=None,
        responses={200: ImportDoc, 202: ImportSummaryDoc},
        examples=[
            examples.answers(examples.IMPORT, "200"),
            examples.answers(examples.IMPORT_SUMMARY, "202"),
        ],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """What is as it was is told as `unchanged`; nothing is written twice."""
        read_query(WaitQuery, request)
        return once(
            request,
            uid,
            lambda: _accepted(request, queue.request(sources.find(uid, self.actor), self.actor)),
        )


def import_summary(report: Import) -> dict[str, Any]:
    return {
        "id": report.uid,
        "source": source_document(report.source),
        "status": report.status,
        "found": report.found,
        "done": report.done,
        "counts": counts_of(report),
        "problems": _documents(problems_of(report)),
        "created_at": moment(report.created_at),
        "started_at": moment(report.started_at),
        "finished_at": moment(report.finished_at),
        "url": api_address("imports", report.uid),
    }


def row_document(row: ImportRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "outcome": row.outcome,
        "skill": row.skill,
        "version": row.version,
        "digest": row.digest,
        "problems": _documents(problems_of(row)),
    }


def source_document(source: Source) -> dict[str, Any]:
    return {
        "id": source.uid,
        "team": source.team.slug,
        "kind": source.kind,
        "location": source.location,
        "options": source.options,
        "visibility": source.visibility,
        "interval_s": source.interval_s,
        "next_at": moment(source.next_at),
        "seen": source.seen,
        "created_at": moment(source.created_at),
        "url": api_address("sources", source.uid),
    }


def drift_document(found: Drift) -> dict[str, Any]:
    return {
        "now": found.now,
        "imported": found.imported,
        "is_ahead": found.is_ahead,
        "published_over": [str(skill) for skill in found.published_over],
    }


def _documents(problems: tuple[Problem, ...]) -> list[dict[str, object]]:
    return [each.document(gettext) for each in problems]


def _asked(request: Request) -> tuple[dict[str, Any], bytes | None]:
    """What is to be imported, and an archive's bytes."""
    kind = (request.content_type or "").split(";")[0].strip().lower()
    if not bodies.content_length(request):
        raise refuse("UPLOAD_EMPTY")
    query = read_query(ArchiveQuery, request)
    if kind == _JSON:
        body = b"".join(bodies.pieces(request, limit=settings.SKILLQUAY_REQUEST_BYTES))
        return read_body(ImportRequest, bodies.strict_json(body)), None
    if kind not in ARCHIVES:
        raise refuse(
            "MEDIA_TYPE_UNSUPPORTED", type=kind[:100] or "-", accepted=", ".join((_JSON, *ARCHIVES[:2]))
        )
    if "team" not in query:
        raise refuse("TEAM_REQUIRED", path="team")
    content = b"".join(bodies.pieces(request, limit=settings.SKILLQUAY_IMPORT_ARCHIVE_BYTES))
    return {**query, "kind": SourceKind.ARCHIVE.value, "location": query.get("filename", "")}, content


def _accepted(request: Request, report: Import) -> HttpResponse:
    response = etags.document_response(request, import_summary(report), status=202)
    response["Location"] = api_address("imports", report.uid)
    return response
