"""Migrating an old package of document C: sent in, and sent back conforming. Nothing is kept."""

from __future__ import annotations

import base64
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etags, examples
from registry.api.documents import Doc, ProblemDoc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.packages import FORM, UploadForm, read_sent
from registry.api.shapes import Query
from registry.limits import package_limits
from registry.packages.migrating import Migration, migrate
from registry.packages.repack import digest_of, repack
from registry.permissions import Action


class MigrateQuery(Query):
    dry_run = serializers.BooleanField(default=False, help_text="`1` leaves the archive out of the answer.")
    filename = serializers.CharField(
        required=False, max_length=255, help_text="A raw archive's name: it names a package that does not."
    )


class MigratedDoc(Doc):
    ok = serializers.BooleanField(help_text="Whether what it became may be published.")
    status = serializers.ChoiceField(choices=["migrated", "unchanged", "refused"])
    slug = serializers.CharField()
    profile = serializers.CharField()
    changes = serializers.ListField(child=serializers.CharField(), help_text="What was done, in sentences.")
    diff = serializers.CharField(help_text="Every changed file as a unified diff.")
    digest = serializers.CharField(help_text="Of the archive, as publishing it gives.")
    archive = serializers.CharField(help_text="The migrated package: a zip in base64. Empty in a dry run.")
    problems = ProblemDoc(many=True, help_text="What the migrated package's checks say.")


class Migrations(Endpoint):
    parser_classes = [bodies.AnyBytes]
    needs = {"POST": (Action.PUBLISH,)}

    @extend_schema(
        operation_id="migrate_package",
        summary="Migrate an old package, or see what that would change",
        tags=["packages"],
        parameters=[MigrateQuery],
        request={
            "application/zip": OpenApiRequest(OpenApiTypes.BINARY),
            "application/gzip": OpenApiRequest(OpenApiTypes.BINARY),
            "text/markdown": OpenApiRequest(OpenApiTypes.BINARY),
            FORM: UploadForm,
        },
        responses={200: MigratedDoc},
        examples=[examples.answers(examples.MIGRATED)],
    )
    def post(self, request: Request) -> HttpResponse:
        """Answers what the package becomes, with a diff. Nothing is kept: publish the archive to keep it."""
        query, sent = read_sent(request, MigrateQuery)
        found = migrate(sent.package(), limits=package_limits())

        def act() -> HttpResponse:
            return etags.document_response(request, _document(found, dry_run=query["dry_run"]))

        return once(request, sent.meaning(), act)


def _document(found: Migration, *, dry_run: bool) -> dict[str, Any]:
    archive = repack(found.after)
    done = "migrated" if found.changed else "unchanged"
    return {
        "ok": found.package.ok,
        "status": done if found.package.ok else "refused",
        "slug": found.package.manifest.slug,
        "profile": found.package.profile,
        "changes": [change.translated(gettext) for change in found.changes],
        "diff": found.diff(),
        "digest": digest_of(archive),
        "archive": "" if dry_run else base64.b64encode(archive).decode(),
        "problems": [problem.document(gettext) for problem in found.package.problems],
    }
