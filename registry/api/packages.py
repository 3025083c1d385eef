"""Publishing: an archive, one SKILL.md, or a form with either or with a folder's files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, publishing
from registry.actors import Actor
from registry.api import bodies, etags, examples
from registry.api.documents import Doc, ProblemDoc, api_address
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Query, read_query
from registry.limits import package_limits
from registry.models import Team, Visibility
from registry.packages.package import Package
from registry.packages.problems import Problem, Refused, refuse
from registry.packages.reading import read_files, read_upload
from registry.permissions import Action

ARCHIVES = (
    "application/zip",
    "application/gzip",
    "application/x-gzip",
    "application/x-zip-compressed",
    "application/octet-stream",
    "text/markdown",
)
FORM = "multipart/form-data"


class PublishQuery(Query):
    team = serializers.CharField(
        required=False, max_length=64, help_text="May be left away by who is on one team only."
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="`1` tells everything that publishing would say, and publishes nothing."
    )
    version = serializers.CharField(
        required=False, max_length=200, help_text="For a package that names none."
    )
    visibility = serializers.ChoiceField(required=False, choices=Visibility.choices)
    changelog = serializers.CharField(required=False, max_length=20_000)
    channel = serializers.CharField(required=False, max_length=32, help_text="Names the version at once.")
    filename = serializers.CharField(
        required=False, max_length=255, help_text="A raw archive's name: it names a package that does not."
    )


class UploadForm(Doc):
    package = serializers.FileField(required=False, help_text="One zip, tar.gz or SKILL.md.")
    files = serializers.ListField(
        child=serializers.FileField(), required=False, help_text="A folder's files, with paths as file names."
    )


class PublishedDoc(Doc):
    ok = serializers.BooleanField()
    created = serializers.BooleanField(help_text="False where this very version was there already.")
    skill = serializers.CharField()
    version = serializers.CharField(help_text="Empty in a dry run that could not tell.")
    digest = serializers.CharField()
    problems = ProblemDoc(many=True)
    url = serializers.CharField(help_text="Empty in a dry run.")


class Packages(Endpoint):
    parser_classes = [bodies.AnyBytes]
    needs = {"POST": (Action.PUBLISH,)}

    @extend_schema(
        operation_id="publish_package",
        summary="Publish a version, or try it",
        tags=["packages"],
        parameters=[PublishQuery],
        request={
            "application/zip": OpenApiRequest(OpenApiTypes.BINARY),
            "application/gzip": OpenApiRequest(OpenApiTypes.BINARY),
            "text/markdown": OpenApiRequest(OpenApiTypes.BINARY),
            FORM: UploadForm,
        },
        responses={200: PublishedDoc, 201: PublishedDoc},
        examples=[examples.answers(examples.PUBLISHED, "200", "201")],
    )
    def post(self, request: Request) -> HttpResponse:
        """All problems come at once. The same bytes under the same version are published already (200)."""
        query, upload = read_sent(request, PublishQuery)
        team = _team(query.get("team"), self.actor)

        if query["dry_run"]:
            return etags.document_response(request, _preview(upload, team, self.actor, query))
        package = upload.package()  # before the transaction: reading may take seconds, writers would wait

        def act() -> HttpResponse:
            return _publish(request, package, team, self.actor, query)

        return once(request, upload.meaning(), act)


class Sent:
    """What was sent: a form with the files of a package, or the bytes of one."""

    def __init__(self, files: list[tuple[str, bytes]], *, is_folder: bool) -> None:
        self.files, self.is_folder = files, is_folder

    def package(self) -> Package:
        if self.is_folder:
            return read_files(self.files, limits=package_limits())
        name, data = self.files[0]
        return read_upload(data, filename=name, limits=package_limits())

    def meaning(self) -> Any:
        """The same for the same files, whatever boundary a form's client has drawn."""
        return [[path, hashlib.sha256(data).hexdigest()] for path, data in self.files]


def read_sent(request: Request, shape: type[Query]) -> tuple[dict[str, Any], Sent]:
    """The query, whose parameters may be fields of the form too, and what was sent with it."""
    kind = (request.content_type or "").split(";")[0].strip().lower()
    if kind != FORM:
        query = read_query(shape, request)
        return query, Sent([(query.get("filename", ""), _raw(request, kind))], is_folder=False)
    form = bodies.read_form(
        request, limit=settings.SKILLQUAY_UNPACKED_BYTES + settings.SKILLQUAY_REQUEST_BYTES
    )
    query = read_query(shape, request, also=form.fields)
    return query, _of_form(form)


def _raw(request: Request, kind: str) -> bytes:
    if not bodies.content_length(request):
        raise refuse("UPLOAD_EMPTY")
    if kind not in ARCHIVES:
        raise refuse(
            "MEDIA_TYPE_UNSUPPORTED",
            type=kind[:100] or "-",
            accepted=", ".join((*ARCHIVES[:2], "text/markdown", FORM)),
        )
    return b"".join(bodies.pieces(request, limit=settings.SKILLQUAY_ARCHIVE_BYTES))


def _of_form(form: bodies.Form) -> Sent:
    if archives := form.named("package"):
        return Sent([(archives[0].path, archives[0].read())], is_folder=False)
    files = [(part.path, part.read()) for part in form.named("files")]
    if not files:
        raise refuse("UPLOAD_EMPTY")
    return Sent(files, is_folder=True)


def _team(slug: str | None, actor: Actor) -> Team:
    if slug:
        return catalog.find_team(slug, actor)
    own = list(Team.objects.filter(pk__in=actor.team_ids)[:2])
    if len(own) != 1:
        raise refuse("QUERY_INVALID", path="team", field="team", reason=gettext("say which team publishes."))
    return own[0]


def _publish(
    request: Request, package: Package, team: Team, actor: Actor, query: Mapping[str, Any]
) -> HttpResponse:
    done = publishing.publish(
        package,
        team=team,
        actor=actor,
        version=query.get("version"),
        visibility=query.get("visibility"),
        changelog=query.get("changelog", ""),
        channel=query.get("channel"),
    )
    return published(request, done)


def published(request: Request, done: publishing.Publication) -> HttpResponse:
    """What publishing did, and where the version is."""
    version = done.version
    address = api_address("skills", str(version.skill), "versions", version.number)
    document = {
        "ok": True,
        "created": done.created,
        "skill": str(version.skill),
        "version": version.number,
        "digest": version.digest,
        "problems": _documents(done.problems),
        "url": address,
    }
    response = etags.document_response(request, document, status=201 if done.created else 200)
    response["Location"] = address
    return response


def _preview(upload: Sent, team: Team, actor: Actor, query: Mapping[str, Any]) -> dict[str, Any]:
    """The dry run's answer: what stops an upload is part of it, not an error of the request."""
    try:
        seen = publishing.check(
            upload.package(),
            team=team,
            actor=actor,
            version=query.get("version"),
            visibility=query.get("visibility"),
            channel=query.get("channel"),
        )
    except Refused as refused:
        if refused.code in ("FORBIDDEN", "NOT_FOUND"):
            raise
        problems = _documents(refused.problems)
        unknown = {"skill": "", "version": "", "digest": "", "url": ""}
        return {"ok": False, "created": False, **unknown, "problems": problems}
    return {
        "ok": seen.ok,
        "created": seen.created,
        "skill": seen.skill,
        "version": seen.number,
        "digest": seen.digest,
        "problems": _documents(seen.problems),
        "url": "",
    }


def _documents(problems: tuple[Problem, ...]) -> list[dict[str, object]]:
    return [each.document(gettext) for each in problems]
