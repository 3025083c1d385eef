"""Generated skills of every kind, inputs and endings: each run ends in a stated status with a stated code."""

from __future__ import annotations

import itertools
import json
import os

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.identity.actors import Actor
from registry.packages.problems import CODES, Refusal
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from worker.models import RunStatus
from worker.protocols.call import Request
from worker.queue.states import ENDED
from worker.run_views.documents import run_document
from worker.sandbox.policy import SandboxResult
from worker.service.inline import request_and_execute

pytestmark = [pytest.mark.django_db, pytest.mark.row("A3", "B2", "B3", "C8", "C9")]
TIMES = int(os.environ.get("FUZZ_TIMES", "1"))  # a long look: FUZZ_TIMES=34
_NUMBERS = itertools.count()
FULL = {
    "version": "1.0.0",
    "capabilities": ["a"],
    "tags": ["a"],
    "triggers": {"phrases": ["a"]},
    "input_schema": {"type": "object"},
    "output_schema": {},
    "security": {"timeout_ms": 1000},
    "resources": {},
}
TOOLS = [{"name": "one", "parameters": {"a": {"type": "string", "required": True}}}, {"name": "two"}]
FRONTS = [
    {},
    {"profile": "single-file"},
    {"profile": "single-file", "actions": ["go"]},
    {**FULL, "type": "direct"},
    {**FULL, "type": "direct", "output_schema": {"type": "integer"}},
    {**FULL, "type": "preprocessor"},
    {**FULL, "type": "internal"},
    {**FULL, "type": "static"},
    {**FULL, "type": "service"},
    {**FULL, "type": "distributed"},
    {**FULL, "type": "direct", "protocol": "abp", "abp": {"kind": "query", "tools": TOOLS}},
    {**FULL, "type": "direct", "protocol": "abp", "abp": {"kind": "query", "tools": TOOLS[1:]}},
    {"input_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
    {"context": "fork"},
    {"arguments": ["a", "b"], "allowed-tools": "Read"},
]
SCRIPTS = ["a.py", "b.sh", "execute.py", "execute.ts", "execute.js", "one.py", "main.ts", "c.txt"]
TEXTS = st.sampled_from(
    ["", "x", 'it\'s "q" $(id)\n`id`', "🙂二", "\0", "\ud800", "\u202e", "x" * 200_000, "--a", "null"]
) | st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
_KEYS = """
a n text input_path output_dir a-b é success action data error code message output status format tokenUsage
warnings memoryWrites intermediateSteps result tool id returned thrown missing notes metadata stepId stepName
duration timestamp content type importance ownerType details stack
"""
KEYS = st.sampled_from(_KEYS.split())
OBJECTS = st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=5), max_size=6)
NAMES = st.none() | st.sampled_from(["a", "b", "execute", "go", "one", "two", "", "x" * 300, "\ud800", "\0"])
REQUESTS = st.builds(
    Request, inputs=OBJECTS, script=NAMES, action=NAMES, tool=NAMES, stdin=st.none() | TEXTS,
    debug=st.booleans(), context=st.dictionaries(st.sampled_from(["request_id", "session_id", "x"]), JSON),
)  # fmt: skip
OUTPUTS = st.binary(max_size=60) | OBJECTS.map(lambda value: json.dumps(value).encode())
ANSWERS = OUTPUTS | OBJECTS.map(lambda value: json.dumps({"returned": value}).encode())
ENDINGS = st.builds(
    SandboxResult,
    ending=st.sampled_from(["exited"] * 9 + ["timed_out", "output_limit", "memory_limit", "disk_limit",
                                             "cancelled", "start_failed"]),
    exit_code=st.sampled_from([0, 0, 0, 1, 255, None]), signal=st.sampled_from([None, 9]),
    stdout=OUTPUTS, stderr=OUTPUTS, channel=ANSWERS, duration_s=st.just(0.1), tier=st.just("bwrap"),
    enforcement=st.just({}), detail=TEXTS,
)  # fmt: skip


@settings(
    max_examples=30 * TIMES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(FRONTS), st.sets(st.sampled_from(SCRIPTS), max_size=4), REQUESTS, ENDINGS)
def test_every_run_ends_in_a_stated_status_with_a_stated_code(
    team, alice, monkeypatch, front, scripts, request_, ended
):
    monkeypatch.setattr("worker.sandbox.tiers.available.run", lambda *_args, **_more: ended)
    run = _run(front, scripts, request_, team, alice)
    if run is None:
        return
    assert run.status in {*ENDED, RunStatus.WAITING_APPROVAL}
    if run.status in ENDED:
        assert (run.status == "succeeded") is (run.failure_code == "")
    json.dumps(run_document(run, actor=Actor(user=alice)))
    client = Client()
    client.force_login(alice)
    for address in (f"/runs/{run.uid}/", f"/api/v1/runs/{run.uid}", f"/runs/{run.uid}/compare/{run.uid}/"):
        assert client.get(address).status_code == 200


def _run(front, scripts, request_, team, alice):
    """The run; None where the package or the call was refused with a code."""
    try:
        version = _publish(front, scripts, team, alice)
        return request_and_execute(actor=Actor(user=alice), version=version, request=request_)
    except Refusal as refused:
        if refused.code not in CODES:
            raise
    return None


def _publish(front, scripts, team, alice):
    slug = f"generated-{next(_NUMBERS)}"
    head = json.dumps({"name": slug, "description": "Of a test.", **front})  # YAML, as JSON is
    files = [("SKILL.md", f"---\n{head}\n---\n# {slug}\n".encode())]
    files += [(f"scripts/{name}", b"x = 1\n") for name in sorted(scripts)]
    return publish(read_files(files), team=team, actor=Actor(user=alice)).version
