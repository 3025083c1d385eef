"""Endpoints by which ClawHub clients publish versions and set tags, which are channels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.errors import BODY_TOO_LARGE, FIELD_INVALID
from registry.api.schema import Shape
from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND, UPLOAD_EMPTY
from registry.core.limits import package_limits
from registry.core.text import validated_slug
from registry.facades.clawhub import uploads
from registry.facades.clawhub.endpoint import ClawHubEndpoint
from registry.facades.clawhub.lookup import find_skill, team_slug
from registry.facades.clawhub.reading import ClawHubSkills
from registry.facades.endpoint import read_known
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Team, UseKind, Version
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from registry.rates.limits import RateLimit
from registry.usage.recording import note_use, use_of
from registry.versions.lifecycle.channels import check_channel, set_channel
from registry.versions.publishing.publish import publish

_MAX_FILES, _MAX_TAGS = 5_000, 10


class UploadUrlRequest(Shape):
    path = serializers.CharField(max_length=500)
    size = serializers.IntegerField(min_value=0)
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z")


class FileEntry(Shape):
    path = serializers.CharField(max_length=500)
    storageId = serializers.CharField(max_length=1000)

    def unknown(self, data: Any) -> list[str]:
        return []


class PublishRequest(Shape):
    slug = serializers.CharField(max_length=64)
    version = serializers.CharField(max_length=64)
    changelog = serializers.CharField(max_length=20_000, allow_blank=True, default="")
    ownerHandle = serializers.CharField(max_length=64, allow_blank=True, default="")
    tags = serializers.ListField(
        child=serializers.CharField(max_length=64), default=list, max_length=_MAX_TAGS
    )
    files = serializers.ListField(child=FileEntry(), default=list, max_length=_MAX_FILES)


class TagRequest(Shape):
    version = serializers.CharField(max_length=64)
    ownerHandle = serializers.CharField(max_length=64, allow_blank=True, default="")


class InstallRequest(Shape):
    event = serializers.CharField(default="", max_length=40)
    slug = serializers.CharField(default="", max_length=64)
    ownerHandle = serializers.CharField(max_length=64, allow_blank=True, default="")
    version = serializers.CharField(default="", allow_blank=True, max_length=64)


@extend_schema(exclude=True)
class UploadUrl(ClawHubEndpoint):
    """Endpoint that returns a URL for the upload of one file."""

    required_actions = {"POST": (Action.PUBLISH,)}

    def post(self, request: Request) -> HttpResponse:
        body = read_known(UploadUrlRequest, request.data)
        if body["size"] > settings.SKILLQUAY_MAX_UNPACKED_BYTES:
            raise BODY_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_UNPACKED_BYTES)
        ticket = uploads.ticket(
            uploads.AnnouncedFile(f"sha256:{body['sha256']}", body["size"]), self.actor.caller
        )
        address = absolute_url(f"clawhub/upload/{ticket}")
        return etag.document_response(request, {"uploadUrl": address, "uploadTicket": ticket})


@extend_schema(exclude=True)
class FileUpload(ClawHubEndpoint):
    required_actions = {"POST": (Action.PUBLISH,)}
    rate_limits = {"POST": RateLimit.PUBLISH}
    parser_classes = [bodies.RawBody]

    def post(self, request: Request, ticket: str) -> HttpResponse:
        limit = uploads.announced(ticket, self.actor.caller).size
        receipt = uploads.receive(ticket, self.actor.caller, bodies.body_chunks(request, limit=limit))
        return etag.document_response(request, {"storageId": receipt})


@extend_schema(exclude=True)
class SkillsAndPublish(ClawHubSkills):
    """Adds an endpoint that publishes a version. The files are parts of the form, or were uploaded before."""

    required_actions = {**ClawHubSkills.required_actions, "POST": (Action.PUBLISH,)}
    rate_limits = {"POST": RateLimit.PUBLISH}
    parser_classes = [bodies.StrictJson, bodies.RawBody]

    def post(self, request: Request) -> HttpResponse:
        body, files = self._read(request)
        slug, team = validated_slug(body["slug"]), _team(body["ownerHandle"], self.actor)
        channels = [tag for tag in dict.fromkeys(body["tags"]) if tag != "latest"]
        for channel in channels:
            check_channel(channel)
        # The folder names a skill whose SKILL.md has no name.
        package = read_files([(f"{slug}/{path}", data) for path, data in files], limits=package_limits())
        if package.manifest.slug != slug:
            reason = f"SKILL.md names {package.manifest.slug}. Publish with --slug {package.manifest.slug}."
            raise FIELD_INVALID.refusal(field="slug", reason=reason)
        version = publish(
            package,
            team=team,
            actor=self.actor,
            version=body["version"],
            changelog=body["changelog"],
            channel=channels[0] if channels else None,
        ).version
        if not version.is_held:
            for channel in channels[1:]:
                set_channel(channel, version, self.actor)
        return etag.document_response(request, _publication(version))

    def _read(self, request: Request) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
        """The payload, and the paths and contents of the files, from a multipart form or a JSON body. Raises
        UPLOAD_EMPTY without files, and the errors of reading the body.
        """
        kind = bodies.media_type(request)
        if kind == bodies.FORM_TYPE:
            form = bodies.read_form(
                request, limit=settings.SKILLQUAY_MAX_UNPACKED_BYTES + settings.SKILLQUAY_MAX_REQUEST_BYTES
            )
            payload = bodies.strict_json(form.fields.get("payload", "").encode(errors="replace"))
            body = read_known(PublishRequest, payload)
            files = [(part.path, part.read()) for part in form.parts_of("files")]
        else:
            body = read_known(PublishRequest, request.data)
            files = _uploaded(body["files"], self.actor.caller)
        if not files:
            raise UPLOAD_EMPTY.refusal()
        return body, files


@extend_schema(exclude=True)
class ClawHubTag(ClawHubEndpoint):
    """Endpoint that points a channel to a version."""

    required_actions = {"POST": (Action.RELEASE,)}

    def post(self, request: Request, slug: str, tag: str) -> HttpResponse:
        body = read_known(TagRequest, request.data)
        skill = find_skill(slug, body["ownerHandle"], self.actor)
        version = skills.find_version(skill, body["version"], self.actor)
        set_channel(tag, version, self.actor)
        document = {"ok": True, "slug": slug, "tag": tag, "version": version.number}
        return etag.document_response(request, document)


@extend_schema(exclude=True)
class InstallTelemetry(ClawHubEndpoint):
    """Endpoint that counts an installation. Ignores skills that the caller can't see, and the lists of all
    installed skills that older clients send.
    """

    required_actions = {"POST": (Action.INSTALL,)}

    def post(self, request: Request) -> HttpResponse:
        body = read_known(InstallRequest, request.data)
        if body["event"] == "install" and body["slug"]:
            try:
                skill = find_skill(body["slug"], body["ownerHandle"], self.actor)
                version = skills.find_version(skill, body["version"], self.actor)
            except Refusal as error:
                if error.code != NOT_FOUND.name:
                    raise
            else:
                note_use(use_of(version, UseKind.INSTALL), self.actor.caller)
        return etag.document_response(request, {"ok": True})


def _uploaded(entries: Iterable[dict[str, Any]], caller: str) -> list[tuple[str, bytes]]:
    files, total = [], 0
    for entry in entries:
        data = uploads.uploaded(entry["storageId"], caller)
        total += len(data)
        if total > settings.SKILLQUAY_MAX_UNPACKED_BYTES:
            raise BODY_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_UNPACKED_BYTES)
        files.append((entry["path"], data))
    return files


def _team(owner: str, actor: Actor) -> Team:
    """The team that publishes: the owner, or the actor's only team. Raises FIELD_INVALID if neither is known,
    and the errors of ``find_team``.
    """
    own = list(Team.objects.filter(pk__in=actor.team_ids)[:2])
    if not owner and len(own) == 1:
        return own[0]
    slug = team_slug(owner, actor)
    is_team = slug and Team.objects.visible_to(actor).filter(slug=slug).exists()
    if not is_team and (not slug or (actor.user and slug == actor.user.username)):
        raise FIELD_INVALID.refusal(field="ownerHandle", reason="Name the team with --owner.")
    return skills.find_team(slug, actor)


def _publication(version: Version) -> dict[str, Any]:
    status = "pending" if version.is_held else "published"
    document = {
        "ok": True,
        "skillId": version.skill.uid,
        "versionId": version.uid,
        "slug": version.skill.slug,
        "version": version.number,
        "publicationStatus": status,
    }
    return {**document, "attemptId": version.uid} if version.is_held else document
