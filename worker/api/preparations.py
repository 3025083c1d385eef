"""What a version depends on, and how the making of it stands."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog
from registry.api import etags
from registry.api.documents import Doc, ProblemDoc
from registry.api.endpoint import Endpoint
from registry.models import Version
from registry.permissions import Action
from registry.publishing.readiness import READINESS
from worker.api import examples
from worker.dependencies.preparing import preparation_document, prepare_again
from worker.models import PreparationKind, PreparationState

_PREPARATION: dict[str, Any] = {
    "version": "1.2.0",
    "state": "ready",
    "preparations": [
        {
            "id": "01kajq3s5d8m6v9x2c4b7n1p31",
            "kind": "python",
            "platform": "cpython-3.11 linux-x86_64 glibc2.36",
            "state": "ready",
            "problem": None,
            "packages": [
                {
                    "name": "six",
                    "version": "1.17.0",
                    "hash": "sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274",
                }
            ],
            "size": 40_960,
            "attempt": 1,
            "started_at": "2026-11-20T09:30:00.000000Z",
            "finished_at": "2026-11-20T09:30:03.000000Z",
            "log": "",
        }
    ],
}


class DependencyDoc(Doc):
    name = serializers.CharField()
    version = serializers.CharField()
    hash = serializers.CharField(help_text="SHA-256 of the wheel, or the integrity of npm's lock.")


class PreparationRowDoc(Doc):
    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=PreparationKind.values)
    platform = serializers.CharField(help_text="The interpreter and machine that it is made for.")
    state = serializers.ChoiceField(choices=PreparationState.values)
    problem = ProblemDoc(allow_null=True)
    packages = DependencyDoc(many=True)
    size = serializers.IntegerField(help_text="Bytes.")
    attempt = serializers.IntegerField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    log = serializers.CharField(help_text="What the installer said; for those who may read the team's runs.")


class PreparationDoc(Doc):
    version = serializers.CharField()
    state = serializers.ChoiceField(choices=READINESS)
    preparations = PreparationRowDoc(many=True)


class VersionPreparation(Endpoint):
    needs = {"GET": (Action.SEE,), "POST": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="get_preparation",
        summary="See what a version depends on, and whether it is ready",
        tags=["versions"],
        responses=PreparationDoc,
        examples=[examples.answers(_PREPARATION)],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Dependencies are made once for all versions that name the same, when one is published."""
        version = self._version(team, slug, number)
        return etags.document_response(request, preparation_document(version, self.actor))

    @extend_schema(
        operation_id="prepare_version",
        summary="Prepare a version's dependencies again",
        tags=["versions"],
        request=None,
        responses=PreparationDoc,
        examples=[examples.answers(_PREPARATION)],
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """What failed is tried again; what is ready or under way stays as it is. For maintainers."""
        version = self._version(team, slug, number)
        prepare_again(version, self.actor)
        return etags.document_response(request, preparation_document(version, self.actor))

    def _version(self, team: str, slug: str, number: str) -> Version:
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return catalog.find_version(skill, number, self.actor, even_held=True)
