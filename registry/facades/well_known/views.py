"""Endpoints of the well-known index, and the search endpoint for its clients."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.schema import Query, read_query
from registry.core.errors import NOT_FOUND
from registry.facades.downloads import archive_response
from registry.facades.endpoint import FacadeEndpoint
from registry.facades.well_known import documents
from registry.facades.well_known.entries import (
    IndexEntry,
    canonical_entries,
    collection_entries,
    find_entry,
    site_entries,
    skill_entries,
    split_name,
    team_entries,
)
from registry.identity.permissions import Action, require
from registry.models import UseKind
from registry.packages.archive.layout import SKILL_MD
from registry.rates.limits import RateLimit
from registry.search.query import Filters, search
from registry.usage.recording import note_use, use_of
from registry.usage.scores import explain_score
from registry.versions.content.read_file import read_file

_UPDATE_CHECK = "X-Skills-Update-Check"  # a client that only compares digests


class _Scope(FacadeEndpoint):
    """An endpoint below the address of the site, a team, a collection, a skill or a version. Allows
    cross-origin requests for data that anonymous visitors see.
    """

    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    def entries(self, **scope: str) -> list[IndexEntry]:
        """The entries of the scope. Raises the errors of looking up the team, collection or skill."""
        team, named = scope.get("team"), scope.get("slug")
        if collection := scope.get("collection"):
            return collection_entries(str(team), collection, self.actor)
        if named is None:
            return team_entries(team, self.actor) if team else site_entries(self.actor)
        if team is None:
            return canonical_entries(named, self.actor)
        slug, number = split_name(named)
        return skill_entries(f"{team}/{slug}", scope.get("number") or number, self.actor)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer: Any = super().finalize_response(request, response, *args, **kwargs)
        answer["Access-Control-Allow-Origin"] = "*"
        return answer


@extend_schema(exclude=True)
class Index(_Scope):
    """Endpoint that returns the index in format 0.2.0."""

    def get(self, request: Request, **scope: str) -> HttpResponse:
        return etag.document_response(request, documents.index_document(self.entries(**scope)))


@extend_schema(exclude=True)
class FileIndex(_Scope):
    """Endpoint that returns the index in format 0.1.0."""

    def get(self, request: Request, **scope: str) -> HttpResponse:
        return etag.document_response(request, documents.file_index_document(self.entries(**scope)))


@extend_schema(exclude=True)
class IndexedFile(_Scope):
    """Endpoint that returns a file of an indexed skill. A download of SKILL.md counts as an install unless
    the client only checks for updates.
    """

    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, name: str, path: str, **scope: str) -> HttpResponseBase:
        entry = find_entry(self.entries(**scope), name)
        version = entry.version
        require(self.actor, Action.INSTALL, skill=version.skill)
        file = next((file for file in entry.files if file.path == path), None)
        if file is None:
            raise NOT_FOUND.refusal(what="file", name=path[:200])
        tag = f'"{file.digest}"'
        if unchanged := etag.not_modified(request, tag):
            return unchanged
        if path == SKILL_MD and request.method == "GET" and _UPDATE_CHECK not in request.headers:
            note_use(use_of(version, UseKind.INSTALL), self.actor.caller)
        kind = "text/markdown; charset=utf-8" if path.endswith(".md") else "application/octet-stream"
        response = HttpResponse(read_file(version, path), content_type=kind)
        response["ETag"] = tag
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        return etag.set_private(response)


@extend_schema(exclude=True)
class IndexedArchive(_Scope):
    """The archive of an indexed skill, for install links, which do not include the API. A download counts as
    an install unless the client only checks for updates.
    """

    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, name: str, **scope: str) -> HttpResponseBase:
        version = find_entry(self.entries(**scope), name).version
        counts = _UPDATE_CHECK not in request.headers
        return archive_response(request, version, self.actor, name=f"{name}.zip", counts=counts)


class SkillSearchQuery(Query):
    q = serializers.CharField(max_length=500, allow_blank=True, default="")
    limit = serializers.IntegerField(default=10, min_value=1, max_value=100)
    owner = serializers.CharField(max_length=64, allow_blank=True, default="", help_text="A team's slug.")


@extend_schema(exclude=True)
class SkillSearch(FacadeEndpoint):
    """The search endpoint for ``npx skills find``."""

    required_actions = {"GET": (Action.SEE,)}
    rate_limits = {"GET": RateLimit.SEARCH}

    def get(self, request: Request) -> HttpResponse:
        query = read_query(SkillSearchQuery, request, ignore_unknown=True)
        filters = Filters(team=query["owner"])
        hits = search(query["q"], self.actor, limit=query["limit"], filters=filters).hits
        now = timezone.now()
        scores = [round(explain_score(hit.skill, now=now).value) for hit in hits]
        return etag.document_response(
            request, documents.search_document(query["q"], [hit.skill for hit in hits], scores)
        )
