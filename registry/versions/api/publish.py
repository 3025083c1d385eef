"""Endpoint that publishes a package: an archive, a SKILL.md, or a form with one of these or with files."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.documents.skills import Doc, ProblemDoc, api_url
from registry.api.endpoint import Endpoint
from registry.api.errors import MEDIA_TYPE_UNSUPPORTED, QUERY_INVALID
from registry.api.idempotency import run_once
from registry.api.schema import Operations, Query, UploadField, UploadQuery, binary_bodies, read_query
from registry.core.errors import NOT_FOUND, UPLOAD_EMPTY
from registry.core.limits import package_limits
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Team, Visibility
from registry.packages.package import Package
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import read_files, read_upload
from registry.rates.limits import RateLimit
from registry.uploads.uploads import erase_upload, find_upload, read_content
from registry.versions.errors import SKILL_PURGED, VERSION_PURGED
from registry.versions.publishing.publish import Publication, preview_publication, publish

operation = Operations("packages")
ARCHIVES = (
    "application/zip",
    "application/gzip",
    "application/x-gzip",
    "application/x-zip-compressed",
    "application/octet-stream",
    "text/markdown",
)


class PublishQuery(UploadQuery):
    team = serializers.CharField(
        required=False,
        max_length=64,
        help_text="The team to publish to. Optional if you belong to only one team.",
    )
    dry_run = serializers.BooleanField(
        default=False,
        help_text="`1` checks the package and returns the expected result, without publishing.",
    )
    version = serializers.CharField(
        required=False, max_length=200, help_text="The version number for a package that states none."
    )
    visibility = serializers.ChoiceField(required=False, choices=Visibility.choices)
    changelog = serializers.CharField(required=False, max_length=20_000)
    channel = serializers.CharField(
        required=False, max_length=32, help_text="A channel to point to the new version."
    )
    filename = serializers.CharField(
        required=False,
        max_length=255,
        help_text="The file name of the uploaded archive. It names the skill if the package has no name.",
    )


class PackageUploadForm(Doc):
    package = UploadField(required=False, help_text="A zip, tar.gz or SKILL.md.")
    files = serializers.ListField(
        child=UploadField(),
        required=False,
        help_text="The files of a folder, with their paths as file names.",
    )


class PublicationDoc(Doc):
    ok = serializers.BooleanField()
    created = serializers.BooleanField(
        help_text="Whether a version is created; false if the identical version exists or a dry run "
        "finds errors."
    )
    skill = serializers.CharField()
    version = serializers.CharField(help_text="The version number; empty if a dry run can't determine it.")
    digest = serializers.CharField()
    problems = ProblemDoc(many=True)
    url = serializers.CharField(help_text="The URL of the version; empty in a dry run.")


class Packages(Endpoint):
    parser_classes = [bodies.RawBody]
    required_actions = {"POST": (Action.PUBLISH,)}
    rate_limits = {"POST": RateLimit.PUBLISH}

    @operation(
        "publish_package",
        "Publish a version",
        query=PublishQuery,
        body={**binary_bodies(ARCHIVES), bodies.FORM_TYPE: PackageUploadForm},
        answer={200: PublicationDoc, 201: PublicationDoc},
    )
    def post(self, request: Request) -> HttpResponse:
        """Publishes a package, or only checks it with `dry_run`. If the package is invalid, the error
        response lists all problems. If the version already exists with the same content, returns 200 and only
        sets `channel`.
        """
        query, upload = read_upload_request(request, PublishQuery, self.actor)
        team = _team(query.get("team"), self.actor)

        if query["dry_run"]:
            preview = _preview_document(upload, team, self.actor, query)
            _erase_purged(query, {str(problem["code"]) for problem in preview["problems"]}, self.actor)
            return etag.document_response(request, preview)
        package = upload.package()  # outside the transaction, because reading may take seconds

        def act() -> HttpResponse:
            return _publish(request, package, team, self.actor, query)

        try:
            return run_once(request, upload.request_digest(), act)
        except Refusal as refused:
            _erase_purged(query, {problem.code for problem in refused.problems}, self.actor)
            raise


class Upload:
    """An uploaded package: either a folder's files, or one archive or SKILL.md. ``files`` are paths and
    contents.
    """

    def __init__(self, files: list[tuple[str, bytes]], *, is_folder: bool) -> None:
        self.files, self.is_folder = files, is_folder

    def package(self) -> Package:
        if self.is_folder:
            return read_files(self.files, limits=package_limits())
        name, data = self.files[0]
        return read_upload(data, filename=name, limits=package_limits())

    def request_digest(self) -> Any:
        """Path and SHA-256 of each file, which identify the upload for ``run_once`` regardless of its
        multipart boundary.
        """
        return [[path, hashlib.sha256(data).hexdigest()] for path, data in self.files]


def read_upload_request(request: Request, shape: type[Query], actor: Actor) -> tuple[dict[str, Any], Upload]:
    """The validated query and the uploaded package, which is read from the raw body, a form, or the upload
    that ``upload`` names. Form fields are used for absent query parameters.

    Raises UPLOAD_EMPTY, MEDIA_TYPE_UNSUPPORTED, or the errors of the query, the body and the upload.
    """
    kind = bodies.media_type(request)
    if kind != bodies.FORM_TYPE:
        query = read_query(shape, request)
        if "upload" in query:
            name, data = read_content(query["upload"], actor, limit=settings.SKILLQUAY_MAX_ARCHIVE_BYTES)
            return query, Upload([(query.get("filename") or name, data)], is_folder=False)
        return query, Upload([(query.get("filename", ""), _read_raw_body(request, kind))], is_folder=False)
    form = bodies.read_form(
        request, limit=settings.SKILLQUAY_MAX_UNPACKED_BYTES + settings.SKILLQUAY_MAX_REQUEST_BYTES
    )
    query = read_query(shape, request, defaults=form.fields)
    return query, _upload_from_form(form)


def _read_raw_body(request: Request, kind: str) -> bytes:
    if not bodies.content_length(request):
        raise UPLOAD_EMPTY.refusal()
    if kind not in ARCHIVES:
        accepted = (*ARCHIVES, bodies.FORM_TYPE)
        raise MEDIA_TYPE_UNSUPPORTED.refusal(type=kind[:100] or "-", accepted=accepted)
    return b"".join(bodies.body_chunks(request, limit=settings.SKILLQUAY_MAX_ARCHIVE_BYTES))


def _upload_from_form(form: bodies.Form) -> Upload:
    if archives := form.parts_of("package"):
        return Upload([(archives[0].path, archives[0].read())], is_folder=False)
    files = [(part.path, part.read()) for part in form.parts_of("files")]
    if not files:
        raise UPLOAD_EMPTY.refusal()
    return Upload(files, is_folder=True)


def _team(slug: str | None, actor: Actor) -> Team:
    if slug:
        return skills.find_team(slug, actor)
    own = list(Team.objects.filter(pk__in=actor.team_ids)[:2])
    if len(own) != 1:
        raise QUERY_INVALID.refusal(
            field="team", reason=gettext("Name the team that publishes the skill.")
        ).at("team")
    return own[0]


def _erase_purged(query: Mapping[str, Any], codes: set[str], actor: Actor) -> None:
    """Erases the upload that the query names if its content was purged, which must not be stored again."""
    if "upload" in query and not codes.isdisjoint((VERSION_PURGED.name, SKILL_PURGED.name)):
        erase_upload(find_upload(query["upload"], actor))


def _publish(
    request: Request, package: Package, team: Team, actor: Actor, query: Mapping[str, Any]
) -> HttpResponse:
    publication = publish(
        package,
        team=team,
        actor=actor,
        version=query.get("version"),
        visibility=query.get("visibility"),
        changelog=query.get("changelog", ""),
        channel=query.get("channel"),
    )
    return publication_response(request, publication)


def publication_response(request: Request, publication: Publication) -> HttpResponse:
    """The response to a publication: 201 for a new version, 200 for an existing one. ``Location`` is the
    version's URL.
    """
    version = publication.version
    address = api_url("skills", str(version.skill), "versions", version.number)
    document = {
        "ok": True,
        "created": publication.created,
        "skill": str(version.skill),
        "version": version.number,
        "digest": version.digest,
        "problems": _problem_documents(publication.problems),
        "url": address,
    }
    response = etag.document_response(request, document, status=201 if publication.created else 200)
    response["Location"] = address
    return response


def _preview_document(upload: Upload, team: Team, actor: Actor, query: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a dry run, which lists the errors of the package. Raises only FORBIDDEN
    and NOT_FOUND.
    """
    try:
        preview = preview_publication(
            upload.package(),
            team=team,
            actor=actor,
            version=query.get("version"),
            visibility=query.get("visibility"),
            channel=query.get("channel"),
        )
    except Refusal as refused:
        if refused.code in (FORBIDDEN.name, NOT_FOUND.name):
            raise
        problems = _problem_documents(refused.problems)
        unknown = {"skill": "", "version": "", "digest": "", "url": ""}
        return {"ok": False, "created": False, **unknown, "problems": problems}
    return {
        "ok": preview.ok,
        "created": preview.created,
        "skill": preview.skill,
        "version": preview.number,
        "digest": preview.digest,
        "problems": _problem_documents(preview.problems),
        "url": "",
    }


def _problem_documents(problems: tuple[Problem, ...]) -> list[dict[str, object]]:
    return [each.document(gettext) for each in problems]
