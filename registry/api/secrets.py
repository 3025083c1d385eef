"""Secrets of a team: set, granted and revoked by people in a session; a value is never in an answer."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, secrets
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Query, Shape, StrictText, read_body, read_query
from registry.models import Team, Version
from registry.permissions import Action
from registry.secrets.documents import grant_document, needs_document, secret_document, secrets_document

_GRANT: dict[str, Any] = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p30",
    "secret": "API_KEY",
    "skill": "docs/summarise",
    "to": "version",
    "version": "1.2.0",
    "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "hosts": ["api.example.org"],
    "granted_by": "alice",
    "granted_at": "2026-11-20T09:30:00.000000Z",
    "revoked_at": None,
}
_SECRET: dict[str, Any] = {
    "name": "API_KEY",
    "team": "docs",
    "set_by": "alice",
    "set_at": "2026-11-20T09:00:00.000000Z",
    "grants": [_GRANT],
}
_NEEDS: dict[str, Any] = {
    "skill": "docs/summarise",
    "version": "1.2.0",
    "team": "docs",
    "secrets": [{"name": "API_KEY", "is_set": True, "granted": True}],
    "hosts": ["api.example.org"],
    "starts": [],
    "reviewed_by": "bob",
    "reviewed_at": "2026-11-20T09:20:00.000000Z",
}
_PERSON = (Action.SEE,)  # no token reaches further: the verbs ask for the person


class GrantDoc(Doc):
    id = serializers.CharField()
    secret = serializers.CharField()
    skill = serializers.CharField()
    to = serializers.ChoiceField(
        choices=secrets.GRANTED_FOR,
        help_text="`version`: that digest alone; `reviewed`: what its team reviewed.",
    )
    version = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    hosts = serializers.ListField(
        child=serializers.CharField(), help_text="Where the versions that get it could carry it."
    )
    granted_by = serializers.CharField(allow_null=True)
    granted_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)


class SecretDoc(Doc):
    name = serializers.CharField(help_text="Of the environment variable that a script reads.")
    team = serializers.CharField()
    set_by = serializers.CharField(allow_null=True)
    set_at = serializers.DateTimeField()
    grants = GrantDoc(many=True)


class SecretsDoc(Doc):
    items = SecretDoc(many=True)


class NewSecret(Shape):
    value = StrictText(max_length=32_768, help_text="Text, at most 32,768 bytes.")


class NewGrant(Shape):
    skill = StrictText(max_length=200, help_text="`team/slug`.")
    version = StrictText(max_length=64, required=False, help_text="The latest when not said.")
    to = serializers.ChoiceField(choices=secrets.GRANTED_FOR, default="version")


class NeedDoc(Doc):
    name = serializers.CharField()
    is_set = serializers.BooleanField()
    granted = serializers.BooleanField()


class SecretNeedsDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    team = serializers.CharField()
    secrets = NeedDoc(many=True)
    hosts = serializers.ListField(child=serializers.CharField(), help_text="Where a run could carry them.")
    starts = serializers.ListField(
        child=serializers.CharField(),
        help_text="Skills that a run could hand them to; each has its hosts.",
    )
    reviewed_by = serializers.CharField(allow_null=True)
    reviewed_at = serializers.DateTimeField(allow_null=True)


class TeamQuery(Query):
    team = serializers.CharField(max_length=64, help_text="One of your teams: whose secrets, whose review.")


class Secrets(Endpoint):
    needs = {"GET": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="list_secrets",
        summary="List a team's secrets",
        tags=["secrets"],
        responses=SecretsDoc,
        examples=[examples.answers({"items": [_SECRET]})],
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """For its members, in a session: names, dates and what they are granted to."""
        document = secrets_document(catalog.find_team(team, self.actor), self.actor)
        return etags.document_response(request, document)


class SecretDetail(Endpoint):
    needs = {"PUT": _PERSON, "DELETE": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="put_secret",
        summary="Set a secret",
        tags=["secrets"],
        request=NewSecret,
        responses=SecretDoc,
        examples=[examples.asks({"value": "the-value"}), examples.answers({**_SECRET, "grants": []})],
    )
    def put(self, request: Request, team: str, name: str) -> HttpResponse:
        """For maintainers, in a session. A value that is there is replaced; its grants stay."""
        holder = catalog.find_team(team, self.actor)  # before the body is read: a stranger learns nothing
        asked = read_body(NewSecret, request.data)
        row = secrets.put_secret(holder, name, asked["value"], self.actor)
        grants = [grant_document(each) for each in secrets.grants_of(row.team).filter(secret=row)]
        return etags.document_response(request, secret_document(row, grants))

    @extend_schema(
        operation_id="remove_secret", summary="Remove a secret", tags=["secrets"], responses={204: None}
    )
    def delete(self, request: Request, team: str, name: str) -> HttpResponse:
        """For maintainers, in a session: its value and its grants go for good."""
        secrets.remove_secret(
            secrets.find_secret(catalog.find_team(team, self.actor), name, self.actor), self.actor
        )
        return HttpResponse(status=204)


class SecretGrants(Endpoint):
    needs = {"POST": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="grant_secret",
        summary="Grant a secret to a skill",
        tags=["secrets"],
        request=NewGrant,
        responses={201: GrantDoc},
        examples=[
            examples.asks({"skill": "docs/summarise", "version": "1.2.0"}),
            examples.answers(_GRANT, "201"),
        ],
    )
    def post(self, request: Request, team: str, name: str) -> HttpResponse:
        """For owners, in a session: to one digest, or to the versions that the team has reviewed."""

        def act() -> HttpResponse:
            secret = secrets.find_secret(catalog.find_team(team, self.actor), name, self.actor)
            asked = read_body(NewGrant, request.data)
            skill = catalog.find_skill(asked["skill"], self.actor)
            version = catalog.find_version(skill, asked.get("version"), self.actor)
            row = secrets.grant(secret, version, self.actor, to=asked["to"])
            return etags.document_response(request, grant_document(row), status=201)

        return once(request, request.data, act)


class SecretGrantDetail(Endpoint):
    needs = {"DELETE": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="revoke_secret",
        summary="Revoke a grant",
        tags=["secrets"],
        responses=GrantDoc,
        examples=[examples.answers({**_GRANT, "revoked_at": "2026-11-20T10:00:00.000000Z"})],
    )
    def delete(self, request: Request, team: str, uid: str) -> HttpResponse:
        """For maintainers, in a session: no run that begins later gets it."""
        row = secrets.revoke(uid, catalog.find_team(team, self.actor), self.actor)
        return etags.document_response(request, grant_document(row))


class VersionSecrets(Endpoint):
    needs = {"GET": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="read_version_secrets",
        summary="Which secrets a version needs",
        tags=["secrets"],
        parameters=[TeamQuery],
        responses=SecretNeedsDoc,
        examples=[examples.answers(_NEEDS)],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """How it stands with each in a team of yours, and the hosts to which a run could carry them."""
        version, holder = _of(request, self.actor, (team, slug, number))
        return etags.document_response(request, needs_document(version, holder))


class VersionReviewed(Endpoint):
    needs = {"PUT": _PERSON, "DELETE": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="review_version",
        summary="Vouch for a version",
        tags=["secrets"],
        parameters=[TeamQuery],
        request=None,
        responses=SecretNeedsDoc,
        examples=[examples.answers(_NEEDS)],
    )
    def put(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """In a session, for who approves for the team and did not publish it: the version was read."""
        version, holder = _of(request, self.actor, (team, slug, number))
        secrets.review(version, holder, self.actor)
        return etags.document_response(request, needs_document(version, holder))

    @extend_schema(
        operation_id="withdraw_review",
        summary="Take a review back",
        tags=["secrets"],
        parameters=[TeamQuery],
        responses={200: SecretNeedsDoc},
        examples=[examples.answers({**_NEEDS, "reviewed_by": None, "reviewed_at": None})],
    )
    def delete(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """What is granted to reviewed versions is not given to this one any more."""
        version, holder = _of(request, self.actor, (team, slug, number))
        secrets.withdraw_review(version, holder, self.actor)
        return etags.document_response(request, needs_document(version, holder))


def _of(request: Request, actor: Any, named: tuple[str, str, str]) -> tuple[Version, Team]:
    """The version, and the team of the actor's that is asked about; a stranger learns nothing by 400."""
    team, slug, number = named
    version = catalog.find_version(catalog.find_skill(f"{team}/{slug}", actor), number, actor)
    found = catalog.find_team(read_query(TeamQuery, request)["team"], actor)
    secrets.require_reader(found, actor)
    return version, found
