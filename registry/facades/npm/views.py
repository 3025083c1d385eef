"""Endpoints for npm, pnpm and yarn."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.attachments import make_attachment, stored_response
from registry.api.schema import Query, read_query
from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.core.time import rfc3339
from registry.facades.endpoint import JsonFacadeEndpoint, error_text
from registry.facades.npm.packument import packument, unheld_versions
from registry.facades.npm.tarballs import kept_tarball, package_name, tarball, tarball_facts
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action, require
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.models import Skill, UseKind
from registry.rates.limits import RateLimit
from registry.search.query import search
from registry.usage.recording import note_use, use_of
from registry.usage.scores import explain_score

CANONICAL_SCOPE = "canonical"  # the scope of canonical skills: no team can have this slug


class _NpmEndpoint(JsonFacadeEndpoint):
    """An endpoint whose errors have the field ``error``, which npm prints."""

    required_actions = {"GET": (Action.SEE,)}

    def error_document(self, error: dict[str, Any], status: int) -> dict[str, Any]:
        return {"error": error_text(error), **error}

    def find(self, team: str, slug: str) -> Skill:
        """The skill of the package ``@team/slug``. Raises the errors of ``find_skill``."""
        is_canonical = team == CANONICAL_SCOPE
        return skills.find_skill(canonicals.PREFIX + slug if is_canonical else f"{team}/{slug}", self.actor)


@extend_schema(exclude=True)
class Packument(_NpmEndpoint):
    keeps_answers = True

    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        skill = self.find(team, slug)
        document = packument(skill, team, self.actor)
        if not document["versions"]:
            raise NOT_FOUND.refusal(what="skill", name=package_name(team, slug)[:200])
        return etag.document_response(request, document)


@extend_schema(exclude=True)
class Tarball(_NpmEndpoint):
    """Endpoint that returns the tarball of a version. A download counts as an install."""

    keeps_answers = True
    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, team: str, slug: str, path: str) -> HttpResponseBase:
        skill = self.find(team, slug)
        number = path.removeprefix(f"{slug}-").removesuffix(".tgz")
        version = unheld_versions(skill, self.actor).filter(number=number).first()
        if version is None or path != f"{slug}-{number}.tgz":
            raise NOT_FOUND.refusal(what="version", name=path[:200])
        require(self.actor, Action.INSTALL, skill=version.skill)
        name = package_name(team, slug)
        tag = f'"{tarball_facts(version, name).shasum}"'
        if unchanged := etag.not_modified(request, tag, vary=()):
            return unchanged
        if request.method == "GET":
            version.skill.resolved_canonical = skill.resolved_canonical
            note_use(use_of(version, UseKind.INSTALL), self.actor.caller)
        if kept := kept_tarball(version, name):
            return etag.set_private(make_attachment(stored_response(kept), path, tag))
        return etag.set_private(make_attachment(HttpResponse(tarball(version, name)), path, tag))


class NpmSearchQuery(Query):
    text = serializers.CharField(max_length=500, allow_blank=True, default="")
    size = serializers.IntegerField(default=20, min_value=0, max_value=100)


@extend_schema(exclude=True)
class NpmSearch(_NpmEndpoint):
    rate_limits = {"GET": RateLimit.SEARCH}

    def get(self, request: Request) -> HttpResponse:
        query = read_query(NpmSearchQuery, request, ignore_unknown=True)
        found = search(query["text"], self.actor, limit=query["size"] or 1)
        rows = [_search_row(hit.skill, hit.score) for hit in found.hits if hit.skill.latest]
        document = {"objects": rows, "total": found.total, "time": rfc3339(timezone.now())}
        return etag.document_response(request, document)


@extend_schema(exclude=True)
class Whoami(_NpmEndpoint):
    def get(self, request: Request) -> HttpResponse:
        if self.actor.user is None:
            raise SIGN_IN_REQUIRED.refusal()
        return etag.document_response(request, {"username": self.actor.user.username})


@extend_schema(exclude=True)
class Ping(_NpmEndpoint):
    def get(self, request: Request) -> HttpResponse:
        return etag.document_response(request, {})


@extend_schema(exclude=True)
class Advisories(_NpmEndpoint):
    """Endpoint for npm's audit request after an installation. The response is always empty, because
    skills have no npm advisories.
    """

    is_safe_post = True
    parser_classes = []

    def post(self, request: Request) -> HttpResponse:
        return etag.document_response(request, {})


def _search_row(skill: Skill, score: float) -> dict[str, Any]:
    name = package_name(skill.team.slug, skill.slug)
    version = skill.latest.number if skill.latest else ""
    package = {
        "name": name,
        "scope": skill.team.slug,
        "version": version,
        "description": skill.description,
        "keywords": skill.tags,
        "date": rfc3339(skill.updated_at),
        "links": {"homepage": absolute_url(f"skills/{skill}/")},
        "publisher": {"username": skill.team.slug},
        "maintainers": [{"username": skill.team.slug}],
    }
    popularity = explain_score(skill).value
    detail = {"quality": 0, "popularity": popularity, "maintenance": 0}
    return {"package": package, "score": {"final": score, "detail": detail}, "searchScore": score}
