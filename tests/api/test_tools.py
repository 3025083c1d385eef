import pytest

from tests.api.conftest import assert_error
from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("C9"), pytest.mark.django_db]
HEAD = """---
name: keeper
description: Keeps what people like.
version: 1.0.0
type: service
protocol: abp
abp:
  kind: action
  tools:
    - name: PreferenceRecorder
      description: Records
      parameters:
        content: {type: string, required: true}
        strength: {type: number, minimum: 0, maximum: 1, default: 0.5}
        kind: {type: string, enum: [drink, food], default: drink}
    - name: Other
capabilities: [a]
tags: [a]
triggers: {intents: [a]}
input_schema: {type: object, required: [never_asked_of_a_tool]}
output_schema: {type: object}
security: {timeout_ms: 20000, memory_mb: 256, network: none, filesystem: none}
resources: {entry: ./scripts/execute.py}
---
# Keeper
"""
CODE = """def PreferenceRecorder(parameters, context):
    return {"id": context["id"], "tool": "PreferenceRecorder", "result": {"output": parameters}}
def Other(parameters):
    raise KeyError("nothing")
"""


@pytest.fixture
def keeper(publish):
    return publish({"SKILL.md": HEAD, "scripts/execute.py": CODE}, visibility="site")


def asked(**more):
    return {"skill": "docs/keeper", "tool": "PreferenceRecorder", "inputs": {"content": "latte"}, **more}


@pytest.mark.parametrize(
    ("body", "status", "code", "path"),
    [
        (asked(tool=None), 422, "TOOL_REQUIRED", "tool"),
        (asked(tool="Gone"), 404, "TOOL_UNKNOWN", "tool"),
        (asked(inputs={}), 422, "MISSING_PARAM", "/content"),
        (asked(inputs={"content": 1}), 422, "VALUE_INVALID", "/content"),
        (asked(inputs={"content": "a", "strength": 2}), 422, "VALUE_INVALID", "/strength"),
        (asked(inputs={"content": "a", "kind": "car"}), 422, "VALUE_INVALID", "/kind"),
        (asked(action="a"), 422, "CHOICE_AMBIGUOUS", "tool"),
    ],
)
def test_a_call_that_cannot_be_is_refused_with_its_place_before_it_is_queued(
    keeper, as_bob, body, status, code, path
):
    answer = as_bob.post("runs", {key: value for key, value in body.items() if value is not None})
    assert_error(answer, status, code)
    assert answer.json()["problems"][0]["path"] == path
    assert not Run.objects.exists()


def test_a_tool_answers_with_its_id_its_name_and_its_result(keeper, as_bob):
    uid = as_bob.post("runs", asked(context={"request_id": "abp_call_123"})).json()["id"]
    execute_here(Run.objects.get(uid=uid))
    document = as_bob.get(f"runs/{uid}").json()
    output = {"content": "latte", "strength": 0.5, "kind": "drink"}
    assert (document["protocol"], document["status"], document["output"]) == ("abp", "succeeded", output)
    assert document["answer"] == {
        "id": "abp_call_123",
        "tool": "PreferenceRecorder",
        "result": {"output": output},
    }


def test_a_tool_that_throws_fails_the_run_in_the_protocols_shape(keeper, as_bob):
    uid = as_bob.post("runs", asked(tool="Other")).json()["id"]
    execute_here(Run.objects.get(uid=uid))
    document = as_bob.get(f"runs/{uid}").json()
    assert (document["status"], document["failure_code"]) == ("failed", "INTERNAL_ERROR")
    assert document["answer"]["error"]["details"]["name"] == "KeyError"
