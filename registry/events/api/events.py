from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.results import ReasonDoc
from registry.api.documents.skills import AddressField, Doc, ProblemDoc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.events import receive as receiving
from registry.events import subscriptions as subscribing
from registry.events.documents import match_problems, may_read_payload, visible_matches
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Event, EventMatch, EventMode, EventOutcome
from registry.rates.limits import RateLimit

operation = Operations("events")


class EventRequest(Shape):
    type = StrictText(
        max_length=200, help_text="The event type; skills declare it in `triggers.event_types`."
    )
    payload = serializers.JSONField(default=dict, help_text="The payload, a JSON object.")
    id = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=200,
        help_text="Your own id for the event. Sending the same event with the same id again returns the "
        "stored event.",
    )
    mode = serializers.ChoiceField(
        default=EventMode.START.value,
        choices=EventMode.values,
        help_text="`propose` only proposes skills, even if the team's subscriptions would start them.",
    )
    team = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=64,
        help_text="The team that receives the event; required unless you belong to exactly one team.",
    )


class EventsQuery(PageQuery):
    team = serializers.CharField(required=False, max_length=64)
    type = serializers.CharField(required=False, max_length=200)


class EventSummaryDoc(Doc):
    id = serializers.CharField(source="uid")
    external_id = serializers.CharField(help_text="The sender's id for the event.")
    team = serializers.CharField(source="team.slug")
    type = serializers.CharField()
    received_at = serializers.DateTimeField()
    sender = serializers.CharField(source="sender.username", allow_null=True)
    webhook = serializers.CharField(
        source="webhook.name", allow_null=True, help_text="The name of the webhook that received the event."
    )
    url = AddressField("/api/v1/events/{0.uid}")
    page_url = AddressField("/events/{0.uid}/")


class EventMatchDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    outcome = serializers.ChoiceField(choices=EventOutcome.values)
    run = serializers.CharField(allow_null=True)
    run_url = serializers.URLField(allow_null=True)
    reasons = ReasonDoc(many=True)
    problems = ProblemDoc(many=True, help_text="Problems that kept the skill from starting.")


class EventDoc(EventSummaryDoc):
    payload = serializers.DictField(
        allow_null=True, help_text="The payload; null unless you may run skills for the team."
    )
    matches = EventMatchDoc(many=True, help_text="Skills that declare the type, best rank first.")


class EventStartRequest(Shape):
    skill = StrictText(
        max_length=130, help_text="`team/slug` of a proposed skill, or of a skill that could not be started."
    )


class EventSubscriptionRequest(Shape):
    team = StrictText(max_length=64)
    skill = StrictText(max_length=130, help_text="`team/slug`.")
    event_type = StrictText(max_length=200, help_text="An event type that the skill declares.")
    mode = serializers.ChoiceField(default=EventMode.START.value, choices=EventMode.values)


class EventSubscriptionDoc(Doc):
    id = serializers.CharField(source="uid")
    team = serializers.CharField(source="team.slug")
    skill = serializers.CharField()
    event_type = serializers.CharField()
    mode = serializers.ChoiceField(choices=EventMode.values)
    set_by = serializers.CharField(source="set_by.username", allow_null=True)
    set_at = serializers.DateTimeField()


class Events(Endpoint):
    required_actions = {"GET": (Action.SEE,), "POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}
    requires_sign_in = True

    @operation(
        "list_events", "List the events of your teams", query=EventsQuery, answer=page_schema(EventSummaryDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the events of your teams (for administrators, of all teams), newest first, without their
        matches.
        """
        query = read_query(EventsQuery, request)
        rows = receiving.events(self.actor)
        if "team" in query:
            rows = rows.filter(team__slug=query["team"])
        if "type" in query:
            rows = rows.filter(type=query["type"])
        found, cursor = pagination.newest_first(rows, pagination.read_page("events", query, kinds=(str,)))
        return etag.document_response(request, page_document([*map(EventSummaryDoc.document, found)], cursor))

    @operation("send_event", "Send an event", body=EventRequest, answer={201: EventDoc, 200: EventDoc})
    @idempotent(EventRequest)
    def post(self, request: Request) -> HttpResponse:
        """Receives an event. Starts the skills that declare its type and to which the team has subscribed
        with the mode `start`, unless the event's mode is `propose`. Proposes the other skills that declare
        the type. Returns 200 with the stored event if its id is already known.
        """
        body = read_body(EventRequest, request.data)
        incoming = receiving.IncomingEvent(body["type"], body["payload"], body["id"], body["mode"])
        received = receiving.receive(
            incoming, self.actor, team=receiving.event_team(self.actor, body["team"])
        )
        document = event_document(received.event, self.actor)
        response = etag.document_response(request, document, status=201 if received.is_new else 200)
        response["Location"] = api_url("events", received.event.uid)
        return response


class EventDetail(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    requires_sign_in = True

    @operation("get_event", "Get an event", answer=EventDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the event with its matches: the runs that it started, the skills that it proposes, and the
        refused skills with the reason.
        """
        return etag.document_response(
            request, event_document(receiving.find_event(uid, self.actor), self.actor)
        )


class EventStarts(Endpoint):
    required_actions = {"POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}
    requires_sign_in = True

    @operation("start_proposed_skill", "Start a proposed skill", body=EventStartRequest, answer=EventDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Starts a proposed skill in your name, with the event's payload as input."""
        event = receiving.find_event(uid, self.actor)
        body = read_body(EventStartRequest, request.data)
        receiving.start_proposed_skill(event, skills.find_skill(body["skill"], self.actor), self.actor)
        return etag.document_response(request, event_document(event, self.actor))


class EventSubscriptions(Endpoint):
    # Tokens are refused later: the operations require a session.
    required_actions = {"GET": (Action.SEE,), "POST": (Action.SEE,)}
    requires_sign_in = True

    @operation(
        "list_event_subscriptions",
        "List event subscriptions",
        query=PageQuery,
        answer=page_schema(EventSubscriptionDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the subscriptions of your teams (for administrators, of all teams) to skills that you can
        see, newest first.
        """
        page = pagination.read_page("event-subscriptions", read_query(PageQuery, request), kinds=(str,))
        found, cursor = pagination.newest_first(subscribing.subscriptions(self.actor), page)
        return etag.document_response(
            request, page_document([*map(EventSubscriptionDoc.document, found)], cursor)
        )

    @operation(
        "set_event_subscription",
        "Set an event subscription",
        body=EventSubscriptionRequest,
        answer=EventSubscriptionDoc,
    )
    @idempotent(EventSubscriptionRequest)
    def post(self, request: Request) -> HttpResponse:
        """Sets the mode of the subscription: whether events start the skill or only propose it. Repeat the
        request to change the mode. Requires a session, and the maintainer role or administrator rights.
        """
        body = read_body(EventSubscriptionRequest, request.data)
        team = skills.find_team(body["team"], self.actor)
        skill = skills.find_skill(body["skill"], self.actor)
        subscription = subscribing.subscribe(team, skill, body["event_type"], body["mode"], actor=self.actor)
        return etag.document_response(request, EventSubscriptionDoc.document(subscription))


class EventSubscriptionDetail(Endpoint):
    required_actions = {"DELETE": (Action.SEE,)}
    requires_sign_in = True

    @operation("delete_event_subscription", "Delete an event subscription")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the subscription. Events of this type then only propose the skill. Requires a session, and
        the maintainer role or administrator rights.
        """
        subscribing.unsubscribe(subscribing.find_subscription(uid, self.actor), self.actor)
        return etag.set_private(HttpResponse(status=204))


def event_document(event: Event, actor: Actor) -> dict[str, Any]:
    """The API document of the event, with the matches visible to the actor. ``payload`` is None unless the
    actor may run skills for the team.
    """
    matches = visible_matches(event, actor)
    return {
        **EventSummaryDoc.document(event),
        "payload": event.payload if may_read_payload(event, actor) else None,
        "matches": [_match(each) for each in matches],
    }


def _match(found: EventMatch) -> dict[str, Any]:
    type_ = found.event.type
    return {
        "skill": str(found.skill),
        "version": found.version_number,
        "outcome": found.outcome,
        "run": found.run_uid or None,
        "run_url": api_url("runs", found.run_uid) if found.run_uid else None,
        "reasons": [
            {"kind": "event", "field": "event_types", "text": type_, "start": 0, "end": 0, "share": 1.0}
        ],
        "problems": match_problems(found),
    }
