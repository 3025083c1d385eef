"""Versions of a skill, their files and their archive: what never changes."""

from __future__ import annotations

import zipfile

from django.db import transaction
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, exporting, publishing, storage
from registry.api import cursors, etags, examples
from registry.api.attachments import attachment
from registry.api.documents import (
    FileDoc,
    VersionDoc,
    VersionSummaryDoc,
    file_document,
    page_document,
    page_shape,
    version_document,
    version_summary,
)
from registry.api.endpoint import Endpoint
from registry.api.shapes import PageQuery, Query, Shape, StrictText, read_body, read_query
from registry.api.starting import zip_response
from registry.models import UseKind, Version
from registry.packages.problems import refuse
from registry.packages.versions import normalise
from registry.permissions import Action, require
from registry.usage import record_use

_BYTES = OpenApiResponse(OpenApiTypes.BINARY, description="The bytes, as an attachment.")


class _OfSkill(Endpoint):
    needs = {"GET": (Action.SEE,)}

    def version(self, team: str, slug: str, number: str, *, even_held: bool = False) -> Version:
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return catalog.find_version(skill, number, self.actor, even_held=even_held)


class Versions(_OfSkill):
    @extend_schema(
        operation_id="list_versions",
        summary="List a skill's versions",
        tags=["versions"],
        parameters=[PageQuery],
        responses=page_shape(VersionSummaryDoc),
        examples=[examples.answers(examples.page(examples.VERSION_SUMMARY))],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """The highest first, by the order of semantic versions; by a canonical name the pinned one alone."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        page = cursors.page_of(f"versions:{skill.uid}", read_query(PageQuery, request), kinds=(str, str))
        rows = (
            skill.versions.visible_to(self.actor)
            .select_related("skill__team")
            .defer("manifest", "body", "problems")
        )
        if skill.found_as:
            rows = rows.filter(canonicals=skill.found_as)
        found, cursor = cursors.highest_first(rows, page, "precedence")
        return etags.document_response(
            request, page_document([version_summary(version) for version in found], cursor)
        )


class VersionChange(Shape):
    changelog = StrictText(max_length=20_000, allow_blank=True)


class VersionDetail(_OfSkill):
    needs = {"GET": (Action.SEE,), "PATCH": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="get_version",
        summary="Read one version",
        tags=["versions"],
        responses=VersionDoc,
        examples=[examples.answers(examples.VERSION)],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """`latest` names the highest version that is neither yanked nor held, a pre-release only where there
        is nothing else; any channel's name stands here, too."""
        version = self.version(team, slug, number, even_held=True)
        return etags.document_response(request, version_document(version, self.actor))

    @extend_schema(
        operation_id="change_version",
        summary="Change what is said about a version",
        tags=["versions"],
        request=VersionChange,
        responses=VersionDoc,
        examples=[examples.asks({"changelog": "Reads PDF too."}), examples.answers(examples.VERSION)],
    )
    def patch(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """For maintainers. Its changelog alone: published bytes never change."""
        with transaction.atomic():
            version = self.version(team, slug, number, even_held=True)
            change = read_body(VersionChange, request.data)
            etags.require_match(request, version_document(version, self.actor))
            version = publishing.set_changelog(version, change["changelog"], self.actor)
        return etags.document_response(request, version_document(version, self.actor))


class Files(_OfSkill):
    @extend_schema(
        operation_id="list_files",
        summary="List a version's files",
        tags=["versions"],
        parameters=[PageQuery],
        responses=page_shape(FileDoc),
        examples=[examples.answers(examples.page(examples.FILE))],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """By path, with sizes and digests; contents are read only when asked for."""
        version = self.version(team, slug, number, even_held=True)
        page = cursors.page_of(f"files:{version.uid}", read_query(PageQuery, request), kinds=(str,))
        after = page.after[0] if page.after else ""
        rows = list(version.files.filter(path__gt=after).order_by("path")[: page.limit + 1])
        shown = rows[: page.limit]
        cursor = page.next_cursor([shown[-1].path]) if len(rows) > page.limit else None
        return etags.document_response(
            request, page_document([file_document(version, file) for file in shown], cursor)
        )


class FileContent(_OfSkill):
    needs = {"GET": (Action.INSTALL,)}

    @extend_schema(
        operation_id="get_file",
        summary="Download one file",
        tags=["versions"],
        responses={(200, "application/octet-stream"): _BYTES},
    )
    def get(self, request: Request, team: str, slug: str, number: str, path: str) -> HttpResponseBase:
        """Always an attachment, never rendered; the ETag is the file's digest."""
        version = self.version(team, slug, number)
        require(self.actor, Action.INSTALL, skill=version.skill)
        file = version.files.filter(path=path).first()
        if file is None:
            raise refuse("NOT_FOUND", what="file", name=path[:200])
        etag = f'"{file.digest}"'
        if unchanged := etags.not_modified(request, etag):
            return unchanged
        response = attachment(HttpResponse(_content(version, path)), path, etag)
        return _kept(response, request, version, number)


class ArchiveQuery(Query):
    format = serializers.ChoiceField(
        required=False, choices=["portable"], help_text="`portable`: in the open format, in one folder."
    )


class Archive(_OfSkill):
    needs = {"GET": (Action.INSTALL,)}

    @extend_schema(
        operation_id="download_version",
        summary="Download a version's archive",
        tags=["versions"],
        parameters=[ArchiveQuery],
        responses={(200, "application/zip"): _BYTES},
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponseBase:
        """The deterministic zip that the version's digest is of, also in `X-Digest`. Counts as an install.

        `format=portable` is the same skill in the open format, with a digest of its own.
        """
        version = self.version(team, slug, number)
        require(self.actor, Action.INSTALL, skill=version.skill)
        if read_query(ArchiveQuery, request).get("format") == "portable":
            return self._portable(request, version)
        etag = f'"{version.digest}"'
        if unchanged := etags.not_modified(request, etag):
            return unchanged
        if request.method == "GET":
            record_use(version.skill, self.actor.caller, UseKind.INSTALL, version=version.number)
        response = attachment(
            FileResponse(storage.open_blob(version.digest), content_type="application/zip"),
            f"{version.skill.slug}-{version.number}.zip",
            etag,
        )
        response["Content-Length"] = str(version.archive_size)
        response["X-Digest"] = version.digest
        return _kept(response, request, version, number)

    def _portable(self, request: Request, version: Version) -> HttpResponse:
        data = exporting.portable_archive(version)
        answer = zip_response(request, data, f"{version.skill.slug}-{version.number}-portable.zip")
        if request.method == "GET" and answer.status_code == 200:
            record_use(version.skill, self.actor.caller, UseKind.INSTALL, version=version.number)
        return answer


def _kept(response: HttpResponseBase, request: Request, version: Version, named: str) -> HttpResponseBase:
    """For good under an exact number; what a channel names today is asked for again."""
    return etags.forever(response, request, version.skill) if normalise(named) else etags.private(response)


def _content(version: Version, path: str) -> bytes:
    """One file out of the archive, which is our own: nothing of it needs to be distrusted."""
    with storage.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
        return archive.read(path)
