from collections.abc import Callable, Hashable
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag as etags
from registry.api import pagination
from registry.api.attachments import (
    ZIP_TYPES,
    ZIP_VARY,
    StoredFile,
    make_attachment,
    make_zip_attachment,
    stored_response,
)
from registry.api.documents.skills import (
    FileDoc,
    VersionDoc,
    VersionSummaryDoc,
    file_document,
    page_document,
    page_schema,
    version_document,
    version_summary,
)
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import (
    Operations,
    PageQuery,
    Query,
    Shape,
    StrictText,
    binary_answer,
    read_body,
    read_query,
)
from registry.changes import drafts
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup import skills
from registry.models import Skill, UseKind, Version
from registry.packages.version_numbers import normalise
from registry.usage.recording import note_use, use_of
from registry.versions.api.new_skill import zip_response
from registry.versions.content import export
from registry.versions.content.read_file import read_file
from registry.versions.lifecycle import settings

operation = Operations("versions")


class Versions(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "list_versions", "List a skill's versions", query=PageQuery, answer=page_schema(VersionSummaryDoc)
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Lists the skill's versions by semantic versioning, highest first. For a canonical name, lists
        only the pinned version.
        """
        label, query = f"{team}/{slug}", read_query(PageQuery, request)
        return etags.renewable_response(
            request, lambda actor: _versions_page(skills.find_skill(label, actor), query, actor)
        )


def _versions_page(skill: Skill, query: dict[str, Any], actor: Actor) -> dict[str, Any]:
    page = pagination.read_page(f"versions:{skill.uid}", query, kinds=(str, str))
    rows = (
        skill.versions.visible_to(actor).select_related("skill__team").defer("manifest", "body", "problems")
    )
    if skill.resolved_canonical:
        rows = rows.filter(canonicals=skill.resolved_canonical)
    found, cursor = pagination.highest_first(rows, page, "precedence")
    return page_document([version_summary(version) for version in found], cursor)


class VersionChangeRequest(Shape):
    changelog = StrictText(max_length=20_000, allow_blank=True)


class VersionDetail(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,), "PATCH": (Action.RELEASE,)}

    @operation("get_version", "Get a version", answer=VersionDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Returns the version with this number, or the version of this channel. `latest` is the highest
        version that is neither yanked nor held. `latest` is a pre-release only if the skill has no other
        version.
        """
        label = f"{team}/{slug}"
        return etags.renewable_response(
            request, lambda actor: version_document(_find(label, number, actor, include_held=True), actor)
        )

    @operation("update_version", "Update a version's changelog", body=VersionChangeRequest, answer=VersionDoc)
    def patch(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Changes the version's changelog. Published files never change. Requires the maintainer role or
        administrator rights.
        """
        with transaction.atomic():
            version = self.version(team, slug, number)
            change = read_body(VersionChangeRequest, request.data)
            etags.require_match(request, version_document(version, self.actor))
            version = settings.set_changelog(version, change["changelog"], self.actor)
        return etags.document_response(request, version_document(version, self.actor))


class Files(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    @operation("list_files", "List a version's files", query=PageQuery, answer=page_schema(FileDoc))
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Lists the version's files in path order with sizes and digests, without contents."""
        label, query = f"{team}/{slug}", read_query(PageQuery, request)
        return etags.renewable_response(
            request, lambda actor: _files_page(_find(label, number, actor, include_held=True), query)
        )


def _files_page(version: Version, query: dict[str, Any]) -> dict[str, Any]:
    page = pagination.read_page(f"files:{version.uid}", query, kinds=(str,))
    after = page.after[0] if page.after else ""
    rows = list(version.files.filter(path__gt=after).order_by("path")[: page.limit + 1])
    page_rows = rows[: page.limit]
    cursor = page.next_cursor([page_rows[-1].path]) if len(rows) > page.limit else None
    return page_document([file_document(version, file) for file in page_rows], cursor)


class FileContent(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.INSTALL,)}

    @operation("get_file", "Download one file", answer=binary_answer("application/octet-stream"))
    def get(self, request: Request, team: str, slug: str, number: str, path: str) -> HttpResponseBase:
        """Returns the file as an attachment; the ETag is the file's digest."""
        version = _find_installable(f"{team}/{slug}", number, self.actor)
        file = version.files.filter(path=path).first()
        if file is None:
            raise NOT_FOUND.refusal(what="file", name=path[:200])
        etag = f'"{file.digest}"'
        set_cache_headers = _cache_headers(request, version, number)
        if unchanged := etags.not_modified(request, etag, vary=(), set_cache_headers=set_cache_headers):
            return unchanged
        _confirm_by(version, f"{team}/{slug}", number)
        return set_cache_headers(make_attachment(HttpResponse(read_file(version, path)), path, etag))


class ArchiveQuery(Query):
    format = serializers.ChoiceField(
        required=False,
        choices=["portable"],
        help_text="`portable` selects the open Agent Skills format, in one folder.",
    )


class Archive(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.INSTALL,)}

    @operation(
        "download_version",
        "Download a version's archive",
        query=ArchiveQuery,
        answer=binary_answer(*ZIP_TYPES),
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponseBase:
        """Returns the published zip. The header `X-Digest` contains its digest, which is the version's
        digest. The download counts as an install. `format=portable` returns the skill in the open Agent
        Skills format, with a different digest.
        """
        version = _find_installable(f"{team}/{slug}", number, self.actor)
        if read_query(ArchiveQuery, request).get("format") == "portable":
            return self._portable(request, version)
        etag = f'"{version.digest}"'
        set_cache_headers = _cache_headers(request, version, number)
        if unchanged := etags.not_modified(request, etag, vary=ZIP_VARY, set_cache_headers=set_cache_headers):
            return unchanged
        _confirm_by(version, f"{team}/{slug}", number)
        if request.method == "GET":
            note_use(use_of(version, UseKind.INSTALL), self.actor.caller)
        response = make_zip_attachment(
            stored_response(StoredFile(version.digest, version.archive_size)),
            request,
            f"{version.skill.slug}-{version.number}.zip",
            etag,
        )
        response["X-Digest"] = version.digest
        return set_cache_headers(response)

    def _portable(self, request: Request, version: Version) -> HttpResponse:
        data = export.portable_archive(version)
        answer = zip_response(request, data, f"{version.skill.slug}-{version.number}-portable.zip")
        if request.method == "GET" and answer.status_code == 200:
            note_use(use_of(version, UseKind.INSTALL), self.actor.caller)
        return answer


def _find(label: str, number: str, actor: Actor, *, include_held: bool = False) -> Version:
    return skills.find_version(skills.find_skill(label, actor), number, actor, include_held=include_held)


def _find_installable(label: str, number: str, actor: Actor) -> Version:
    version = _find(label, number, actor)
    require(actor, Action.INSTALL, skill=version.skill)
    return version


def _confirm_by(version: Version, label: str, number: str) -> None:
    """Keeps a download of the version and its headers until the result of ``_state`` changes."""
    drafts.confirm_by(_state(version), lambda actor: _state(_find_installable(label, number, actor)))


def _state(version: Version) -> Hashable:
    skill = version.skill
    return version.digest, use_of(version, UseKind.INSTALL), skill.slug, skill.effective_visibility


def _cache_headers(
    request: Request, version: Version, requested: str
) -> Callable[[HttpResponseBase], HttpResponseBase]:
    """A function that sets the headers of ``set_immutable`` for an exact version number, otherwise (for a
    channel or ``latest``) those of ``set_private``, and returns the response.
    """
    if not normalise(requested):
        return etags.set_private
    return lambda response: etags.set_immutable(response, request, version.skill)
