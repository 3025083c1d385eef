"""Runs that events start: whose they are, what they get, and that they really run."""

from __future__ import annotations

import json

import pytest

from registry.events import receive as receiving
from registry.events import webhooks
from registry.events.receive import IncomingEvent, receive
from registry.events.subscriptions import subscribe
from registry.identity.actors import Actor
from registry.models import Event, Membership, Role
from registry.packages.problems import Refusal
from worker.models import Run
from worker.runs.event_runs import inputs_of
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]

FRONT = "triggers:\n  event_types: [report.filed]\n"
SCHEMA = FRONT + "input_schema:\n  type: object\n  required: [who]\n  properties:\n    who: {type: string}\n"
ECHO = "import json, sys\nprint(json.dumps({'given': sys.argv[1:]}))\n"


@pytest.fixture
def on_start(team, alice):
    def say(version):
        subscribe(team, version.skill, "report.filed", "start", actor=Actor(user=alice))
        return version

    return say


def told(payload, id=""):
    return IncomingEvent("report.filed", payload, id)


def test_an_event_starts_a_run_with_what_the_schema_names(publish_skill, on_start, team, bob, wake_calls):
    on_start(publish_skill(front=SCHEMA))
    done = receive(told({"who": "world", "size": 3}), Actor(user=bob), team=team)
    run = Run.objects.get(uid=done.event.matches.get().run_uid)
    assert (run.caller, run.team, run.request["inputs"]) == (bob, team, {"who": "world"})
    assert run.request_id == done.event.uid
    assert execute_here(run).result["outputs"]["greeting"] == "hello world"


def test_without_a_schema_the_script_gets_the_whole_event(publish_skill, on_start, team, alice):
    on_start(publish_skill("echo", ECHO, front=FRONT))
    done = receive(told({"title": "a 'b' $(c)"}, "evt_1"), Actor(user=alice), team=team)
    run = execute_here(Run.objects.get(uid=done.event.matches.get().run_uid))
    flag, value = run.result["outputs"]["given"]
    assert flag == "--event"
    assert json.loads(value) == {"id": "evt_1", "type": "report.filed", "payload": {"title": "a 'b' $(c)"}}


@pytest.mark.parametrize(
    ("properties", "inputs"),
    [
        ({"title": {}}, {"title": "x"}),
        ({"event": {}}, {"event": {"id": "e", "type": "t", "payload": {"title": "x", "n": 1}}}),
        (
            {"event": {}, "n": {}},
            {"event": {"id": "e", "type": "t", "payload": {"title": "x", "n": 1}}, "n": 1},
        ),
        ({}, {}),
    ],
)
def test_inputs_are_what_the_schema_names(properties, inputs):
    event = Event(external_id="e", type="t", payload={"title": "x", "n": 1})
    assert inputs_of(event, {"properties": properties}) == inputs


def test_a_payload_that_the_schema_refuses_starts_nothing_and_says_why(publish_skill, on_start, team, alice):
    on_start(publish_skill(front=SCHEMA))
    match = receive(told({"who": 7}), Actor(user=alice), team=team).event.matches.get()
    assert (match.outcome, match.run_uid) == ("refused", "")
    assert [each["path"] for each in match.problems] == ["/who"]
    assert not Run.objects.exists()


def test_a_proposal_is_run_by_who_presses_the_button(publish_skill, team, alice, bob):
    version = publish_skill(front=SCHEMA)
    event = receive(told({"who": "you"}), Actor(user=alice), team=team).event
    assert not Run.objects.exists()
    match = receiving.start_proposed_skill(event, version.skill, Actor(user=bob))
    assert Run.objects.get(uid=match.run_uid).caller == bob


@pytest.mark.row("P2")
def test_a_webhooks_run_is_its_makers_under_its_name(publish_skill, on_start, team, alice):
    on_start(publish_skill(front=SCHEMA))
    endpoint, _ = webhooks.create(team, name="Tracker", prefix="report.", actor=Actor(user=alice))
    envelope = webhooks.Envelope("evt_1", "0", ())
    done = webhooks.deliver(endpoint, envelope, {"type": "filed", "data": {"who": "it"}})
    run = Run.objects.get(uid=done.event.matches.get().run_uid)
    assert (run.caller, run.token_name, run.team) == (alice, "webhook Tracker", team)
    assert (done.event.sender, done.event.webhook, done.event.type) == (None, endpoint, "report.filed")


@pytest.mark.row("P2")
def test_who_may_not_run_a_skill_starts_it_by_no_event(publish_skill, on_start, team, alice, bob):
    on_start(publish_skill(front=SCHEMA))
    event = receive(told({"who": "x"}), Actor(user=alice), team=team).event
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    with pytest.raises(Refusal) as refused:
        receiving.start_proposed_skill(event, event.matches.get().skill, Actor(user=bob))
    assert refused.value.code == "FORBIDDEN"
    assert Run.objects.count() == 1
