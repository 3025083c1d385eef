"""Events: told, listed, read, and started where they were only proposed; what a team lets them start."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog
from registry.api import cursors, etags, examples
from registry.api.documents import Doc, ProblemDoc, api_address, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.finding import ReasonDoc
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictText, read_body, read_query
from registry.events import receiving, subscribing
from registry.events.documents import event_document, event_summary
from registry.models import EventMode, EventOutcome, EventSubscription
from registry.moments import moment
from registry.permissions import Action

_HOST = "https://skills.example"
_UID = "01kajq3s5d8m6v9x2c4b7n1p30"
_SUMMARY = {
    "id": _UID,
    "event_id": "evt_7",
    "team": "docs",
    "type": "report.filed",
    "received_at": "2026-11-20T09:30:00.000000Z",
    "sender": "alice",
    "webhook": None,
    "url": f"{_HOST}/api/v1/events/{_UID}",
    "page": f"{_HOST}/events/{_UID}/",
}
_EXAMPLE = {
    **_SUMMARY,
    "payload": {"title": "Week 47"},
    "matches": [
        {
            "skill": "docs/summarise",
            "version": "1.2.0",
            "outcome": "proposed",
            "run": None,
            "run_url": None,
            "reasons": [
                {
                    "kind": "event",
                    "field": "event_types",
                    "text": "report.filed",
                    "start": 0,
                    "end": 0,
                    "share": 1.0,
                }
            ],
            "problems": [],
        }
    ],
}
_SUBSCRIPTION = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p31",
    "team": "docs",
    "skill": "docs/summarise",
    "event_type": "report.filed",
    "mode": "start",
    "set_by": "alice",
    "set_at": "2026-11-20T09:30:00.000000Z",
}


class EventRequest(Shape):
    type = StrictText(max_length=200, help_text="As skills name it in `triggers.event_types`.")
    payload = serializers.JSONField(default=dict, help_text="An object.")
    id = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=200,
        help_text="Yours for this event: sent again, it is answered as the first time.",
    )
    mode = serializers.ChoiceField(
        default=EventMode.START.value,
        choices=EventMode.values,
        help_text="`propose` starts nothing, whatever the team has said.",
    )
    team = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=64,
        help_text="Where you have several.",
    )


class EventsQuery(PageQuery):
    team = serializers.CharField(required=False, max_length=64)
    type = serializers.CharField(required=False, max_length=200)


class EventSummaryDoc(Doc):
    id = serializers.CharField()
    event_id = serializers.CharField(help_text="By which its sender knows it.")
    team = serializers.CharField()
    type = serializers.CharField()
    received_at = serializers.DateTimeField()
    sender = serializers.CharField(allow_null=True)
    webhook = serializers.CharField(allow_null=True, help_text="The endpoint that it came by.")
    url = serializers.URLField()
    page = serializers.URLField()


class EventMatchDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    outcome = serializers.ChoiceField(choices=EventOutcome.values)
    run = serializers.CharField(allow_null=True)
    run_url = serializers.URLField(allow_null=True)
    reasons = ReasonDoc(many=True)
    problems = ProblemDoc(many=True, help_text="Why it was not started.")


class EventDoc(EventSummaryDoc):
    payload = serializers.DictField(allow_null=True, help_text="For those who may run skills for the team.")
    matches = EventMatchDoc(many=True, help_text="Skills that declare the type, the first first.")


class EventStart(Shape):
    skill = StrictText(max_length=130, help_text="`team/slug`, one of those that are proposed.")


class EventSubscriptionRequest(Shape):
    team = StrictText(max_length=64)
    skill = StrictText(max_length=130, help_text="`team/slug`")
    event_type = StrictText(max_length=200, help_text="One that the skill declares.")
    mode = serializers.ChoiceField(default=EventMode.START.value, choices=EventMode.values)


class EventSubscriptionDoc(Doc):
    id = serializers.CharField()
    team = serializers.CharField()
    skill = serializers.CharField()
    event_type = serializers.CharField()
    mode = serializers.ChoiceField(choices=EventMode.values)
    set_by = serializers.CharField(allow_null=True)
    set_at = serializers.DateTimeField()


class Events(Endpoint):
    needs = {"GET": (Action.SEE,), "POST": (Action.RUN,)}
    signed_in = True

    @extend_schema(
        operation_id="list_events",
        summary="List the events of your teams",
        tags=["events"],
        parameters=[EventsQuery],
        responses=page_shape(EventSummaryDoc),
        examples=[examples.answers(examples.page(_SUMMARY))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The newest first, without what they met."""
        query = read_query(EventsQuery, request)
        rows = receiving.events(self.actor)
        if "team" in query:
            rows = rows.filter(team__slug=query["team"])
        if "type" in query:
            rows = rows.filter(type=query["type"])
        found, cursor = cursors.newest_first(rows, cursors.page_of("events", query, kinds=(str,)))
        return etags.document_response(request, page_document([*map(event_summary, found)], cursor))

    @extend_schema(
        operation_id="send_event",
        summary="Tell an event",
        tags=["events"],
        request=EventRequest,
        responses={201: EventDoc, 200: EventDoc},
        examples=[
            examples.asks({"type": "report.filed", "payload": {"title": "Week 47"}, "id": "evt_7"}),
            examples.answers(_EXAMPLE, "200", "201"),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """The skills in your reach that declare the type are started where the team has said so, and
        proposed otherwise. 200 with the same event where its id is known already."""
        asked = read_body(EventRequest, request.data)

        def act() -> HttpResponse:
            told = receiving.Happening(asked["type"], asked["payload"], asked["id"], asked["mode"])
            done = receiving.receive(told, self.actor, team=receiving.team_of(self.actor, asked["team"]))
            document = event_document(done.event, self.actor)
            response = etags.document_response(request, document, status=201 if done.is_new else 200)
            response["Location"] = api_address("events", done.event.uid)
            return response

        return once(request, asked, act)


class EventDetail(Endpoint):
    needs = {"GET": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="get_event",
        summary="Read one event",
        tags=["events"],
        responses=EventDoc,
        examples=[examples.answers(_EXAMPLE)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """With what it met: started runs, proposals, and why something was not started."""
        return etags.document_response(request, event_document(receiving.find(uid, self.actor), self.actor))


class EventStarts(Endpoint):
    needs = {"POST": (Action.RUN,)}
    signed_in = True

    @extend_schema(
        operation_id="start_proposed_skill",
        summary="Start a skill that an event proposed",
        tags=["events"],
        request=EventStart,
        responses=EventDoc,
        examples=[examples.asks({"skill": "docs/summarise"}), examples.answers(_EXAMPLE)],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """In your name, with the event's payload as its input."""
        event = receiving.find(uid, self.actor)
        asked = read_body(EventStart, request.data)

        def act() -> HttpResponse:
            receiving.start(event, catalog.find_skill(asked["skill"], self.actor), self.actor)
            return etags.document_response(request, event_document(event, self.actor))

        return once(request, asked, act)


class EventSubscriptions(Endpoint):
    needs = {"GET": (Action.SEE,), "POST": (Action.SEE,)}  # no token reaches further: the person says it
    signed_in = True

    @extend_schema(
        operation_id="list_event_subscriptions",
        summary="What your teams let events start",
        tags=["events"],
        parameters=[PageQuery],
        responses=page_shape(EventSubscriptionDoc),
        examples=[examples.answers(examples.page(_SUBSCRIPTION))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The latest first."""
        page = cursors.page_of("event-subscriptions", read_query(PageQuery, request), kinds=(str,))
        found, cursor = cursors.newest_first(subscribing.subscriptions(self.actor), page)
        return etags.document_response(request, page_document([*map(_subscription, found)], cursor))

    @extend_schema(
        operation_id="set_event_subscription",
        summary="Let an event start a skill",
        tags=["events"],
        request=EventSubscriptionRequest,
        responses=EventSubscriptionDoc,
        examples=[
            examples.asks({"team": "docs", "skill": "docs/summarise", "event_type": "report.filed"}),
            examples.answers(_SUBSCRIPTION),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """For maintainers of the team, in a session. Said again, it changes the mode."""
        asked = read_body(EventSubscriptionRequest, request.data)

        def act() -> HttpResponse:
            team = catalog.find_team(asked["team"], self.actor)
            skill = catalog.find_skill(asked["skill"], self.actor)
            kept = subscribing.subscribe(team, skill, asked["event_type"], asked["mode"], actor=self.actor)
            return etags.document_response(request, _subscription(kept))

        return once(request, asked, act)


class EventSubscriptionDetail(Endpoint):
    needs = {"DELETE": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="delete_event_subscription",
        summary="Let an event start a skill no more",
        tags=["events"],
        responses={204: None},
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """For maintainers of the team, in a session; the skill is proposed from now on."""
        subscribing.unsubscribe(subscribing.find(uid, self.actor), self.actor)
        return etags.private(HttpResponse(status=204))


def _subscription(row: EventSubscription) -> dict[str, Any]:
    return {
        "id": row.uid,
        "team": row.team.slug,
        "skill": str(row.skill),
        "event_type": row.event_type,
        "mode": row.mode,
        "set_by": row.set_by.username if row.set_by else None,
        "set_at": moment(row.set_at),
    }
