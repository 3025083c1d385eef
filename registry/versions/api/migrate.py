"""Endpoint that migrates older packages to the ApexBridge layout without publishing them."""

import base64
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import run_once
from registry.api.schema import Operations, UploadQuery, binary_bodies
from registry.core.limits import package_limits
from registry.identity.permissions import Action
from registry.packages.archive.repack import digest_of, repack
from registry.packages.migrate.migration import Migration, migrate
from registry.rates.limits import RateLimit
from registry.versions.api.publish import ARCHIVES, PackageUploadForm, read_upload_request

operation = Operations("packages")


class MigrateQuery(UploadQuery):
    dry_run = serializers.BooleanField(default=False, help_text="`1` omits the archive from the response.")
    filename = serializers.CharField(
        required=False,
        max_length=255,
        help_text="The file name of the uploaded archive. It names the skill if the package has no name.",
    )


class MigrationDoc(Doc):
    ok = serializers.BooleanField(help_text="Whether the migrated package can be published.")
    status = serializers.ChoiceField(choices=["migrated", "unchanged", "refused"])
    slug = serializers.CharField()
    profile = serializers.CharField()
    changes = serializers.ListField(child=serializers.CharField(), help_text="Descriptions of the changes.")
    diff = serializers.CharField(help_text="A unified diff of all changed files.")
    digest = serializers.CharField(
        help_text="The digest that the version would have if you published the archive."
    )
    archive = serializers.CharField(help_text="The migrated package as a zip in base64; empty in a dry run.")
    problems = ProblemDoc(many=True, help_text="Problems of the migrated package.")


class Migrations(Endpoint):
    parser_classes = [bodies.RawBody]
    required_actions = {"POST": (Action.PUBLISH,)}
    rate_limits = {"POST": RateLimit.PUBLISH}

    @operation(
        "migrate_package",
        "Migrate a package to the current format",
        query=MigrateQuery,
        body={**binary_bodies(ARCHIVES), bodies.FORM_TYPE: PackageUploadForm},
        answer=MigrationDoc,
    )
    def post(self, request: Request) -> HttpResponse:
        """Returns the migrated package and a diff. Nothing is published; publish the archive to keep it."""
        query, upload = read_upload_request(request, MigrateQuery, self.actor)
        migration = migrate(upload.package(), limits=package_limits())

        def act() -> HttpResponse:
            return etag.document_response(request, _document(migration, dry_run=query["dry_run"]))

        return run_once(request, upload.request_digest(), act)


def _document(migration: Migration, *, dry_run: bool) -> dict[str, Any]:
    archive = repack(migration.after)
    status = "migrated" if migration.has_changes else "unchanged"
    return {
        "ok": migration.package.ok,
        "status": status if migration.package.ok else "refused",
        "slug": migration.package.manifest.slug,
        "profile": migration.package.profile,
        "changes": [change.translated(gettext) for change in migration.changes],
        "diff": migration.diff(),
        "digest": digest_of(archive),
        "archive": "" if dry_run else base64.b64encode(archive).decode(),
        "problems": [problem.document(gettext) for problem in migration.package.problems],
    }
