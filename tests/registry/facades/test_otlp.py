"""Activations that Claude Code reports with OpenTelemetry, as JSON and as protocol buffers."""

from __future__ import annotations

import gzip
import json

import pytest
from django.test import Client

from registry.facades.otlp import protobuf
from registry.models import ActivationDay, Membership, Team, UnknownActivation, Use, UseDay
from registry.usage.activations import activations_by_trigger
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
LOGS, PROTOBUF = "/otlp/v1/logs", "application/x-protobuf"


def pairs(name, trigger, **more):
    found = {"event.name": "skill_activated", "skill.name": name, "invocation_trigger": trigger, **more}
    return {"user.email": "alice@example.org", "prompt": "secret", **found}


def as_json(*events):
    records = [
        {
            "timeUnixNano": "1795214762272000000",
            "body": {"stringValue": f"claude_code.{event['event.name']}"},
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in event.items()],
            "traceId": "",
        }
        for event in events
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "claude-code"}}]}
    scope = {"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": records}
    return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}).encode()


def field(number, data):
    return bytes([number << 3 | 2]) + protobuf._varint(len(data)) + data


def as_protobuf(*events):
    records = b""
    for event in events:
        record = b"\x09" + b"\x01" * 8 + b"\x10\x09"  # time, severity
        for key, value in event.items():
            record += field(6, field(1, key.encode()) + field(2, field(1, value.encode())))
        records += field(2, record + b"\x45\x00\x00\x00\x00")
    return field(1, field(1, b"") + field(2, field(1, b"") + records))


def send(body, headers, *, kind="application/json", status=200, **more):
    answer = Client().post(LOGS, body, kind, headers={**headers, **more})
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == kind
    return answer


@pytest.mark.parametrize(("kind", "encode"), [("application/json", as_json), (PROTOBUF, as_protobuf)])
def test_activations_count_typed_against_chosen(member, report, kind, encode):
    plugin = {"plugin.name": "weekly-report", "marketplace.name": "docs"}
    events = [
        pairs("weekly-report", "user-slash", **plugin),
        pairs("weekly-report:weekly-report", "claude-proactive"),
        pairs("weekly-report", "claude-proactive", **{**plugin, "marketplace.name": "skillquay"}),
        pairs("weekly-report", "nested-skill"),
        {"event.name": "user_prompt", "prompt": "secret"},
    ]
    answer = send(encode(*events), member, kind=kind)
    assert answer.content in (b"", b"{}")
    assert activations_by_trigger(report.skill) == {"typed": 1, "chosen": 2, "nested": 1}
    assert (Use.objects.get().last_kind, UseDay.objects.get().count) == ("activation", 1)
    document = get("/api/v1/skills/docs/weekly-report/usage", **member).json()
    assert document["activations"] == {"typed": 1, "chosen": 2, "nested": 1}
    assert document["kinds"]["activation"] == 1
    assert not UnknownActivation.objects.exists()


def test_compressed_logs_are_read(member, report):
    body = gzip.compress(as_json(pairs("weekly-report", "user-slash")))
    send(body, member, **{"Content-Encoding": "gzip"})
    assert ActivationDay.objects.get().count == 1
    send(b"\x1f\x8bbroken", member, status=400, **{"Content-Encoding": "gzip"})


def test_unknown_and_missing_names_count_for_the_team_alone(team, alice, charlie, token_of):
    publish_files(tidy_files(), team=team, user=alice)  # private
    own = Membership.objects.filter(user=charlie).first()
    headers = token_of(charlie)
    events = [pairs(name, "user-slash") for name in ("weekly-report", "nothing", "custom_skill", "")]
    answers = {send(as_json(event), headers).content for event in events}
    assert answers == {b"{}"}  # a private skill is like none
    rows = UnknownActivation.objects.values_list("team", "name", "count").order_by("name")
    assert [row[1:] for row in rows] == [("", 2), ("nothing", 1), ("weekly-report", 1)]
    assert {row[0] for row in rows} == {own.team_id if own else None}
    assert not Use.objects.exists()
    path = f"/api/v1/teams/{Team.objects.get(pk=rows[0][0]).slug}/unknown-activations"
    items = get(path, **headers).json()["items"]
    assert (items[0]["name"], items[0]["count"]) == ("", 2)
    get(path, status=404, **token_of(alice))
    get(path, status=401)


def test_names_of_a_team_are_limited(member, team, monkeypatch):
    monkeypatch.setattr("registry.usage.activations.MAX_NAMES", 2)
    send(as_json(*(pairs(f"name-{n}", "user-slash") for n in range(4))), member)
    assert dict(UnknownActivation.objects.values_list("name", "count")) == {"name-0": 1, "name-1": 1, "": 2}


@pytest.mark.parametrize(("kind", "encode"), [("application/json", as_json), (PROTOBUF, as_protobuf)])
def test_records_above_the_limit_are_rejected_in_part(member, report, monkeypatch, kind, encode):
    monkeypatch.setattr("registry.facades.otlp.views._MAX_RECORDS", 2)
    answer = send(encode(*[pairs("weekly-report", "user-slash")] * 5), member, kind=kind)
    assert ActivationDay.objects.get().count == 2
    if kind == PROTOBUF:
        assert answer.content.startswith(b"\x0a")
        assert answer.content[2:4] == b"\x08\x03"
    else:
        assert answer.json()["partialSuccess"]["rejectedLogRecords"] == "3"


@pytest.mark.row("P2")
def test_token_of_one_team_is_required(alice, team, token_of):
    body = as_json(pairs("x", "user-slash"))
    assert send(body, {}, status=401).json()["code"] == 16
    send(body, token_of(alice, "run"), status=403)
    Membership.objects.create(team=Team.objects.create(slug="other", name="Other"), user=alice, role="member")
    assert send(body, token_of(alice), status=400).json()["code"] == 3
    client = Client()
    client.force_login(alice)
    assert client.post(LOGS, body, "application/json").status_code == 401  # never a session


@pytest.mark.parametrize("kind", ["application/json", PROTOBUF, "text/plain"])
@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'{"resourceLogs": 1}', b'{"resourceLogs": [1]}', b"\xff" * 30, b"\x0a\x7f", b"\x0b\x0c"],
)
def test_malformed_request_gets_a_status(member, kind, body):
    answer = Client().post(LOGS, body, kind, headers=member)
    assert answer.status_code == 400
    if kind == PROTOBUF:
        assert answer.content.startswith(b"\x08\x03")
    else:
        assert answer.json()["code"] == 3
    assert Client().post("/otlp/v1/traces", body, kind, headers=member).status_code == 404


def test_random_protocol_buffers_never_fail(member):
    whole = as_protobuf(pairs("x", "user-slash"))
    for place in range(0, len(whole), 7):
        for body in (whole[:place], whole[:place] + b"\xff" + whole[place + 1 :]):
            assert Client().post(LOGS, body, PROTOBUF, headers=member).status_code in (200, 400)
