"""Endpoints by which ClawHub clients find, inspect and download skills."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.pagination import read_page
from registry.api.schema import Query
from registry.changes import drafts
from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.facades.clawhub import documents, fingerprints
from registry.facades.clawhub.endpoint import ClawHubEndpoint, ClawHubOwnerQuery
from registry.facades.clawhub.lookup import latest_version, usable_versions
from registry.facades.downloads import archive_response
from registry.facades.endpoint import FacadeEndpoint
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action, require
from registry.lookup import skills
from registry.lookup.errors import NO_LATEST
from registry.models import Skill, Version
from registry.packages.problems import Refusal
from registry.rates.limits import RateLimit
from registry.search.query import search
from registry.versions.content.read_file import read_file

_MAX_COMPARED = 200  # versions, newest first, whose fingerprints are compared
_MAX_OFFSET = 10_000
_ORDERS = {"createdAt": ("-pk",), "updated": ("-updated_at", "-uid")}  # each is the order of an index
_BY_USE = ("-usage_count", "pk")


class ClawHubPageQuery(ClawHubOwnerQuery):
    limit = serializers.IntegerField(default=25, min_value=1, max_value=200)
    cursor = serializers.CharField(required=False, max_length=1000)


class ClawHubVersionQuery(ClawHubOwnerQuery):
    version = serializers.CharField(required=False, max_length=64)
    tag = serializers.CharField(required=False, max_length=64)


@extend_schema(exclude=True)
class ClawHubDiscovery(FacadeEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    def get(self, request: Request) -> HttpResponse:
        address = absolute_url("/").rstrip("/")
        return etag.document_response(request, {"apiBase": f"{address}/clawhub", "authBase": address})


@extend_schema(exclude=True)
class ClawHubWhoami(ClawHubEndpoint):
    def get(self, request: Request) -> HttpResponse:
        user = self.actor.user
        if user is None:
            raise SIGN_IN_REQUIRED.refusal()
        row = {
            "handle": user.username,
            "displayName": user.get_full_name() or user.username,
            "image": None,
            "role": "admin" if self.actor.is_administrator else "user",
        }
        return etag.document_response(request, {"user": row})


class ClawHubSearchQuery(Query):
    q = serializers.CharField(max_length=500, allow_blank=True, default="")
    limit = serializers.IntegerField(default=25, min_value=1, max_value=200)
    mode = serializers.CharField(required=False, max_length=20)


@extend_schema(exclude=True)
class ClawHubSearch(ClawHubEndpoint):
    """Endpoint that returns the skills that match the text. With ``mode=exact``, only those with this
    slug.
    """

    rate_limits = {"GET": RateLimit.SEARCH}

    def get(self, request: Request) -> HttpResponse:
        query = self.query(ClawHubSearchQuery)
        hits = search(query["q"], self.actor, limit=query["limit"]).hits
        if query.get("mode") == "exact":
            hits = tuple(hit for hit in hits if hit.skill.slug == query["q"].strip().lower())
        rows = [documents.search_row(hit.skill, round(hit.score, 3)) for hit in hits]
        return etag.document_response(request, {"results": rows})


class ClawHubListQuery(ClawHubPageQuery):
    sort = serializers.CharField(default="updated", max_length=40)
    prefix = serializers.CharField(default="", max_length=64, allow_blank=True)


@extend_schema(exclude=True)
class ClawHubSkills(ClawHubEndpoint):
    """Endpoint that lists the skills that the actor can discover. With ``prefix``, only those
    whose slug starts with it.
    """

    keeps_answers = True

    def get(self, request: Request) -> HttpResponse:
        drafts.depend_on_catalog()
        drafts.depend_on_uses()
        query = self.query(ClawHubListQuery)
        page = read_page("clawhub-skills", query, kinds=(int,))
        start = min(max(page.after[0], 0), _MAX_OFFSET) if page.after else 0
        rows = Skill.objects.discoverable_by(self.actor).filter(latest__isnull=False)
        if prefix := query["prefix"].lower():
            rows = rows.filter(slug__startswith=prefix).order_by("slug", "pk")
        else:
            rows = rows.order_by(*_ORDERS.get(query["sort"], _BY_USE))
        found = list(rows.select_related("team", "latest")[start : start + page.limit + 1])
        more = len(found) > page.limit and start + page.limit <= _MAX_OFFSET
        items = documents.list_rows(found[: page.limit], self.actor)
        cursor = page.next_cursor([start + page.limit]) if more else None
        return etag.document_response(request, {"items": items, "nextCursor": cursor})


@extend_schema(exclude=True)
class ClawHubSkillDetail(ClawHubEndpoint):
    keeps_answers = True

    def get(self, request: Request, slug: str) -> HttpResponse:
        skill = self.find(slug, self.query())
        return etag.document_response(request, documents.skill_document(skill, self.actor))


@extend_schema(exclude=True)
class ClawHubVersions(ClawHubEndpoint):
    keeps_answers = True

    def get(self, request: Request, slug: str) -> HttpResponse:
        query = self.query(ClawHubPageQuery)
        skill = self.find(slug, query)
        page = read_page(f"clawhub-versions:{skill.uid}", query, kinds=(str,))
        rows = usable_versions(skill, self.actor).defer("manifest", "body", "problems")
        if page.after:
            rows = rows.filter(precedence__lt=page.after[0])
        found = list(rows[: page.limit + 1])
        cursor = page.next_cursor([found[page.limit - 1].precedence]) if len(found) > page.limit else None
        items = [documents.version_row(version) for version in found[: page.limit]]
        return etag.document_response(request, {"items": items, "nextCursor": cursor})


@extend_schema(exclude=True)
class ClawHubVersionDetail(ClawHubEndpoint):
    keeps_answers = True

    def get(self, request: Request, slug: str, number: str) -> HttpResponse:
        skill = self.find(slug, self.query())
        version = skills.find_version(skill, number, self.actor)
        return etag.document_response(request, documents.version_document(version, skill))


class ClawHubFileQuery(ClawHubVersionQuery):
    path = serializers.CharField(max_length=500)


@extend_schema(exclude=True)
class ClawHubFileContent(ClawHubEndpoint):
    """Endpoint that returns a file of a version as plain text."""

    keeps_answers = True
    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, slug: str) -> HttpResponse:
        query = self.query(ClawHubFileQuery)
        version = requested_version(self, self.find(slug, query), query)
        require(self.actor, Action.INSTALL, skill=version.skill)
        file = version.files.filter(path=query["path"]).first()
        if file is None:
            raise NOT_FOUND.refusal(what="file", name=query["path"][:200])
        tag = f'"{file.digest}"'
        if unchanged := etag.not_modified(request, tag):
            return unchanged
        response = HttpResponse(read_file(version, file.path), content_type="text/plain; charset=utf-8")
        response["ETag"] = tag
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Security-Policy"] = "sandbox; default-src 'none'"
        return etag.set_private(response)


class ClawHubDownloadQuery(ClawHubVersionQuery):
    slug = serializers.CharField(max_length=64)


@extend_schema(exclude=True)
class ClawHubDownload(ClawHubEndpoint):
    """Endpoint that returns the archive of a version, with SKILL.md at its root. A download counts as an
    install.
    """

    keeps_answers = True
    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request) -> HttpResponseBase:
        query = self.query(ClawHubDownloadQuery)
        version = requested_version(self, self.find(query["slug"], query), query)
        return archive_response(request, version, self.actor)


class ClawHubResolveQuery(ClawHubOwnerQuery):
    slug = serializers.CharField(max_length=64)
    hash = serializers.RegexField(r"^[0-9a-fA-F]{64}\Z")


@extend_schema(exclude=True)
class ClawHubResolve(ClawHubEndpoint):
    """Endpoint that returns the version whose files have the fingerprint, and the latest version."""

    keeps_answers = True

    def get(self, request: Request) -> HttpResponse:
        query = self.query(ClawHubResolveQuery)
        skill = self.find(query["slug"], query)
        versions = usable_versions(skill, self.actor).select_related(None).only("number", "digest")
        match = fingerprints.find_by_fingerprint(list(versions[:_MAX_COMPARED]), query["hash"].lower())
        latest = latest_version(skill, self.actor)
        return etag.document_response(request, {"match": _number(match), "latestVersion": _number(latest)})


@extend_schema(exclude=True)
class ClawHubInstall(ClawHubEndpoint):
    """Endpoint that returns the download URL of the latest version. Errors are JSON too, because
    clients read ``reason``.
    """

    keeps_answers = True

    def get(self, request: Request, slug: str) -> HttpResponse:
        query = self.query()
        skill = self.find(slug, query)
        version = latest_version(skill, self.actor)
        if version is None:
            raise NO_LATEST.refusal(skill=str(skill))
        require(self.actor, Action.INSTALL, skill=version.skill)
        parts = f"slug={documents.slug_of(skill)}&ownerHandle={documents.owner_handle(skill)}"
        address = absolute_url(f"clawhub/api/v1/download?{parts}&version={version.number}")
        archive = {"version": version.number, "downloadUrl": address}
        document = {"ok": True, "slug": slug, "installKind": "archive", "archive": archive}
        return etag.document_response(request, document)

    def handle_exception(self, exc: Exception) -> Any:
        response = super().handle_exception(exc)
        if not isinstance(exc, Refusal):
            return response
        slug, message = str(self.kwargs.get("slug", "")), response.content.decode()
        status = 409 if exc.code == NO_LATEST.name else response.status_code
        failure = {"ok": False, "slug": slug, "reason": "archive_version_missing", "message": message}
        response.content = json.dumps({**failure, "status": status}, ensure_ascii=False).encode()
        response.status_code = status
        response["Content-Type"] = "application/json"
        return response


def requested_version(endpoint: ClawHubEndpoint, skill: Skill, query: dict[str, Any]) -> Version:
    """The version that ``version`` or ``tag`` names, otherwise the latest one. Raises the errors of
    ``find_version``.
    """
    return skills.find_version(skill, query.get("version") or query.get("tag"), endpoint.actor)


def _number(version: Version | None) -> dict[str, str] | None:
    return {"version": version.number} if version else None
