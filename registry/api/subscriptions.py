"""Whose skills a team's agents are offered besides its own, and what administrators offer to everybody."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, subscriptions
from registry.api import etags, examples
from registry.api.documents import Doc, SkillDetailDoc, skill_detail
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictText, read_body
from registry.models import Subscription, Team
from registry.moments import moment
from registry.permissions import Action

_EXAMPLE = {"team": "design", "since": "2026-11-20T09:30:00.000000Z"}


class SubscriptionBody(Shape):
    team = StrictText(max_length=64, help_text="Whose skills, that you may see, are offered from now on.")


class SubscriptionDoc(Doc):
    team = serializers.CharField()
    since = serializers.DateTimeField()


class SubscriptionsDoc(Doc):
    subscriptions = SubscriptionDoc(many=True)


class Subscriptions(Endpoint):
    needs = {"GET": (Action.SEE,), "POST": (Action.SETTINGS,)}
    signed_in = True

    @extend_schema(
        operation_id="list_subscriptions",
        summary="List the teams that a team subscribes to",
        tags=["agents"],
        responses=SubscriptionsDoc,
        examples=[examples.answers({"subscriptions": [_EXAMPLE]})],
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """For members: whose skills the team's agents are offered besides its own."""
        return self._told(request, catalog.find_team(team, self.actor))

    @extend_schema(
        operation_id="subscribe",
        summary="Subscribe to another team",
        tags=["agents"],
        request=SubscriptionBody,
        responses=SubscriptionsDoc,
        examples=[
            examples.asks({"team": "design"}),
            examples.answers({"subscriptions": [_EXAMPLE]}),
        ],
    )
    def post(self, request: Request, team: str) -> HttpResponse:
        """For maintainers. Listings, matches and loading by name reach that team's skills from now on."""

        def act() -> HttpResponse:
            found = catalog.find_team(team, self.actor)
            subscriptions.subscribe(found, read_body(SubscriptionBody, request.data)["team"], self.actor)
            return self._told(request, found)

        return once(request, request.data, act)

    def _told(self, request: Request, team: Team) -> HttpResponse:
        rows = subscriptions.subscriptions_of(team, self.actor)
        return etags.document_response(request, {"subscriptions": [_document(row) for row in rows]})


class SubscriptionDetail(Endpoint):
    needs = {"DELETE": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="unsubscribe",
        summary="Take a subscription back",
        tags=["agents"],
        responses={204: None},
    )
    def delete(self, request: Request, team: str, name: str) -> HttpResponse:
        """For maintainers. Its skills are reached as team/slug alone."""
        subscriptions.unsubscribe(catalog.find_team(team, self.actor), name, self.actor)
        return HttpResponse(status=204)


class Bundling(Endpoint):
    needs = {"POST": (Action.SEE,), "DELETE": (Action.SEE,)}  # the verb asks for an administrator in person

    @extend_schema(
        operation_id="bundle_skill",
        summary="Offer a skill to everybody's agents",
        tags=["agents"],
        request=None,
        responses=SkillDetailDoc,
        examples=[examples.answers(examples.SKILL_DETAIL)],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For administrators, in a session. It is in the listing of everybody who may see it, never cut."""
        return once(request, request.data, lambda: self._set(request, f"{team}/{slug}", is_bundled=True))

    @extend_schema(
        operation_id="unbundle_skill",
        summary="Offer a skill to everybody's agents no more",
        tags=["agents"],
        responses={200: SkillDetailDoc},
        examples=[examples.answers(examples.SKILL_DETAIL)],
    )
    def delete(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For administrators, in a session."""
        return self._set(request, f"{team}/{slug}", is_bundled=False)

    def _set(self, request: Request, label: str, *, is_bundled: bool) -> HttpResponse:
        skill = catalog.find_skill(label, self.actor)
        subscriptions.set_bundled(skill, is_bundled, self.actor)
        return etags.document_response(request, skill_detail(skill, self.actor))


def _document(row: Subscription) -> dict[str, Any]:
    return {"team": row.publisher.slug, "since": moment(row.created_at)}
