"""Events, webhooks and feedback by the API; deliveries as another system makes them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from registry.events import webhooks
from registry.identity.actors import Actor
from registry.models import Event, IdempotencyKey, ProposedTriggerTest
from tests.api.conftest import MAIN_PY, SKILL_MD, assert_error, session_api
from tests.architecture.sources import ROOT
from tests.checks import not_none
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]

DECLARING = SKILL_MD.replace("tags:", "triggers:\n  event_types: [report.filed]\ntags:")
FILED = {"type": "report.filed", "payload": {"title": "Week 47"}, "id": "evt_1"}


@pytest.fixture
def declaring(publish):
    return publish({"SKILL.md": DECLARING, "scripts/main.py": MAIN_PY})


@pytest.fixture
def endpoint(team, alice):
    return webhooks.create(team, name="Tracker", actor=Actor(user=alice))


def deliver(endpoint, body, *, id="evt_1", secret=None, timestamp=None, kind="application/json", **headers):
    row, own = endpoint
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    at = str(timestamp or int(time.time()))
    signed = hmac.new((secret or own).encode(), f"{at}.{id}.".encode() + body, hashlib.sha256).digest()
    given = {
        "webhook-id": id,
        "webhook-timestamp": at,
        "webhook-signature": "v1," + base64.b64encode(signed).decode(),
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    return session_api(None)("POST", f"/hooks/{row.uid}", body, kind=kind, headers=given)


def test_an_event_is_told_listed_read_and_answered_again(declaring, as_alice):
    told = as_alice.post("events", FILED)
    assert told.status_code == 201, told.content
    document = told.json()
    assert told["Location"].endswith(f"/api/v1/events/{document['id']}")
    assert [(m["skill"], m["outcome"]) for m in document["matches"]] == [("docs/summarise", "proposed")]
    again = as_alice.post("events", FILED)
    assert (again.status_code, again.json()) == (200, document)
    assert [each["id"] for each in as_alice.get("events?type=report.filed").json()["items"]] == [
        document["id"]
    ]
    assert as_alice.get("events?type=report.lost").json()["items"] == []
    assert as_alice.get(f"events/{document['id']}").json() == document
    assert_error(as_alice.post("events", {**FILED, "payload": {}}), 409, "EVENT_ID_REUSED")


def test_a_proposal_is_started_and_a_subscription_starts_the_next(declaring, as_alice, alice):
    uid = as_alice.post("events", FILED).json()["id"]
    started = as_alice.post(f"events/{uid}/start", {"skill": "docs/summarise"}).json()["matches"][0]
    assert (started["outcome"], started["run"]) == ("started", Run.objects.get().uid)
    assert_error(as_alice.post(f"events/{uid}/start", {"skill": "docs/summarise"}), 409, "EVENT_NOT_PROPOSED")
    said = {"team": "docs", "skill": "docs/summarise", "event_type": "report.filed"}
    kept = as_alice.post("event-subscriptions", said).json()
    assert (kept["mode"], kept["set_by"]) == ("start", "alice")
    assert as_alice.get("event-subscriptions").json()["items"] == [kept]
    match = as_alice.post("events", {**FILED, "id": "evt_2"}).json()["matches"][0]
    assert match["outcome"] == "started"
    assert as_alice("DELETE", f"event-subscriptions/{kept['id']}").status_code == 204
    match = as_alice.post("events", {**FILED, "id": "evt_3"}).json()["matches"][0]
    assert match["outcome"] == "proposed"


@pytest.mark.row("P2")
def test_a_strangers_answers_are_the_same_with_and_without_the_event(declaring, as_alice, charlie, token_api):
    before = session_api(charlie).post("events", FILED).json()
    uid = as_alice.post("events", FILED).json()["id"]
    api = session_api(charlie)
    assert_error(api.get(f"events/{uid}"), 404, "NOT_FOUND")
    assert_error(api.post("events", {**FILED, "team": "docs"}), 404, "NOT_FOUND")
    assert [each["external_id"] for each in api.get("events").json()["items"]] == [before["external_id"]]
    assert before["matches"] == []


@pytest.mark.row("P2")
def test_a_token_tells_events_and_says_nothing_for_a_person(declaring, as_alice, alice, token_api):
    api = token_api(alice)
    assert api.post("events", FILED).status_code == 201
    said = {"team": "docs", "skill": "docs/summarise", "event_type": "report.filed"}
    assert_error(api.post("event-subscriptions", said), 403, "FORBIDDEN")
    assert_error(api.post("webhooks", {"team": "docs", "name": "Mine"}), 403, "FORBIDDEN")


def test_an_endpoint_is_made_rotated_and_deleted_and_its_secret_told_once(team, as_alice):
    asked = {"team": "docs", "name": "Tracker", "prefix": "tracker."}
    key = {"Idempotency-Key": "once"}
    made = as_alice.post("webhooks", asked, headers=key)
    secret = made.json()["secret"]
    assert (made.status_code, made["Cache-Control"]) == (201, "private, no-store")
    assert secret.startswith("whsec_")
    again = as_alice.post("webhooks", asked, headers=key).json()
    assert again == {**made.json(), "secret": None}
    assert secret not in bytes(not_none(IdempotencyKey.objects.get().body)).decode()
    address = f"webhooks/{again['id']}"
    assert "secret" not in as_alice.get(address).json()
    rotated = as_alice.post(f"{address}/rotate", {"overlap_hours": 1}).json()
    assert rotated["secret"] not in (secret, None)
    assert rotated["previous_secret_expires_at"]
    assert len(as_alice.get("webhooks").json()["items"]) == 1
    assert as_alice("DELETE", address).status_code == 204
    assert_error(as_alice.get(address), 404, "NOT_FOUND")


def test_a_signed_delivery_becomes_an_event_and_tells_its_sender_nothing_more(declaring, endpoint):
    answer = deliver(endpoint, {"type": "report.filed", "data": {"title": "Week 47"}})
    event = Event.objects.get()
    assert (answer.status_code, answer.json()) == (202, {"id": event.uid})
    assert (event.type, event.payload) == ("report.filed", {"title": "Week 47"})
    assert event.matches.get().outcome == "proposed"


def test_a_delivery_that_was_seen_stale_tampered_or_unsigned_is_refused(declaring, endpoint):
    body = {"type": "report.filed"}
    assert deliver(endpoint, body).status_code == 202
    assert_error(deliver(endpoint, body), 409, "WEBHOOK_DELIVERY_REPEATED")
    assert_error(deliver(endpoint, {**body, "data": {}}), 409, "WEBHOOK_DELIVERY_REPEATED")
    for seconds in (-400, 400):
        at = int(time.time()) + seconds
        assert_error(deliver(endpoint, body, id="evt_2", timestamp=at), 403, "WEBHOOK_STALE")
    assert_error(deliver(endpoint, body, id="evt_2", secret="whsec_x"), 403, "WEBHOOK_SIGNATURE_INVALID")
    assert_error(deliver(endpoint, body, id="evt_2", webhook_signature=""), 400, "WEBHOOK_HEADERS_INVALID")
    now = str(int(time.time()) - 5)
    assert_error(deliver(endpoint, body, id="evt_2", webhook_timestamp=now), 403, "WEBHOOK_SIGNATURE_INVALID")
    assert Event.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"{}", "text/plain", 415, "MEDIA_TYPE_UNSUPPORTED"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "MEDIA_TYPE_UNSUPPORTED"),
        (b"{", "application/json", 400, "JSON_INVALID"),
        (b'{"type": "a", "type": "b"}', "application/json", 400, "JSON_INVALID"),
        (b"[1]", "application/json", 422, "EVENT_PAYLOAD_INVALID"),
        (b"{}", "application/json", 422, "FIELD_REQUIRED"),
        (b'{"type": 7}', "application/json", 422, "FIELD_REQUIRED"),
        (b'{"type": "a", "data": "text"}', "application/json", 422, "EVENT_PAYLOAD_INVALID"),
        (b'{"type": "a", "data": "' + b"x" * 2000 + b'"}', "application/json", 413, "BODY_TOO_LARGE"),
    ],
)
def test_a_signed_body_that_is_no_event_is_refused(endpoint, settings, body, kind, status, code):
    settings.SKILLQUAY_MAX_EVENT_BYTES = 1024
    assert_error(deliver(endpoint, body, kind=kind), status, code)
    assert not Event.objects.exists()


@pytest.mark.row("P2")
def test_an_unknown_address_and_a_deleted_one_are_the_same(endpoint, alice):
    row, secret = endpoint
    webhooks.remove(webhooks.find_endpoint(row.uid, Actor(user=alice)), Actor(user=alice))
    gone = assert_error(deliver(endpoint, {"type": "a"}), 404, "NOT_FOUND")
    row.uid = "0" * 26
    unknown = assert_error(deliver((row, secret), {"type": "a"}), 404, "NOT_FOUND")
    assert gone["code"] == unknown["code"]
    assert_error(session_api(None).get(f"/hooks/{row.uid}"), 405, "METHOD_NOT_ALLOWED")


class _Receiver(HTTPServer):
    """Records the headers and body of each request."""

    def __init__(self):
        self.requests = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Receiver

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.requests.append((dict(self.headers), self.rfile.read(length)))
        self.send_response(202)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def listening():
    server = _Receiver()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("language", ["python", "sh"])
def test_the_documented_examples_are_believed(endpoint, listening, language):
    """What they send over a real line is posted on as it came."""
    text = (ROOT / "docs/reference/events.md").read_text()
    code = not_none(re.search(rf"```{language}\n(.*?)```", text, re.DOTALL))[1]
    row, secret = endpoint
    told = {"ADDRESS": f"http://127.0.0.1:{listening.server_port}/hooks/{row.uid}", "SECRET": secret}
    if language == "python":
        exec(code, dict(told))
    else:
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        subprocess.run(["sh", "-ec", code], env=path | told, check=True, capture_output=True)
    ((headers, body),) = listening.requests
    lower = {name.lower(): value for name, value in headers.items()}
    given = {name: lower[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    answer = session_api(None)("POST", f"/hooks/{row.uid}", body, kind=lower["content-type"], headers=given)
    assert answer.status_code == 202, answer.content
    assert Event.objects.get().payload == {"title": "Week 47"}


@pytest.mark.row("D9")
def test_feedback_is_taken_read_decided(version, as_alice, bob, token_api):
    wrong = {"skill": "docs/summarise", "outcome": "wrong_skill", "utterance": "translate it"}
    api = token_api(bob)
    assert api.post("feedback", wrong).json() == {"skill": "docs/summarise", "counted": True}
    for counted in (True, False):
        told = {"skill": "docs/summarise@1.0.0", "outcome": "worked", "note": "good"}
        assert api.post("feedback", told).json()["counted"] is counted
    assert_error(api.get("skills/docs/summarise/feedback"), 403, "FORBIDDEN")
    seen = as_alice.get("skills/docs/summarise/feedback").json()
    assert (seen["counts"]["worked"], seen["notes"][0]["note"]) == (1, "good")
    (proposal,) = seen["proposals"]
    decided = as_alice.post(f"skills/docs/summarise/feedback/{proposal['id']}", {"accept": True}).json()
    assert decided["proposals"] == []
    assert [(t["utterance"], t["must_match"]) for t in decided["tests"]] == [("translate it", False)]
    made = as_alice.post("skills/docs/summarise/trigger-tests", {"utterance": "sum up", "must_match": True})
    assert made.status_code == 201
    gone = as_alice("DELETE", f"skills/docs/summarise/trigger-tests/{made.json()['id']}")
    assert gone.status_code == 204


@pytest.mark.row("P2", "D9")
def test_feedback_on_what_is_not_there_and_on_what_is_private_is_the_same(version, charlie):
    api = session_api(charlie)
    answers = [
        api.post("feedback", {"skill": f"docs/{slug}", "outcome": "worked"}).json()["message"]
        for slug in ("summarise", "nothing-x")
    ]
    assert answers[0] == answers[1].replace("nothing-x", "summarise")
    assert_error(
        session_api(None).post("feedback", {"skill": "docs/summarise", "outcome": "worked"}),
        401,
        "SIGN_IN_REQUIRED",
    )
    assert not ProposedTriggerTest.objects.exists()
