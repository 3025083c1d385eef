"""Events: who may tell them, whom they meet, what the team has said is started; strangers learn nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.events import receive as receiving
from registry.events.api.events import event_document
from registry.events.receive import IncomingEvent, event_team, receive
from registry.events.subscriptions import subscribe, subscriptions, unsubscribe
from registry.identity.actors import Actor
from registry.lookup.errors import VERSION_HELD
from registry.models import Event, EventMatch, Membership, Role, Team, Token
from registry.packages.package import Triggers
from registry.packages.problems import Refusal
from tests.shell import api, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]

FILED = IncomingEvent("report.filed", {"title": "Week 47"}, "evt_1")


@pytest.fixture
def declared(publish_skill):
    """``declared("slug", …)``: a published skill that declares ``report.filed``, or other types."""

    def make(slug="summarise", *types, priority=0.5, **more):
        triggers = Triggers(event_types=types or ("report.filed",), priority=priority)
        return publish_skill(slug, triggers=triggers, **more).skill

    return make


@pytest.fixture
def started(monkeypatch):
    """What was started, by a starter that starts nothing real: (version, event type, caller)."""
    calls = []

    def start(version, event, actor):
        if version.skill.slug == "broken":
            raise VERSION_HELD.refusal(version=str(version))
        calls.append((str(version), event.type, actor.caller))
        return f"run{len(calls):023}"

    monkeypatch.setattr(receiving.run_starter, "receivers", [start])
    return calls


def met(done):
    return [(m.skill.slug, m.outcome) for m in done.event.matches.order_by("rank")]


def code_of(act):
    with pytest.raises(Refusal) as refused:
        act()
    return refused.value.code


def test_skills_that_declare_the_type_are_proposed_by_priority(declared, publish_skill, started, team, bob):
    declared("usual")
    declared("urgent", priority=0.9)
    declared("other", "report.lost")
    publish_skill("silent")
    done = receive(FILED, Actor(user=bob), team=team)
    assert met(done) == [("urgent", "proposed"), ("usual", "proposed")]
    assert started == []


def test_what_the_team_has_said_is_started(declared, started, team, alice, bob):
    subscribe(team, declared("summarise"), "report.filed", "start", actor=Actor(user=alice))
    subscribe(team, declared("careful"), "report.filed", "propose", actor=Actor(user=alice))
    done = receive(FILED, Actor(user=bob), team=team)
    assert sorted(met(done)) == [("careful", "proposed"), ("summarise", "started")]
    assert started == [("docs/summarise@1.0.0", "report.filed", f"user:{bob.pk}")]


def test_the_sender_may_ask_to_start_nothing(declared, started, team, alice):
    subscribe(team, declared(), "report.filed", "start", actor=Actor(user=alice))
    done = receive(IncomingEvent("report.filed", {}, mode="propose"), Actor(user=alice), team=team)
    assert met(done) == [("summarise", "proposed")]


def test_what_cannot_be_started_says_why_and_stops_nothing_else(declared, started, team, alice):
    for slug in ("broken", "summarise"):
        subscribe(team, declared(slug), "report.filed", "start", actor=Actor(user=alice))
    done = receive(FILED, Actor(user=alice), team=team)
    assert sorted(met(done)) == [("broken", "refused"), ("summarise", "started")]
    document = event_document(done.event, Actor(user=alice))
    refused = next(each for each in document["matches"] if each["outcome"] == "refused")
    assert [each["code"] for each in refused["problems"]] == ["VERSION_HELD"]


def test_an_id_that_comes_again_is_the_same_event_and_starts_nothing_twice(declared, started, team, alice):
    subscribe(team, declared(), "report.filed", "start", actor=Actor(user=alice))
    first, again = (receive(FILED, Actor(user=alice), team=team) for _ in range(2))
    assert (first.is_new, again.is_new) == (True, False)
    assert first.event == again.event
    assert len(started) == 1


def test_an_id_of_another_event_is_refused_and_another_senders_is_their_own(team, alice, bob):
    receive(FILED, Actor(user=alice), team=team)
    other = IncomingEvent("report.filed", {"title": "Week 48"}, "evt_1")
    assert code_of(lambda: receive(other, Actor(user=alice), team=team)) == "EVENT_ID_REUSED"
    assert receive(other, Actor(user=bob), team=team).is_new


def test_two_at_once_with_one_id_are_one(declared, started, team, alice, monkeypatch):
    """The second finds the row only when it writes its own."""
    first = receive(FILED, Actor(user=alice), team=team)
    found = [None, receiving._find_earlier]
    monkeypatch.setattr(receiving, "_find_earlier", lambda event: (found.pop(0) or (lambda e: None))(event))
    again = receive(FILED, Actor(user=alice), team=team)
    assert (again.is_new, again.event) == (False, first.event)


def test_a_proposal_is_started_once_by_who_may_run(declared, started, team, alice, bob):
    skill = declared()
    event = receive(FILED, Actor(user=alice), team=team).event
    match = receiving.start_proposed_skill(event, skill, Actor(user=bob))
    assert (match.outcome, started[0][2]) == ("started", f"user:{bob.pk}")
    assert (
        code_of(lambda: receiving.start_proposed_skill(event, skill, Actor(user=bob))) == "EVENT_NOT_PROPOSED"
    )


@pytest.mark.row("P2")
def test_viewers_and_strangers_and_reading_tokens_tell_no_event(team, alice, bob, charlie):
    assert code_of(lambda: receive(FILED, Actor(user=charlie), team=team)) == "NOT_FOUND"
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert code_of(lambda: receive(FILED, Actor(user=bob), team=team)) == "FORBIDDEN"
    reads = Actor(user=alice, token=Token(owner=alice, scopes=["read"]), scopes=frozenset({"read"}))
    assert code_of(lambda: receive(FILED, reads, team=team)) == "TOKEN_SCOPE_MISSING"
    assert not Event.objects.exists()


@pytest.mark.row("P2")
def test_an_event_is_its_teams_and_its_payload_for_who_may_run(declared, started, team, alice, bob, charlie):
    declared()
    event = receive(FILED, Actor(user=alice), team=team).event
    assert code_of(lambda: receiving.find_event(event.uid, Actor(user=charlie))) == "NOT_FOUND"
    assert event_document(event, Actor(user=bob))["payload"] == {"title": "Week 47"}
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    seen = event_document(receiving.find_event(event.uid, Actor(user=bob)), Actor(user=bob))
    assert (seen["payload"], len(seen["matches"])) == (None, 1)


@pytest.mark.row("P2")
def test_a_team_learns_nothing_of_other_teams_skills_that_the_sender_reaches(
    declared, started, team, alice, charlie
):
    elsewhere = Team.objects.get(slug="elsewhere")
    declared("hidden", into=elsewhere, by=Actor(user=charlie))
    declared("open")
    Membership.objects.create(team=team, user=charlie, role=Role.MEMBER)
    event = receive(FILED, Actor(user=charlie), team=team).event
    assert EventMatch.objects.filter(event=event).count() == 2
    shown = event_document(event, Actor(user=alice))["matches"]
    assert [each["skill"] for each in shown] == ["docs/open"]


@pytest.mark.row("P2")
def test_a_strangers_private_skill_meets_nobody_elses_event(declared, started, team, alice, charlie):
    declared("hidden", into=Team.objects.get(slug="elsewhere"), by=Actor(user=charlie))
    assert met(receive(FILED, Actor(user=alice), team=team)) == []


@pytest.mark.row("P2")
def test_only_maintainers_in_person_say_what_is_started(declared, team, alice, bob, charlie):
    skill = declared()
    publishes = Actor(user=alice, token=Token(owner=alice, scopes=["publish"]), scopes=frozenset({"publish"}))
    for actor, code in (
        (publishes, "FORBIDDEN"),
        (Actor(user=bob), "FORBIDDEN"),
        (Actor(user=charlie), "NOT_FOUND"),
    ):
        assert (
            code_of(lambda actor=actor: subscribe(team, skill, "report.filed", "start", actor=actor)) == code
        )
    kept = subscribe(team, skill, "report.filed", "start", actor=Actor(user=alice))
    assert list(subscriptions(Actor(user=bob))) == [kept]
    assert not subscriptions(Actor(user=charlie)).exists()
    assert code_of(lambda: unsubscribe(kept, Actor(user=bob))) == "FORBIDDEN"
    unsubscribe(kept, Actor(user=alice))
    assert not subscriptions(Actor(user=alice)).exists()


def test_only_declared_types_are_started(declared, publish_skill, started, team, alice):
    skill = declared()
    refused = lambda: subscribe(team, skill, "report.lost", "start", actor=Actor(user=alice))  # noqa: E731
    assert code_of(refused) == "EVENT_UNDECLARED"
    subscribe(team, skill, "report.filed", "start", actor=Actor(user=alice))
    publish_skill("summarise", version="1.1.0")  # declares it no more
    assert met(receive(FILED, Actor(user=alice), team=team)) == []


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (IncomingEvent("", {}), "TEXT_INVALID"),
        (IncomingEvent("x" * 201, {}), "TEXT_INVALID"),
        (IncomingEvent("a\0b", {}), "TEXT_INVALID"),
        (IncomingEvent("a", [1]), "EVENT_PAYLOAD_INVALID"),
        (IncomingEvent("a", {"x": "y" * 2000}), "EVENT_TOO_LARGE"),
        (IncomingEvent("a", {}, "two words"), "EVENT_ID_INVALID"),
        (IncomingEvent("a", {}, "a.b"), "EVENT_ID_INVALID"),
        (IncomingEvent("a", {}, "x" * 129), "EVENT_ID_INVALID"),
    ],
)
def test_what_cannot_be_kept_is_refused_whole(team, alice, settings, told, code):
    settings.SKILLQUAY_MAX_EVENT_BYTES = 1024
    assert code_of(lambda: receive(told, Actor(user=alice), team=team)) == code
    assert not Event.objects.exists()


def test_a_sender_tells_so_many_a_minute(team, alice, bob, settings):
    settings.SKILLQUAY_EVENTS_PER_MINUTE = 2
    for _ in range(2):
        receive(IncomingEvent("a", {}), Actor(user=alice), team=team)
    assert code_of(lambda: receive(IncomingEvent("a", {}), Actor(user=alice), team=team)) == "EVENTS_TOO_MANY"
    receive(IncomingEvent("a", {}), Actor(user=bob), team=team)
    Event.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    receive(IncomingEvent("a", {}), Actor(user=alice), team=team)


def test_the_team_is_the_only_one_or_the_one_that_is_named(team, alice, charlie):
    assert event_team(Actor(user=alice)) == team
    elsewhere = Team.objects.get(slug="elsewhere")
    Membership.objects.create(team=elsewhere, user=alice, role=Role.MEMBER)
    assert code_of(lambda: event_team(Actor(user=alice))) == "EVENT_TEAM_REQUIRED"
    assert event_team(Actor(user=alice), "elsewhere") == elsewhere
    assert code_of(lambda: event_team(Actor(user=charlie), "docs")) == "NOT_FOUND"
    bound = Actor(user=alice, token=Token(owner=alice, team=team, scopes=["run"]))
    assert event_team(bound) == team


def test_old_events_are_forgotten_with_what_they_met(declared, started, team, alice):
    declared()
    receive(FILED, Actor(user=alice), team=team)
    young = receive(IncomingEvent("a", {}), Actor(user=alice), team=team).event
    Event.objects.exclude(pk=young.pk).update(received_at=timezone.now() - timedelta(days=31))
    receiving.delete_expired_events()
    assert [list(Event.objects.all()), EventMatch.objects.count()] == [[young], 0]


def test_shell_sends_an_event_as_a_user(declared, started, alice):
    declared()
    event = {"type": "report.filed", "id": "evt_1", "mode": "propose"}
    status, document = api("POST", "events", {**event, "payload": {"title": "Week 47"}}, by="alice")
    assert (status, document["payload"]) == (0, {"title": "Week 47"})
    assert document["matches"][0]["outcome"] == "proposed"
    assert refusal("POST", "events", {**event, "payload": {}}, by="alice") == "EVENT_ID_REUSED"
