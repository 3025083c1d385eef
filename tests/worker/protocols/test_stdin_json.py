"""Protocol B: the request on stdin, the answer on stdout, and the standard codes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.packages.problems import Refusal, code_named
from tests.worker.protocols.running import SINGLE, call
from worker.protocols.call import Call, Request
from worker.protocols.errors import STANDARD
from worker.protocols.formats.json_answer import find_answer
from worker.protocols.outcome import interpret
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import SandboxResult

NINE = [code.name for code in STANDARD]
REQUEST = Request(action="go")


def outcome(stdout, exit_code=0, ending="exited", **more):
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    ended = SandboxResult(ending, exit_code, None, text.encode(), b"", b"", 0.1, "bwrap", {})
    return interpret(Call("stdin_json", "scripts/x.py", (), request=REQUEST), ended, **more)


@pytest.mark.row("B1")
def test_the_script_reads_action_params_and_context(tmp_path):
    script = {
        "scripts/x.py": "import json, sys\n"
        'print(json.dumps({"success": True, "data": json.loads(sys.stdin.read())}))\n'
    }
    context = {"agent_id": "a", "user_id": "u", "request_id": "r"}
    ran = call(script, tmp_path, skill=SINGLE, action="go", inputs={"k": "二"}, context=context)
    assert ran.outcome.output == {"action": "go", "params": {"k": "二"}, "context": context}


@pytest.mark.row("B6")
@pytest.mark.parametrize(("debug", "seen"), [(True, "1"), (False, None)])
def test_debugging_is_an_environment_variable(debug, seen, tmp_path):
    script = {
        "scripts/x.py": "import json, os\n"
        'print(json.dumps({"success": True, "data": os.getenv("SKILL_DEBUG")}))\n'
    }
    assert call(script, tmp_path, skill=SINGLE, action="go", debug=debug).outcome.output == seen


@pytest.mark.row("B2")
def test_a_successful_answer_is_kept_whole():
    answer = {
        "success": True,
        "data": {"n": 1},
        "message": "done",
        "metadata": {"items_count": 1},
        "extra": [1],
    }
    found = outcome(answer)
    assert (found.success, found.output, found.message) == (True, {"n": 1}, "done")
    assert found.metadata == {"items_count": 1}
    assert found.answer == {**answer, "action": "go"}


@pytest.mark.row("B2")
def test_an_action_that_the_answer_names_is_kept():
    assert outcome({"success": True, "action": "other"}).answer["action"] == "other"


@pytest.mark.row("B2", "B3")
@pytest.mark.parametrize(
    ("stdout", "exit_code", "code"),
    [
        ({"success": True}, 0, ""),
        ({"success": True}, 1, "INTERNAL_ERROR"),
        ({"success": False, "error": {"code": "DATA_NOT_FOUND"}}, 0, "DATA_NOT_FOUND"),
        ({"success": False, "error": {"code": "DATA_NOT_FOUND"}}, 1, "DATA_NOT_FOUND"),
        ({"success": False}, 0, "INTERNAL_ERROR"),
        ({"success": False, "error": "why"}, 0, "INTERNAL_ERROR"),
        ({"success": False, "error": {"code": 7}}, 0, "INTERNAL_ERROR"),
        ("not json", 0, "INVALID_JSON"),
        ("not json", 1, "INTERNAL_ERROR"),
        ("", 0, "INVALID_JSON"),
        ("", None, "INTERNAL_ERROR"),
        ("[1, 2]", 0, "INVALID_JSON"),
        ('{"success": NaN}', 0, "INVALID_JSON"),
    ],
)
def test_success_and_exit_code_together_say_how_it_went(stdout, exit_code, code):
    found = outcome(stdout, exit_code)
    assert (found.failure_code, found.success) == (code, code == "")
    assert found.answer["action"] == "go"
    if code:
        assert found.answer["success"] is False
        assert found.message


@pytest.mark.row("B3")
@pytest.mark.parametrize("code", [*NINE, "QUOTA_EXCEEDED", "自定义"])
def test_every_code_of_a_skill_is_kept_with_message_and_details(code):
    error = {"code": code, "message": "why", "details": {"x": 1}}
    found = outcome({"success": False, "error": error})
    assert (found.failure_code, found.message, found.error) == (code, "why", error)


@pytest.mark.row("B3")
def test_the_nine_codes_are_explained():
    named = (
        "INVALID_JSON UNKNOWN_ACTION MISSING_PARAM INVALID_PARAM TIMEOUT PERMISSION_DENIED DATA_NOT_FOUND"
        " EXTERNAL_SERVICE_ERROR INTERNAL_ERROR"
    )
    assert named.split() == NINE
    assert all(code_named(code).message and code_named(code).remedy for code in NINE)


@pytest.mark.row("B3", "B4")
@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("timed_out", "TIMEOUT"),
        ("output_limit", "OUTPUT_LIMIT"),
        ("memory_limit", "MEMORY_LIMIT"),
        ("disk_limit", "DISK_LIMIT"),
        ("cancelled", "CANCELLED"),
        ("lease_lost", "WORKER_LOST"),
        ("start_failed", "START_FAILED"),
    ],
)
def test_the_portal_answers_where_it_stopped_the_script(ending, code):
    found = outcome({"success": True}, None, ending)
    assert (found.success, found.failure_code) == (False, code)


@pytest.mark.row("B3", "B4")
def test_a_script_past_its_time_is_a_timeout(tmp_path):
    ran = call(
        {"scripts/x.py": "import time\ntime.sleep(60)\n"},
        tmp_path,
        skill=SINGLE,
        action="go",
        limits=Limits(timeout_s=0.5),
    )
    assert ran.outcome.answer["error"]["code"] == "TIMEOUT"


@pytest.mark.row("B2")
@pytest.mark.parametrize(
    ("stdout", "answer"),
    [
        ('{\n  "success": true\n}\n', {"success": True}),
        ('\ufeff{"success": true}', {"success": True}),
        (
            'log {x} it\'s\n{\n "success": true,\n "data": {"a": "}"}\n}\nbye',
            {"success": True, "data": {"a": "}"}},
        ),
        ('{"success": true}\n{"n": 1}', {"success": True}),
        ('{"n": 1}\n{"n": 2}\n', {"n": 2}),
        ('{"success": false} {"success": true}', {"success": True}),
        ("{'success': True}", None),
        ("{" * 200_000, None),
        ('{"' * 500_000, None),
        ('{"a":1,' * 100_000, None),
        ('{"a":' * 50_000, None),
        ('"x"', None),
    ],
)
def test_the_answer_is_found_among_log_lines(stdout, answer):
    assert find_answer(stdout) == answer


@pytest.mark.row("B2")
def test_a_hostile_answer_costs_no_more_than_a_few_readings():
    filler = "1," * 5_000
    assert find_answer(f'{{"a":[{filler}1],"b":' * 900 + '\n{"success": true}') == {"success": True}


@pytest.mark.row("B2")
@given(st.text(), st.dictionaries(st.text(), st.integers(), min_size=1))
def test_no_output_upsets_the_search(noise, value):
    find_answer(noise)
    assert find_answer(json.dumps(value)) == value


@pytest.mark.row("B1")
def test_an_action_must_be_named_where_there_are_several(tmp_path):
    script = {"scripts/x.py": 'SUPPORTED_ACTIONS = ["one", "two"]\n'}
    with pytest.raises(Refusal) as refused:
        call(script, tmp_path, skill=SINGLE)
    assert refused.value.code == "ACTION_REQUIRED"
    assert "one, two" in str(refused.value)


@pytest.mark.row("C5")
def test_data_are_held_to_the_output_schema():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert outcome({"success": True, "data": {"n": 1}}, output_schema=schema).success
    found = outcome({"success": True, "data": {"n": "1"}}, output_schema=schema)
    assert (found.failure_code, found.output) == ("OUTPUT_INVALID", {"n": "1"})
    assert found.error["details"]["problems"][0]["path"] == "/n"
    assert (
        outcome({"success": False, "error": {"code": "TIMEOUT"}}, output_schema=schema).failure_code
        == "TIMEOUT"
    )


@pytest.mark.row("B2")
def test_an_answer_that_says_neither_is_taken_by_its_exit_code_with_a_warning():
    assert outcome({"data": 1}).warnings
    assert outcome({"data": 1}, 1).failure_code == "INTERNAL_ERROR"
