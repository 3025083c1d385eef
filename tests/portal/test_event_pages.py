"""The pages of events, webhooks and feedback: what each person sees and may press."""

from __future__ import annotations

import html
import re

import pytest

from registry.events.receive import IncomingEvent, receive
from registry.events.webhooks import create
from registry.identity.actors import Actor
from registry.matching import feedback
from registry.models import Event, EventSubscription, Membership, Role, TriggerTest, WebhookEndpoint
from tests.checks import not_none
from tests.factories.skills import publish_files, tidy_files
from tests.pages import actions, messages, part, parts, select
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]

MARKUP = "<script>alert(1)</script>\u202e"


@pytest.fixture
def declaring(team, alice):
    """docs/weekly-report, which declares report.filed."""
    files = tidy_files()
    text = files["SKILL.md"].decode()
    assert "triggers:" not in text
    files["SKILL.md"] = text.replace("---\n", "---\ntriggers: {event_types: [report.filed]}\n", 1).encode()
    return publish_files(files, team=team, user=alice).skill


@pytest.fixture
def event(declaring, team, alice):
    told = IncomingEvent("report.filed", {"title": MARKUP}, "evt_1")
    return receive(told, Actor(user=alice), team=team).event


def text_of(answer):
    return html.unescape(answer.content.decode())


def test_an_event_is_sent_on_the_page_and_its_match_is_run_from_there(declaring, browse, bob):
    told = {"team": "docs", "type": "report.filed", "payload": '{"notes": "Week 47", "language": "en"}'}
    client = browse(bob)
    answer = client.post("/events/", told, follow=True)
    assert "docs/weekly-report" in text_of(answer)
    assert "Week 47" in text_of(answer)
    uid = Event.objects.get().uid
    answer = client.post(f"/events/{uid}/start/", {"skill": "docs/weekly-report"})
    assert answer["Location"] == f"/runs/{Run.objects.get().uid}/"
    assert f"/runs/{Run.objects.get().uid}/" in text_of(client.get(f"/events/{uid}/"))
    again = client.post(f"/events/{uid}/start/", {"skill": "docs/weekly-report"}, follow=True)
    assert part(again, "message")["code"] == "EVENT_NOT_PROPOSED"
    assert Run.objects.count() == 1


@pytest.mark.parametrize("payload", ["{", "[1]", '{"a": 1, "a": 2}', ""])
def test_a_payload_that_is_no_object_is_an_error_of_its_field(declaring, browse, bob, payload):
    answer = browse(bob).post("/events/", {"team": "docs", "type": "report.filed", "payload": payload})
    assert answer.status_code == 422
    assert 'href="#id_payload"' in answer.content.decode()
    assert not Event.objects.exists()


def test_a_maintainer_subscribes_a_skill_to_an_event_and_undoes_it(declaring, event, browse, alice, bob):
    said = {"team": "docs", "skill_and_type": "docs/weekly-report  report.filed", "mode": "start"}
    assert "start-from-now-on" in actions(browse(alice).get(f"/events/{event.uid}/"))
    assert "start-from-now-on" not in actions(browse(bob).get(f"/events/{event.uid}/"))
    assert browse(bob).post("/events/subscriptions/", said).status_code == 422
    browse(alice).post("/events/subscriptions/", said)
    row = EventSubscription.objects.get()
    assert (str(row.skill), row.event_type, row.mode) == ("docs/weekly-report", "report.filed", "start")
    assert part(browse(bob).get("/events/subscriptions/"), "subscription")["value"] == "report.filed"
    assert "start-from-now-on" not in actions(browse(alice).get(f"/events/{event.uid}/"))
    browse(alice).post(f"/events/subscriptions/{row.uid}/remove/")
    after = browse(alice).get("/events/subscriptions/")
    assert parts(after, "empty")
    assert not parts(after, "subscription")


def test_subscription_form_offers_the_declared_types(declaring, browse, alice):
    page = browse(alice).get("/events/subscriptions/")
    assert select(page, "option", value="docs/weekly-report  report.filed")
    assert parts(page, "form", state="no-types") == []


def test_a_secret_is_shown_once_after_making_and_after_rotating(team, browse, alice):
    client = browse(alice)
    made = client.post("/events/webhooks/", {"team": "docs", "name": "Tracker", "prefix": "t."})
    secret = not_none(re.search(r"whsec_[\w-]{43}", text_of(made)))[0]
    assert select(made, "a", href="/docs/reference/events/")
    assert secret not in text_of(client.get("/events/webhooks/"))
    uid = WebhookEndpoint.objects.get().uid
    rotated = client.post(f"/events/webhooks/{uid}/rotate/", {"overlap_hours": "1"})
    assert not_none(re.search(r"whsec_[\w-]{43}", text_of(rotated)))[0] != secret
    assert parts(rotated, "old-secret")
    client.post(f"/events/webhooks/{uid}/remove/")
    assert parts(client.get("/events/webhooks/"), "empty")


def test_maintainers_see_the_actions_of_a_webhook_without_opening_a_menu(team, browse, alice):
    endpoint, _ = create(team, name="Tracker", actor=Actor(user=alice))
    row = part(browse(alice).get("/events/webhooks/"), "endpoint")
    opened = {
        button["popovertarget"] for button in row.select("button") if "popovertarget" in button.attributes
    }
    assert opened == {f"rotate-{endpoint.uid}", f"delete-{endpoint.uid}"}
    assert not row.select("details")
    assert {"rotate", "confirm"} <= set(actions(row))


@pytest.mark.row("P2")
def test_members_see_endpoints_and_change_none(team, browse, alice, bob):
    endpoint, _ = create(team, name="Tracker", actor=Actor(user=alice))
    row = part(browse(bob).get("/events/webhooks/"), "endpoint")
    assert "Tracker" in row
    assert not actions(row)
    for verb in ("rotate", "remove"):
        browse(bob).post(f"/events/webhooks/{endpoint.uid}/{verb}/", {"overlap_hours": "1"})
    assert WebhookEndpoint.objects.get().rotated_at is None


@pytest.mark.row("P2")
def test_a_stranger_sees_none_of_it(event, declaring, team, browse, alice, charlie):
    endpoint, _ = create(team, name="Tracker", actor=Actor(user=alice))
    client = browse(charlie)
    for path in ("/events/", "/events/subscriptions/", "/events/webhooks/"):
        page = text_of(client.get(path))
        assert not re.search("Tracker|weekly-report|evt_1", page), path
    for path in (f"events/{event.uid}/", "skills/docs/weekly-report/feedback/"):
        assert client.get(f"/{path}").status_code == 404
    for path in (f"events/{event.uid}/start/", f"events/webhooks/{endpoint.uid}/rotate/"):
        assert client.post(f"/{path}").status_code == 404
    assert browse().get(f"/events/{event.uid}/").status_code == 302


@pytest.mark.row("P2")
def test_a_viewer_sees_the_event_without_its_payload_and_starts_nothing(event, browse, bob):
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    page = text_of(browse(bob).get(f"/events/{event.uid}/"))
    assert "docs/weekly-report" in page
    assert "alert(1)" not in page
    assert "/start/" not in page


def test_nothing_that_a_sender_writes_is_markup(event, browse, alice):
    page = browse(alice).get(f"/events/{event.uid}/").content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page.split("payload-text")[0]


def test_pages_without_events_show_their_empty_state(team, browse, alice):
    client = browse(alice)
    assert parts(client.get("/events/"), "empty")
    subscriptions = client.get("/events/subscriptions/")
    assert parts(subscriptions, "empty")
    assert part(subscriptions, "form")["state"] == "no-types"


@pytest.mark.row("D9")
def test_a_maintainer_decides_what_agents_proposed_and_writes_tests(declaring, browse, alice, bob):
    for words in ("translate this", "say hello"):
        told = feedback.FeedbackReport("wrong_skill", words, "It is not that.")
        feedback.submit_feedback(declaring.latest, told, Actor(user=bob))
    client, path = browse(alice), "/skills/docs/weekly-report/feedback/"
    page = text_of(client.get(path))
    assert "translate this" in page
    assert "It is not that." in page
    first, second = feedback.proposals(declaring, Actor(user=alice))
    accepted = client.post(f"{path}{first.uid}/", {"decision": "accept"}, follow=True)
    assert messages(accepted) == ["success"]
    assert TriggerTest.objects.get().utterance == first.utterance
    client.post(f"{path}{second.uid}/", {"decision": "decline"})
    client.post(path, {"utterance": "my week", "must_match": "yes"})
    assert set(TriggerTest.objects.values_list("utterance", "must_match", "origin")) == {
        (first.utterance, False, "feedback"),
        ("my week", True, "page"),
    }
    assert client.post(path, {"utterance": " ", "must_match": "yes"}).status_code == 422
    client.post(f"{path}tests/{TriggerTest.objects.get(origin='page').uid}/remove/")
    assert TriggerTest.objects.count() == 1


@pytest.mark.row("P2", "D9")
def test_members_read_no_feedback(declaring, browse, bob):
    assert browse(bob).get("/skills/docs/weekly-report/feedback/").status_code == 403
    assert "/feedback/" not in text_of(browse(bob).get("/skills/docs/weekly-report/"))
