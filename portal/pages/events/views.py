"""Views of events: send, list, detail with matches, and event subscriptions."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.events.forms import EventForm, EventSubscriptionForm
from registry.events import receive as receiving
from registry.events import subscriptions as subscribing
from registry.events.documents import match_problems, may_read_payload, visible_matches
from registry.events.receive import IncomingEvent
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.index.abilities import Ability
from registry.lookup.skills import find_skill
from registry.models import Event, EventMatch, EventMode, EventOutcome, Skill, Team, Trigger, TriggerKind
from registry.rates.limits import RateLimit, count_request
from worker.models import Run

PAGE = 50
_MAX_CHOICES = 500


@signed_in_form
def listing(request: ActorRequest) -> HttpResponse:
    form = EventForm(request.POST or None, teams=teams_for(request.actor, Action.RUN))
    if form.is_valid():
        count_request(request, request.actor, RateLimit.RUN)
        with add_refusals(form):
            return redirect("event", _receive_event(form, request.actor).uid)
    pages = Paginator(receiving.events(request.actor).order_by("-pk"), PAGE).get_page(request.GET.get("page"))
    rows = _with_counts(list(pages), request.actor)
    context = {"rows": rows, "page": pages, "form": form}
    return render(request, "events/list.html", context, status=422 if form.errors else 200)


@signed_in_page
def page(request: ActorRequest, uid: str) -> HttpResponse:
    event = receiving.find_event(uid, request.actor)
    payload = json.dumps(event.payload, ensure_ascii=False, indent=2)
    context = {
        "event": event,
        "payload": payload if may_read_payload(event, request.actor) else None,
        "matches": [_match_row(match, request.actor) for match in visible_matches(event, request.actor)],
    }
    return render(request, "events/event.html", context)


@signed_in_action
def start(request: ActorRequest, uid: str) -> HttpResponse:
    count_request(request, request.actor, RateLimit.RUN)
    event = receiving.find_event(uid, request.actor)
    with show_refusals(request):
        skill = find_skill(request.POST.get("skill", "")[:130], request.actor)
        return redirect("run", receiving.start_proposed_skill(event, skill, request.actor).run_uid)
    return redirect("event", uid)


@signed_in_form
def subscriptions(request: ActorRequest) -> HttpResponse:
    teams = teams_for(request.actor, Action.EVENTS)
    form = EventSubscriptionForm(request.POST or None, teams=teams, declared=_declared_types(request.actor))
    if form.is_valid():
        with add_refusals(form):
            return _subscribe(request, form)
    rows = [
        (row, may(request.actor, Action.EVENTS, team=row.team))
        for row in subscribing.subscriptions(request.actor)
    ]
    context = {"rows": rows, "form": form, "can": teams.exists()}
    return render(request, "events/subscriptions.html", context, status=422 if form.errors else 200)


@signed_in_action
def unsubscribe(request: ActorRequest, uid: str) -> HttpResponse:
    row = subscribing.find_subscription(uid, request.actor)
    with show_refusals(request):
        subscribing.unsubscribe(row, request.actor)
        messages.success(
            request,
            _("The subscription was removed. Events of this type now only propose runs of %(skill)s.")
            % {"skill": row.skill},
        )
    return redirect("event-subscriptions")


def teams_for(actor: Actor, action: Action) -> QuerySet[Team]:
    """The actor's teams in which the actor may do ``action``."""
    own = Team.objects.filter(pk__in=actor.team_ids).order_by("slug")
    return own.filter(pk__in=[team.pk for team in own if may(actor, action, team=team)])


def _receive_event(form: EventForm, actor: Actor) -> Event:
    given = form.cleaned_data
    mode = EventMode.PROPOSE if given["propose"] else EventMode.START
    event = IncomingEvent(given["type"], given["payload"], mode=mode)
    return receiving.receive(event, actor, team=given["team"]).event


def _subscribe(request: ActorRequest, form: EventSubscriptionForm) -> HttpResponse:
    skill = find_skill(form.skill, request.actor)
    given = form.cleaned_data
    subscribing.subscribe(given["team"], skill, form.event_type, given["mode"], actor=request.actor)
    messages.success(request, _("Saved."))
    return redirect("event-subscriptions")


def _with_counts(events: list[Event], actor: Actor) -> list[tuple[Event, list[tuple[str, int]]]]:
    """Each event with the number of visible matches per outcome."""
    matches = EventMatch.objects.visible_to(actor).filter(event__in=events)
    counts = Counter(matches.values_list("event_id", "outcome"))
    return [
        (event, [(outcome, n) for outcome in EventOutcome.values if (n := counts[event.pk, outcome])])
        for event in events
    ]


def _match_row(match: EventMatch, actor: Actor) -> dict[str, Any]:
    """A match for templates: its run (None if invisible), its problems, and the actions that the actor may
    take.
    """
    runs = Ability.RUN in Ability(match.skill.abilities)
    can_start = match.outcome != EventOutcome.STARTED and runs
    return {
        "match": match,
        "run": Run.objects.visible_to(actor).without_content().filter(uid=match.run_uid).first()
        if match.run_uid
        else None,
        "problems": match_problems(match),
        "may_run": can_start
        and may_read_payload(match.event, actor)
        and may(actor, Action.RUN, skill=match.skill),
        "may_subscribe": can_start
        and may(actor, Action.EVENTS, team=match.event.team)
        and not subscribing.starts_run(match.event.team, match.skill, match.event.type),
    }


def _declared_types(actor: Actor) -> list[tuple[str, str]]:
    """Sorted pairs of a recommendable skill and an event type that it declares; at most ``_MAX_CHOICES``."""
    skill = Skill.objects.recommendable_to(actor).filter(pk=OuterRef("skill"))  # few skills declare types
    rows = Trigger.objects.filter(Exists(skill), kind=TriggerKind.EVENT).select_related("skill__team")
    found = [(str(row.skill), row.text) for row in rows.order_by("skill__slug", "text")[:_MAX_CHOICES]]
    return sorted(found)
