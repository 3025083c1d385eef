"""Endpoints that set and grant a team's secrets, and record the team's reviews of versions. No response
contains a value.
"""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Query, Shape, StrictText, read_body, read_query
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Team, Version
from registry.secrets import grants as secrets_grants
from registry.secrets import reviews, values
from registry.secrets.documents import grant_document, needs_document, secret_document, secrets_document

operation = Operations("secrets")
_PERSON = (Action.SEE,)  # tokens are refused later: the operations require a session


class SecretGrantDoc(Doc):
    id = serializers.CharField()
    secret = serializers.CharField()
    skill = serializers.CharField()
    scope = serializers.ChoiceField(
        choices=secrets_grants.GRANT_TARGETS,
        help_text="`version` grants to one digest, `reviewed` to all versions that the team has reviewed.",
    )
    version = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    hosts = serializers.ListField(
        child=serializers.CharField(), help_text="Hosts that the versions with this grant can reach."
    )
    granted_by = serializers.CharField(allow_null=True)
    granted_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)


class SecretDoc(Doc):
    name = serializers.CharField(help_text="The name of the environment variable.")
    team = serializers.CharField()
    set_by = serializers.CharField(allow_null=True)
    set_at = serializers.DateTimeField()
    grants = SecretGrantDoc(many=True)


class SecretsDoc(Doc):
    items = SecretDoc(many=True)


class SecretRequest(Shape):
    value = StrictText(max_length=32_768, help_text="The value: at most 32,768 bytes of text.")


class SecretGrantRequest(Shape):
    skill = StrictText(max_length=200, help_text="`team/slug`.")
    version = StrictText(
        max_length=64, required=False, help_text="The version to grant the secret to; default: latest."
    )
    scope = serializers.ChoiceField(choices=secrets_grants.GRANT_TARGETS, default="version")


class SecretNeedDoc(Doc):
    name = serializers.CharField()
    is_set = serializers.BooleanField()
    granted = serializers.BooleanField()


class SecretNeedsDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    team = serializers.CharField()
    secrets = SecretNeedDoc(many=True)
    hosts = serializers.ListField(
        child=serializers.CharField(), help_text="Hosts that a run of the version can reach."
    )
    child_skills = serializers.ListField(
        child=serializers.CharField(),
        help_text="Skills that a run can start and pass secrets to. Each skill has its own hosts.",
    )
    reviewed_by = serializers.CharField(allow_null=True)
    reviewed_at = serializers.DateTimeField(allow_null=True)


class TeamQuery(Query):
    team = serializers.CharField(
        max_length=64, help_text="The team whose secrets are used; one of your teams."
    )


class ReviewQuery(Query):
    team = serializers.CharField(
        max_length=64,
        help_text="The team that reviews the version, or withdraws its review; one of your teams.",
    )


class Secrets(Endpoint):
    required_actions = {"GET": _PERSON}
    requires_sign_in = True

    @operation("list_secrets", "List a team's secrets", answer=SecretsDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists the names, dates and grants of the team's secrets, never their values. Requires a session,
        and team membership or administrator rights.
        """
        document = secrets_document(skills.find_team(team, self.actor), self.actor)
        return etag.document_response(request, document)


class SecretDetail(Endpoint):
    required_actions = {"PUT": _PERSON, "DELETE": _PERSON}
    requires_sign_in = True

    @operation("set_secret", "Set a secret", body=SecretRequest, answer=SecretDoc)
    def put(self, request: Request, team: str, name: str) -> HttpResponse:
        """Sets the secret or replaces its value. Existing grants stay. Requires the maintainer role or
        administrator rights, and a session.
        """
        # before the body is validated, so that non-members get 404
        holder = skills.find_team(team, self.actor)
        body = read_body(SecretRequest, request.data)
        row = values.put_secret(holder, name, body["value"], self.actor)
        grants = [grant_document(each) for each in secrets_grants.grants_of(row.team).filter(secret=row)]
        return etag.document_response(request, secret_document(row, grants))

    @operation("remove_secret", "Remove a secret")
    def delete(self, request: Request, team: str, name: str) -> HttpResponse:
        """Permanently deletes the secret's value and its grants. Requires the maintainer role or
        administrator rights, and a session.
        """
        values.remove_secret(
            values.find_secret(skills.find_team(team, self.actor), name, self.actor), self.actor
        )
        return HttpResponse(status=204)


class SecretGrants(Endpoint):
    required_actions = {"POST": _PERSON}
    requires_sign_in = True

    @operation(
        "grant_secret", "Grant a secret to a skill", body=SecretGrantRequest, answer={201: SecretGrantDoc}
    )
    @idempotent()
    def post(self, request: Request, team: str, name: str) -> HttpResponse:
        """Grants the secret to one version, identified by its digest, or to all versions that the team has
        reviewed. Requires the owner role or administrator rights, and a session.
        """
        secret = values.find_secret(skills.find_team(team, self.actor), name, self.actor)
        body = read_body(SecretGrantRequest, request.data)
        skill = skills.find_skill(body["skill"], self.actor)
        version = skills.find_version(skill, body.get("version"), self.actor)
        row = secrets_grants.grant(secret, version, self.actor, to=body["scope"])
        return etag.document_response(request, grant_document(row), status=201)


class SecretGrantDetail(Endpoint):
    required_actions = {"DELETE": _PERSON}
    requires_sign_in = True

    @operation("revoke_secret", "Revoke a grant", answer=SecretGrantDoc)
    def delete(self, request: Request, team: str, uid: str) -> HttpResponse:
        """Revokes the grant. Later runs do not get the secret. Requires the maintainer role or
        administrator rights, and a session.
        """
        row = secrets_grants.revoke(uid, skills.find_team(team, self.actor), self.actor)
        return etag.document_response(request, grant_document(row))


class VersionSecrets(Endpoint):
    required_actions = {"GET": _PERSON}
    requires_sign_in = True

    @operation(
        "get_version_secrets", "List the secrets that a version needs", query=TeamQuery, answer=SecretNeedsDoc
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Returns, for each secret that the version declares, whether the team has set and granted it. Also
        returns the hosts to which a run could send secrets. Requires a session, and membership in the team
        or administrator rights.
        """
        version, holder = _find_version_and_team(request, self.actor, (team, slug, number))
        return etag.document_response(request, needs_document(version, holder))


class VersionReviewed(Endpoint):
    required_actions = {"PUT": _PERSON, "DELETE": _PERSON}
    requires_sign_in = True

    @operation("review_version", "Review a version for a team", query=ReviewQuery, answer=SecretNeedsDoc)
    def put(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Records that the team has reviewed the version. You can't review a version that you published.
        Requires the maintainer role in the team or administrator rights, and a session.
        """
        version, holder = _find_version_and_team(request, self.actor, (team, slug, number))
        reviews.review(version, holder, self.actor)
        return etag.document_response(request, needs_document(version, holder))

    @operation("withdraw_review", "Withdraw a review", query=ReviewQuery, answer=SecretNeedsDoc)
    def delete(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Withdraws the team's review. Secrets granted to reviewed versions are then no longer available to
        this version. Requires the maintainer role in the team or administrator rights, and a session.
        """
        version, holder = _find_version_and_team(request, self.actor, (team, slug, number))
        reviews.withdraw_review(version, holder, self.actor)
        return etag.document_response(request, needs_document(version, holder))


def _find_version_and_team(request: Request, actor: Any, named: tuple[str, str, str]) -> tuple[Version, Team]:
    """The version, and the team that the query names. Requires permission to read the team's secrets.

    Access to the version is checked before the query is read, so that a 404 does not depend on the query.
    """
    team, slug, number = named
    version = skills.find_version(skills.find_skill(f"{team}/{slug}", actor), number, actor)
    holder = skills.find_team(read_query(TeamQuery, request)["team"], actor)
    values.require_reader(holder, actor)
    return version, holder
