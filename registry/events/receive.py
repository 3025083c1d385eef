"""Receives events: stores each event once, and starts or proposes the skills that declare its type."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.core.hooks import Hook
from registry.core.sql import read
from registry.events import errors
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.listing.listed_skill import load_pins, pin_keys
from registry.lookup.skills import find_team, find_version
from registry.matching.match import priority_of
from registry.matching.pinned_skills import PinnedSkills
from registry.models import (
    Event,
    EventMatch,
    EventMode,
    EventOutcome,
    EventSubscription,
    Skill,
    Team,
    Trigger,
    TriggerKind,
    Version,
    WebhookEndpoint,
)
from registry.models.identity import new_uid
from registry.packages.problems import Refusal
from registry.usage import scores
from registry.versions.publishing.version_rows import serialize_problem

MAX_TYPE_CHARACTERS = 200
MAX_MATCHES = 50
EVENT_ID = re.compile(
    r"[\x21-\x2d\x2f-\x7e]{1,128}"
)  # printable ASCII without the period, which separates the signed parts
_MINUTE = timedelta(minutes=1)

run_starter: Hook[[Version, Event, Actor], str] = Hook()  # returns the uid of the run


@dataclass(frozen=True)
class IncomingEvent:
    """An event as sent: its type, its payload and the sender's id for it."""

    type: str
    payload: Any
    id: str = ""
    mode: str = EventMode.START  # PROPOSE starts no skill, whatever the subscriptions


@dataclass(frozen=True)
class ReceivedEvent:
    event: Event
    is_new: bool


def event_team(actor: Actor, named: str = "") -> Team:
    """The named team, or the actor's only team. Raises NOT_FOUND if the actor can't see the named team.
    Without a name, raises EVENT_TEAM_REQUIRED unless the actor has exactly one team.
    """
    if named:
        return find_team(named, actor)
    own = list(Team.objects.filter(pk__in=actor.team_ids).order_by("slug"))
    if len(own) != 1:
        raise errors.EVENT_TEAM_REQUIRED.refusal(teams=tuple(map(str, own)) or "-").at("team")
    return own[0]


def find_event(uid: str, actor: Actor) -> Event:
    found = events(actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="event", name=uid[:80])
    return found


def events(actor: Actor) -> QuerySet[Event]:
    return Event.objects.visible_to(actor).select_related("team", "sender", "webhook")


def receive(
    incoming: IncomingEvent, actor: Actor, *, team: Team, webhook: WebhookEndpoint | None = None
) -> ReceivedEvent:
    """Stores the event and starts or proposes the skills that declare its type. For a known id, returns the
    stored event.

    Raises the refusals of ``require``, and EVENT_ID_INVALID, EVENT_PAYLOAD_INVALID, EVENT_TOO_LARGE or
    TEXT_INVALID for the content. Raises EVENTS_TOO_MANY above the sender's rate. For a known id, raises
    WEBHOOK_DELIVERY_REPEATED for a webhook, and EVENT_ID_REUSED if the content differs.
    """
    require(actor, Action.RUN, team=team)
    event = _build_event(incoming, actor, team, webhook)
    if earlier := _find_earlier(event):
        return earlier
    _check_rate(event.origin)
    try:
        with transaction.atomic():
            event.save()
            _match_skills(event, actor, incoming.mode)
    except IntegrityError:
        if earlier := _find_earlier(event):
            return earlier
        raise
    return ReceivedEvent(event, True)


def record(type_: str, payload: Mapping[str, Any], team: Team, *, origin: str) -> Event:
    """Stores an event that the site itself sends to the team. The event starts no skill and proposes none."""
    uid = new_uid()
    return Event.objects.create(
        uid=uid,
        team=team,
        type=type_,
        payload=dict(payload),
        origin=origin,
        external_id=uid,
        received_at=timezone.now(),
    )


def start_proposed_skill(event: Event, skill: Skill, actor: Actor) -> EventMatch:
    """Starts a proposed or refused skill in the actor's name. Raises EVENT_NOT_PROPOSED for other skills, and
    the refusals of the permission check, the version look-up and the start.
    """
    require(actor, Action.RUN, team=event.team)
    with transaction.atomic():
        rows = EventMatch.objects.visible_to(actor).select_for_update(of=("self",))
        match = rows.filter(event=event, skill=skill).first()
        if match is None or match.outcome == EventOutcome.STARTED:
            raise errors.EVENT_NOT_PROPOSED.refusal(skill=str(skill))
        version = find_version(skill, None, actor)
        match.run_uid = _start(version, event, actor)
        match.version_number, match.outcome, match.problems = version.number, EventOutcome.STARTED, []
        match.save()
    return match


def delete_expired_events() -> int:
    """Deletes events past the retention time. Returns the number of deleted rows, including their matches."""
    until = timezone.now() - timedelta(days=settings.SKILLQUAY_EVENT_DAYS)
    return Event.objects.filter(received_at__lt=until).delete()[0]


def _build_event(incoming: IncomingEvent, actor: Actor, team: Team, webhook: WebhookEndpoint | None) -> Event:
    if incoming.id and not EVENT_ID.fullmatch(incoming.id):
        raise errors.EVENT_ID_INVALID.refusal().at("id")
    if not isinstance(incoming.payload, dict):
        raise errors.EVENT_PAYLOAD_INVALID.refusal(reason="it is not a JSON object").at("payload")
    size = len(json.dumps(incoming.payload, ensure_ascii=False).encode())
    if size > settings.SKILLQUAY_MAX_EVENT_BYTES:
        raise errors.EVENT_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_EVENT_BYTES).at("payload")
    uid = new_uid()
    return Event(
        uid=uid,
        team=team,
        type=text.validated(incoming.type, field="type", max_length=MAX_TYPE_CHARACTERS),
        payload=incoming.payload,
        origin=f"hook:{webhook.uid}" if webhook else actor.caller,
        external_id=incoming.id or uid,
        sender=None if webhook else actor.user,
        webhook=webhook,
        received_at=timezone.now(),
    )


def _find_earlier(event: Event) -> ReceivedEvent | None:
    """The stored event of this origin and id, or None. For a stored event, raises WEBHOOK_DELIVERY_REPEATED
    for a webhook, and EVENT_ID_REUSED if the content differs.
    """
    rows = Event.objects.select_related("team", "sender", "webhook")
    same = rows.filter(origin=event.origin, external_id=event.external_id).first()
    if same is None:
        return None
    if event.webhook:
        raise errors.WEBHOOK_DELIVERY_REPEATED.refusal(id=event.external_id)
    if (same.team_id, same.type, same.payload) != (event.team_id, event.type, event.payload):
        raise errors.EVENT_ID_REUSED.refusal(id=event.external_id).at("id")
    return ReceivedEvent(same, False)


def _check_rate(origin: str) -> None:
    if is_above_rate(origin):
        raise errors.EVENTS_TOO_MANY.refusal(limit=settings.SKILLQUAY_EVENTS_PER_MINUTE)


def is_above_rate(origin: str) -> bool:
    """Whether the origin has sent as many events in the last minute as the site allows."""
    recent = Event.objects.filter(origin=origin, received_at__gt=timezone.now() - _MINUTE)
    return recent.count() >= settings.SKILLQUAY_EVENTS_PER_MINUTE


def _match_skills(event: Event, actor: Actor, mode: str) -> None:
    """Saves a match for each skill that declares the type. Starts those to which the team has subscribed with
    the mode START, unless ``mode`` is PROPOSE; proposes the others.
    """
    subscriptions = EventSubscription.objects.filter(
        team=event.team, event_type=event.type, mode=EventMode.START
    )
    started = set(subscriptions.values_list("skill_id", flat=True)) if mode == EventMode.START else set()
    ranked = enumerate(_declaring_skills(event.type, actor))
    # Each start locks the skill's run counter. Events that lock them in different orders could deadlock.
    for rank, skill in sorted(ranked, key=lambda each: each[1].pk):
        match = EventMatch(event=event, skill=skill, rank=rank, outcome=EventOutcome.PROPOSED)
        version = skill.resolved_canonical.version if skill.resolved_canonical else skill.latest
        match.version_number = version.number if version else ""
        if skill.pk in started:
            _try_start(match, skill, actor)
        match.save()


def _declaring_skills(type_: str, actor: Actor) -> Sequence[Skill]:
    """Skills recommendable to the actor that declare the type, sorted by priority, then by usage score; at
    most ``MAX_MATCHES``.
    """
    pinned = PinnedSkills(pin_keys(actor))
    accepted = {skill for skill, *_ in read(pinned.triggers([type_], [TriggerKind.EVENT]))}
    declaring = Trigger.objects.filter(kind=TriggerKind.EVENT, key=type_).exclude(skill__in=pinned.keys)
    condition = Q(pk__in=declaring.values("skill")) | Q(pk__in=accepted)
    found = Skill.objects.recommendable_to(actor).filter(condition)
    now = timezone.now()

    def rank(skill: Skill) -> tuple[float, float, int]:
        return -priority_of(skill), -scores.score(skill.usage_count, skill.last_used_at, now), skill.pk

    skills = list(found.select_related("team", "latest"))
    resolved_canonical = load_pins(pinned.keys, (skill.pk for skill in skills))
    for skill in skills:
        skill.resolved_canonical = resolved_canonical.get(skill.pk)
    return sorted(skills, key=rank)[:MAX_MATCHES]


def _try_start(match: EventMatch, skill: Skill, actor: Actor) -> None:
    try:
        with transaction.atomic():
            match.run_uid = _start(find_version(skill, None, actor), match.event, actor)
        match.outcome = EventOutcome.STARTED
    except Refusal as refused:
        match.outcome = EventOutcome.REFUSED
        match.problems = [serialize_problem(each) for each in refused.problems]


def _start(version: Version, event: Event, actor: Actor) -> str:
    if not run_starter.receivers:
        raise errors.EVENTS_UNAVAILABLE.refusal()
    return run_starter.send(version, event, actor)[0]
