"""Endpoints by which APM lists, downloads and publishes versions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.errors import FIELD_INVALID
from registry.core.errors import UPLOAD_EMPTY
from registry.core.limits import package_limits
from registry.core.text import validated_slug
from registry.core.time import rfc3339
from registry.facades.clawhub.lookup import CANONICAL_OWNER, usable_versions
from registry.facades.downloads import archive_response
from registry.facades.endpoint import JsonFacadeEndpoint, UnknownAddress, error_text
from registry.identity.permissions import Action, require
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.models import Skill, Version
from registry.packages.package import Package
from registry.packages.read_package import read_upload
from registry.packages.version_numbers import normalise
from registry.rates.limits import RateLimit
from registry.versions.errors import VERSION_EXISTS
from registry.versions.publishing.publish import publish

_MAX_VERSIONS = 1000  # listed, newest first


class _ApmEndpoint(JsonFacadeEndpoint):
    """Base class of endpoints whose errors are problem details (RFC 7807)."""

    required_actions = {"GET": (Action.INSTALL,), "PUT": (Action.PUBLISH,)}
    rate_limits = {"PUT": RateLimit.PUBLISH}
    parser_classes = [bodies.RawBody]

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        response["Content-Type"] = "application/problem+json"
        return response

    def error_document(self, error: dict[str, Any], status: int) -> dict[str, Any]:
        return {
            "type": error["docs_url"],
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": error_text(error),
            "code": error["code"],
            "request_id": error["request_id"],
        }

    def find(self, team: str, slug: str) -> Skill:
        """The skill of the package ``team/slug``. Requires permission to install it. Raises the errors of
        ``find_skill``.
        """
        is_canonical = team == CANONICAL_OWNER
        skill = skills.find_skill(canonicals.PREFIX + slug if is_canonical else f"{team}/{slug}", self.actor)
        require(self.actor, Action.INSTALL, skill=skill)
        return skill


@extend_schema(exclude=True)
class ApmVersions(_ApmEndpoint):
    keeps_answers = True

    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        rows = usable_versions(self.find(team, slug), self.actor).defer("manifest", "body", "problems")
        versions = [_version_row(version) for version in rows[:_MAX_VERSIONS]]
        return etag.document_response(request, {"package": f"{team}/{slug}", "versions": versions})


@extend_schema(exclude=True)
class ApmVersion(_ApmEndpoint):
    """Publishes a version. Raises VERSION_EXISTS if the number exists, even with the same content."""

    def put(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        target = skills.find_team(team, self.actor)
        require(self.actor, Action.PUBLISH, team=target)
        package = _read_package(request, validated_slug(slug))
        if Version.objects.filter(
            skill__team=target, skill__slug=slug, number=normalise(number) or number
        ).exists():
            raise VERSION_EXISTS.refusal(skill=f"{team}/{slug}", version=number[:64])
        version = publish(package, team=target, actor=self.actor, version=number).version
        document = {"package": f"{team}/{slug}", **_version_row(version)}
        return etag.document_response(request, document, status=201)


@extend_schema(exclude=True)
class ApmDownload(_ApmEndpoint):
    """The archive of a version. A download counts as an install."""

    keeps_answers = True

    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponseBase:
        version = skills.find_version(self.find(team, slug), number, self.actor)
        return archive_response(request, version, self.actor)


@extend_schema(exclude=True)
class ApmUnknown(UnknownAddress, _ApmEndpoint):
    pass


def _version_row(version: Version) -> dict[str, Any]:
    return {
        "version": version.number,
        "digest": version.digest,
        "published_at": rfc3339(version.created_at),
        "size_bytes": version.archive_size,
    }


def _read_package(request: Request, slug: str) -> Package:
    """The package in the request's body. The address names a package that states no name. Raises
    UPLOAD_EMPTY, FIELD_INVALID if the package states another name, and the errors of ``read_upload``.
    """
    data = b"".join(bodies.body_chunks(request, limit=settings.SKILLQUAY_MAX_UNPACKED_BYTES))
    if not data:
        raise UPLOAD_EMPTY.refusal()
    package = read_upload(data, filename=f"{slug}.zip", limits=package_limits())
    if package.manifest.slug != slug:
        reason = f"SKILL.md names {package.manifest.slug}. Publish it under this name."
        raise FIELD_INVALID.refusal(field="slug", reason=reason)
    return package
