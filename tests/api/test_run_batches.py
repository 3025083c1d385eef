"""Endpoints of run batches."""

import pytest

from tests.factories.runs import make_run
from worker.models import RunBatch
from worker.run_batches.change import MAX_ACTIVE
from worker.run_batches.loop import process_all

pytestmark = [pytest.mark.row("P5"), pytest.mark.django_db]
FAILED = {"action": "repeat", "filter": {"skill": "docs/summarise", "status": ["failed"]}}

SCHEMA = b"""---
name: sized
description: For tests.
version: 1.0.0
input_schema: {type: object, properties: {size: {type: integer}, unit: {type: string}}, required: [size]}
---
# Sized
"""


@pytest.fixture
def failed(version, alice, team):
    request = {"inputs": {}, "arguments": ["a"]}
    return [make_run(version, alice, team, status="failed", request=request) for _ in range(2)]


def test_preview_counts_without_creating_a_batch(failed, version, bob, team, as_alice, as_bob):
    make_run(version, bob, team, status="succeeded")
    seen = as_alice.post("run-batches", {**FAILED, "version": "9.9.9", "preview": True}).json()
    assert (seen["total"], seen["ready"], seen["skipped"], seen["version"]) == (2, 0, 2, "9.9.9")
    assert [(row["count"], row["problem"]["code"]) for row in seen["reasons"]] == [(2, "NOT_FOUND")]
    seen = as_alice.post("run-batches", {**FAILED, "preview": True}).json()
    assert [row["run"] for row in seen["sample"]] == [run.uid for run in failed]
    seen = as_bob.post("run-batches", {**FAILED, "preview": True}).json()
    assert (seen["ready"], seen["reasons"][0]["problem"]["code"]) == (0, "RUN_BATCH_NOT_ALLOWED")
    assert not RunBatch.objects.exists()


def test_preview_shows_replaced_inputs_and_refused_runs(publish, alice, team, as_alice):
    version = publish({"SKILL.md": SCHEMA, "scripts/sized.py": b"print('{}')\n"})
    request = {"inputs": {"size": 1, "unit": "cm"}, "arguments": []}
    make_run(version, alice, team, status="failed", request=request)
    body = {"action": "repeat", "filter": {"skill": str(version.skill)}, "preview": True}
    for inputs, replaced, code in (
        ({}, {}, None),
        ({"size": 2}, {"size": 1}, None),
        ({"size": "big"}, {"size": 1}, "VALUE_INVALID"),
        ({"size": None}, {"size": 1}, "MISSING_PARAM"),
    ):
        seen = as_alice.post("run-batches", {**body, "inputs": inputs}).json()
        (sample,) = seen["sample"]
        assert (seen["inputs"], sample["replaced_inputs"]) == (inputs, replaced)
        assert (sample["problem"] and sample["problem"]["code"]) == code
    assert not RunBatch.objects.exists()


def test_batch_is_created_once_processed_and_undone(failed, as_alice):
    answers = [as_alice.post("run-batches", FAILED, headers={"Idempotency-Key": "x"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    batch = answers[0].json()
    address = f"run-batches/{batch['id']}"
    assert answers[1].json()["id"] == batch["id"]
    assert (batch["state"], batch["pending"], batch["version"]) == ("queued", 2, "same")
    process_all()
    done = as_alice.get(address).json()
    assert (done["state"], done["total"], done["done"], done["filter"]) == ("done", 2, 2, FAILED["filter"])
    items = as_alice.get(f"{address}/items?state=done").json()["items"]
    assert {row["run"] for row in items} == {run.uid for run in failed}
    assert {row["new_run_status"] for row in items} == {"queued"}
    assert as_alice.post(f"{address}/cancel").json()["code"] == "RUN_BATCH_ENDED"
    assert as_alice.post(f"{address}/cancel", {"undo": True}).json()["undone_at"]
    items = as_alice.get(f"{address}/items").json()["items"]
    assert {row["new_run_status"] for row in items} == {"cancelled"}
    assert [row["id"] for row in as_alice.get("run-batches?state=done").json()["items"]] == [batch["id"]]


def test_batch_is_hidden_from_others(failed, as_alice, as_bob, token_api, alice, team):
    batch = as_alice.post("run-batches", FAILED).json()
    for path in ("", "/items"):
        assert as_bob.get(f"run-batches/{batch['id']}{path}").status_code == 404
    assert as_bob.post(f"run-batches/{batch['id']}/cancel").status_code == 404
    assert as_bob.get("run-batches").json()["items"] == []
    assert token_api(alice, "read", "run", team=team).get(f"run-batches/{batch['id']}").status_code == 404
    assert token_api(alice, "read").post("run-batches", FAILED).status_code == 403


@pytest.mark.parametrize(
    ("body", "code", "path"),
    [
        ({"action": "repeat", "filter": {}}, "RUN_BATCH_FILTER_REQUIRED", "filter"),
        ({**FAILED, "version": "stable"}, "RUN_BATCH_VERSION", "version"),
        ({**FAILED, "action": "cancel", "version": "same"}, "RUN_BATCH_VERSION", "version"),
        ({**FAILED, "action": "cancel"}, "RUN_BATCH_EMPTY", "filter"),
        ({**FAILED, "filter": {"skil": "docs/summarise"}}, "FIELD_INVALID", "filter/skil"),
        ({**FAILED, "filter": {"status": ["broken"]}}, "FIELD_INVALID", "filter/status"),
        ({**FAILED, "action": "erase"}, "FIELD_INVALID", "action"),
        ({"action": "repeat"}, "FIELD_REQUIRED", "filter"),
        ({**FAILED, "action": "cancel", "inputs": {"a": 1}}, "RUN_BATCH_INPUTS", "inputs"),
        ({**FAILED, "inputs": [1]}, "FIELD_INVALID", "inputs"),
        ({**FAILED, "inputs": {"a": "\ud800"}}, "JSON_INVALID", "/inputs/a"),
        (FAILED, "RUN_BATCH_TOO_LARGE", "filter"),
    ],
)
def test_invalid_batch_is_refused(failed, as_alice, settings, body, code, path):
    settings.SKILLQUAY_MAX_BATCH_RUNS = 1
    answer = as_alice.post("run-batches", body).json()
    assert (answer["code"], answer["problems"][0]["path"]) == (code, path)
    assert code != "RUN_BATCH_TOO_LARGE" or "2 runs" in answer["message"]


def test_one_user_has_few_active_batches(failed, as_alice):
    for _ in range(MAX_ACTIVE):
        assert as_alice.post("run-batches", FAILED).status_code == 201
    assert as_alice.post("run-batches", FAILED).json()["code"] == "RUN_BATCH_BUSY"
    process_all()
    assert as_alice.post("run-batches", FAILED).status_code == 201
