"""An event comes in: kept once, met by the skills that declare its type, each of them started or proposed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry import texts, usage
from registry.actors import Actor
from registry.catalog import find_team, find_version
from registry.listing.offering import pinned_rows, pinned_to
from registry.matching import priority_of
from registry.matching.pinned import Pinned
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
from registry.packages.problems import Refused, refuse
from registry.permissions import Action, require
from registry.publishing.rows import problem_row

LONGEST_TYPE = 200
MOST_MATCHES = 50
ID = re.compile(r"[\x21-\x2d\x2f-\x7e]{1,128}")  # printable, no full stop: it ends where a signature says
_MINUTE = timedelta(minutes=1)

Starter = Callable[[Version, Event, Actor], str]
_starters: list[Starter] = []


@dataclass(frozen=True)
class Happening:
    """What a sender tells: its type, what it is about, by which id it is known there."""

    type: str
    payload: Any
    id: str = ""
    mode: str = EventMode.START  # PROPOSE starts nothing, whatever the team has said


@dataclass(frozen=True)
class Received:
    event: Event
    is_new: bool


def register_starter(start: Starter) -> None:
    """Names what starts a version for an event and answers the run's uid; called once, by the floor above."""
    if start not in _starters:
        _starters.append(start)


def team_of(actor: Actor, named: str = "") -> Team:
    """Whose event it is: the team that is named, else the actor's only one."""
    if named:
        return find_team(named, actor)
    own = list(Team.objects.filter(pk__in=actor.team_ids).order_by("slug"))
    if len(own) != 1:
        raise refuse("EVENT_TEAM_REQUIRED", path="team", teams=", ".join(map(str, own)) or "-")
    return own[0]


def find(uid: str, actor: Actor) -> Event:
    found = events(actor).filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="event", name=uid[:80])
    return found


def events(actor: Actor) -> QuerySet[Event]:
    return Event.objects.visible_to(actor).select_related("team", "sender", "webhook")


def receive(told: Happening, actor: Actor, *, team: Team, webhook: WebhookEndpoint | None = None) -> Received:
    """Keeps the event and lets skills meet it; one that is sent again under its id is the same event."""
    require(actor, Action.RUN, team=team)
    event = _checked(told, actor, team, webhook)
    if earlier := _earlier(event):
        return earlier
    _check_rate(event.origin)
    try:
        with transaction.atomic():
            event.save()
            _meet(event, actor, told.mode)
    except IntegrityError:
        if earlier := _earlier(event):
            return earlier
        raise
    return Received(event, True)


def start(event: Event, skill: Skill, actor: Actor) -> EventMatch:
    """Starts a skill that was proposed, in the actor's name; refused where there is nothing left to start."""
    require(actor, Action.RUN, team=event.team)
    with transaction.atomic():
        rows = EventMatch.objects.visible_to(actor).select_for_update(of=("self",))
        match = rows.filter(event=event, skill=skill).first()
        if match is None or match.outcome == EventOutcome.STARTED:
            raise refuse("EVENT_NOT_PROPOSED", skill=str(skill))
        version = find_version(skill, None, actor)
        match.run_uid = _start(version, event, actor)
        match.version_number, match.outcome, match.problems = version.number, EventOutcome.STARTED, []
        match.save()
    return match


def sweep() -> int:
    """Forgets events that are older than the site keeps them."""
    until = timezone.now() - timedelta(days=settings.SKILLQUAY_EVENT_DAYS)
    return Event.objects.filter(received_at__lt=until).delete()[0]


def _checked(told: Happening, actor: Actor, team: Team, webhook: WebhookEndpoint | None) -> Event:
    if told.id and not ID.fullmatch(told.id):
        raise refuse("EVENT_ID_INVALID", path="id")
    if not isinstance(told.payload, dict):
        raise refuse("EVENT_PAYLOAD_INVALID", path="payload", reason="it is no object")
    size = len(json.dumps(told.payload, ensure_ascii=False).encode())
    if size > settings.SKILLQUAY_EVENT_BYTES:
        raise refuse("EVENT_TOO_LARGE", path="payload", limit=settings.SKILLQUAY_EVENT_BYTES)
    uid = new_uid()
    return Event(
        uid=uid,
        team=team,
        type=texts.plain(told.type, field="type", most=LONGEST_TYPE),
        payload=told.payload,
        origin=f"hook:{webhook.uid}" if webhook else actor.caller,
        given_id=told.id or uid,
        sender=None if webhook else actor.user,
        webhook=webhook,
        received_at=timezone.now(),
    )


def _earlier(event: Event) -> Received | None:
    """What is kept under this id already; another event under it is refused."""
    kept = Event.objects.select_related("team", "sender", "webhook")
    same = kept.filter(origin=event.origin, given_id=event.given_id).first()
    if same is None:
        return None
    if event.webhook:
        raise refuse("WEBHOOK_SEEN", id=event.given_id)
    if (same.team_id, same.type, same.payload) != (event.team_id, event.type, event.payload):
        raise refuse("EVENT_ID_REUSED", path="id", id=event.given_id)
    return Received(same, False)


def _check_rate(origin: str) -> None:
    since = timezone.now() - _MINUTE
    if (
        Event.objects.filter(origin=origin, received_at__gt=since).count()
        >= settings.SKILLQUAY_EVENTS_A_MINUTE
    ):
        raise refuse("EVENTS_TOO_MANY", limit=settings.SKILLQUAY_EVENTS_A_MINUTE)


def _meet(event: Event, actor: Actor, mode: str) -> None:
    """Starts what the team has said is started for this type, proposes the rest."""
    said = EventSubscription.objects.filter(team=event.team, event_type=event.type, mode=EventMode.START)
    started = set(said.values_list("skill_id", flat=True)) if mode == EventMode.START else set()
    for rank, skill in enumerate(_declaring(event.type, actor)):
        match = EventMatch(event=event, skill=skill, rank=rank, outcome=EventOutcome.PROPOSED)
        version = skill.found_as.version if skill.found_as else skill.latest
        match.version_number = version.number if version else ""
        if skill.pk in started:
            _try(match, skill, actor)
        match.save()


def _declaring(type_: str, actor: Actor) -> Sequence[Skill]:
    """The skills in reach that declare the type: by priority, then use, as matching ranks."""
    pinned = Pinned(pinned_to(actor))
    accepted = {skill for skill, *_ in pinned.triggers([type_], [TriggerKind.EVENT])}
    declaring = Trigger.objects.filter(kind=TriggerKind.EVENT, key=type_).exclude(skill__in=pinned.keys)
    asked = Q(pk__in=declaring.values("skill")) | Q(pk__in=accepted)
    found = Skill.objects.reachable_by(actor).filter(asked)
    now = timezone.now()

    def rank(skill: Skill) -> tuple[float, float, int]:
        return -priority_of(skill), -usage.score(skill.usage_count, skill.last_used_at, now), skill.pk

    skills = list(found.select_related("team", "latest"))
    found_as = pinned_rows(pinned.keys, (skill.pk for skill in skills))
    for skill in skills:
        skill.found_as = found_as.get(skill.pk)
    return sorted(skills, key=rank)[:MOST_MATCHES]


def _try(match: EventMatch, skill: Skill, actor: Actor) -> None:
    try:
        with transaction.atomic():
            match.run_uid = _start(find_version(skill, None, actor), match.event, actor)
        match.outcome = EventOutcome.STARTED
    except Refused as refused:
        match.outcome = EventOutcome.REFUSED
        match.problems = [problem_row(each) for each in refused.problems]


def _start(version: Version, event: Event, actor: Actor) -> str:
    if not _starters:
        raise refuse("EVENTS_UNAVAILABLE")
    return _starters[0](version, event, actor)
