"""Events: told, listed, what became of each, and what a team lets them start."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.forms.events import EventForm, SubscriptionForm
from portal.forms.refusals import add_refusal, say
from registry.abilities import Ability
from registry.actors import Actor
from registry.catalog import find_skill
from registry.events import receiving, subscribing
from registry.events.documents import matches_of, may_read, problems_of
from registry.events.receiving import Happening
from registry.middleware import ActorRequest
from registry.models import Event, EventMatch, EventMode, EventOutcome, Skill, Team, Trigger, TriggerKind
from registry.packages.problems import Refused
from registry.permissions import Action, may
from worker.models import Run

PAGE = 50
_MOST_OFFERED = 500


@dataclass(frozen=True)
class Met:
    """What an event met, as its page shows it."""

    match: EventMatch
    run: Run | None  # where the reader may know of it
    problems: list[dict[str, object]]
    may_run: bool
    may_subscribe: bool


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def listing(request: ActorRequest) -> HttpResponse:
    form = EventForm(request.POST or None, teams=teams_for(request.actor, Action.RUN))
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("event", _told(form, request.actor).uid)
        except Refused as refused:
            add_refusal(form, refused)
    pages = Paginator(receiving.events(request.actor).order_by("-pk"), PAGE).get_page(request.GET.get("page"))
    rows = _with_counts(list(pages), request.actor)
    context = {"rows": rows, "page": pages, "form": form}
    return render(request, "events/list.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_safe
def page(request: ActorRequest, uid: str) -> HttpResponse:
    event = receiving.find(uid, request.actor)
    payload = json.dumps(event.payload, ensure_ascii=False, indent=2)
    context = {
        "event": event,
        "payload": payload if may_read(event, request.actor) else None,
        "met": [_met(match, request.actor) for match in matches_of(event, request.actor)],
    }
    return render(request, "events/event.html", context)


@login_required
@require_POST
def start(request: ActorRequest, uid: str) -> HttpResponse:
    event = receiving.find(uid, request.actor)
    try:
        skill = find_skill(request.POST.get("skill", "")[:130], request.actor)
        return redirect("run", receiving.start(event, skill, request.actor).run_uid)
    except Refused as refused:
        say(request, refused)
    return redirect("event", uid)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def subscriptions(request: ActorRequest) -> HttpResponse:
    teams = teams_for(request.actor, Action.EVENTS)
    form = SubscriptionForm(request.POST or None, teams=teams, declared=_declared(request.actor))
    if request.method == "POST" and form.is_valid():
        try:
            return _subscribed(request, form)
        except Refused as refused:
            add_refusal(form, refused)
    rows = [
        (row, may(request.actor, Action.EVENTS, team=row.team))
        for row in subscribing.subscriptions(request.actor)
    ]
    context = {"rows": rows, "form": form, "can": teams.exists()}
    return render(request, "events/subscriptions.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def unsubscribe(request: ActorRequest, uid: str) -> HttpResponse:
    row = subscribing.find(uid, request.actor)
    try:
        subscribing.unsubscribe(row, request.actor)
        messages.success(request, _("%(skill)s is proposed from now on.") % {"skill": row.skill})
    except Refused as refused:
        say(request, refused)
    return redirect("event-subscriptions")


def teams_for(actor: Actor, action: Action) -> QuerySet[Team]:
    """The actor's teams for which they may do this."""
    own = Team.objects.filter(pk__in=actor.team_ids).order_by("slug")
    return own.filter(pk__in=[team.pk for team in own if may(actor, action, team=team)])


def _told(form: EventForm, actor: Actor) -> Event:
    given = form.cleaned_data
    mode = EventMode.PROPOSE if given["propose"] else EventMode.START
    told = Happening(given["type"], given["payload"], mode=mode)
    return receiving.receive(told, actor, team=given["team"]).event


def _subscribed(request: ActorRequest, form: SubscriptionForm) -> HttpResponse:
    skill = find_skill(form.skill, request.actor)
    given = form.cleaned_data
    subscribing.subscribe(given["team"], skill, form.event_type, given["mode"], actor=request.actor)
    messages.success(request, _("Saved."))
    return redirect("event-subscriptions")


def _with_counts(events: list[Event], actor: Actor) -> list[tuple[Event, list[tuple[str, int]]]]:
    """Each with how often each outcome came, of what the actor may see."""
    met = EventMatch.objects.visible_to(actor).filter(event__in=events)
    counts = Counter(met.values_list("event_id", "outcome"))
    return [
        (event, [(outcome, n) for outcome in EventOutcome.values if (n := counts[event.pk, outcome])])
        for event in events
    ]


def _met(match: EventMatch, actor: Actor) -> Met:
    runs = Ability.RUN in Ability(match.skill.abilities)
    open_ = match.outcome != EventOutcome.STARTED and runs
    return Met(
        match=match,
        run=Run.objects.visible_to(actor).filter(uid=match.run_uid).first() if match.run_uid else None,
        problems=problems_of(match),
        may_run=open_ and may_read(match.event, actor) and may(actor, Action.RUN, skill=match.skill),
        may_subscribe=open_
        and may(actor, Action.EVENTS, team=match.event.team)
        and not subscribing.is_started(match.event.team, match.skill, match.event.type),
    )


def _declared(actor: Actor) -> list[tuple[str, str]]:
    """Skills in reach with each event type that they declare."""
    reach = Skill.objects.reachable_by(actor)
    rows = Trigger.objects.filter(kind=TriggerKind.EVENT, skill__in=reach).select_related("skill__team")
    found = [(str(row.skill), row.text) for row in rows.order_by("skill__slug", "text")[:_MOST_OFFERED]]
    return sorted(found)
