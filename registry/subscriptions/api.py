"""Endpoints of subscriptions to other teams, and of bundled skills."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, SkillDetailDoc, skill_detail
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Subscription, Team
from registry.subscriptions import trusted_teams as subscriptions

operation = Operations("agents")


class SubscriptionRequest(Shape):
    team = StrictText(max_length=64, help_text="The team to subscribe to.")


class SubscriptionDoc(Doc):
    team = serializers.CharField()
    created_at = serializers.DateTimeField()


class SubscriptionsDoc(Doc):
    subscriptions = SubscriptionDoc(many=True)


class Subscriptions(Endpoint):
    required_actions = {"GET": (Action.SEE,), "POST": (Action.SETTINGS,)}
    requires_sign_in = True

    @operation("list_subscriptions", "List a team's subscriptions", answer=SubscriptionsDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists the teams that this team is subscribed to; their skills are recommended to its agents.
        Requires team membership or administrator rights.
        """
        return self._respond(request, skills.find_team(team, self.actor))

    @operation("subscribe", "Subscribe to another team", body=SubscriptionRequest, answer=SubscriptionsDoc)
    @idempotent()
    def post(self, request: Request, team: str) -> HttpResponse:
        """Subscribes the team to another team. The other team's skills then appear in the agent listing and
        in matches, and agents can load them by bare name. Requires the maintainer role.
        """
        found = skills.find_team(team, self.actor)
        subscriptions.subscribe(found, read_body(SubscriptionRequest, request.data)["team"], self.actor)
        return self._respond(request, found)

    def _respond(self, request: Request, team: Team) -> HttpResponse:
        rows = subscriptions.list_subscriptions(team, self.actor)
        return etag.document_response(request, {"subscriptions": [_document(row) for row in rows]})


class SubscriptionDetail(Endpoint):
    required_actions = {"DELETE": (Action.SETTINGS,)}

    @operation("unsubscribe", "Unsubscribe from a team")
    def delete(self, request: Request, team: str, name: str) -> HttpResponse:
        """Ends the subscription. The other team's skills are then available only as `team/slug`. Requires the
        maintainer role.
        """
        subscriptions.unsubscribe(skills.find_team(team, self.actor), name, self.actor)
        return HttpResponse(status=204)


class Bundling(Endpoint):
    # set_bundled refuses tokens and actors that are not administrators.
    required_actions = {"POST": (Action.SEE,), "DELETE": (Action.SEE,)}

    @operation("bundle_skill", "Bundle a skill", answer=SkillDetailDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Bundles the skill: the agent listing shows it with its full description to every user who can see
        it. Requires administrator rights and a session.
        """
        return self._set(request, f"{team}/{slug}", is_bundled=True)

    @operation("unbundle_skill", "Unbundle a skill", answer=SkillDetailDoc)
    def delete(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Unbundles the skill: the agent listing can then shorten its description or omit it. Requires
        administrator rights and a session.
        """
        return self._set(request, f"{team}/{slug}", is_bundled=False)

    def _set(self, request: Request, label: str, *, is_bundled: bool) -> HttpResponse:
        skill = skills.find_skill(label, self.actor)
        subscriptions.set_bundled(skill, is_bundled, self.actor)
        return etag.document_response(request, skill_detail(skill, self.actor))


def _document(row: Subscription) -> dict[str, Any]:
    return {"team": row.publisher.slug, "created_at": rfc3339(row.created_at)}
