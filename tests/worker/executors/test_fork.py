"""Fork use: row D5, against a model's endpoint that speaks real HTTP on this machine."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from registry.identity.actors import Actor
from registry.models import Skill
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from registry.versions.needs.change_additions import set_additions
from registry.versions.publishing.publish import publish
from tests.servers.model import anthropic_response, model_server, text_response, tool_call_response
from worker.executors.agent_loop.tools import Toolbox
from worker.models import Attempt, Run, Step
from worker.protocols.call import Request
from worker.run_views.documents import run_document
from worker.runs import cancel
from worker.runs.request import request_run
from worker.service import inline
from worker.service.inline import request_and_execute

pytestmark = [pytest.mark.row("D5"), pytest.mark.django_db]
KEY = "sk-very-secret-key"


@pytest.fixture
def model(settings):
    with model_server() as server:
        settings.SKILLQUAY_MODEL_URL = f"{server.url}/v1"
        settings.SKILLQUAY_MODEL_NAME = "large"
        settings.SKILLQUAY_MODEL_KEY = KEY
        settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.0/8"]
        yield server


FILES = [
    ("references/rules.md", b"Rule one.\nRule two.\n"),
    ("scripts/count.py", b"import sys\nprint('{\"words\": %d}' % len(sys.argv))\n"),
]


@pytest.fixture
def fork(team, alice):
    def make(body="Count the words of $ARGUMENTS.", front="", *, files=FILES, slug="forked"):
        head = (
            f"---\nname: {slug}\ndescription: For tests.\nversion: 1.0.0\ncontext: fork\n{front}---\n{body}"
        )
        package = read_files([("SKILL.md", head.encode()), *files])
        return publish(package, team=team, actor=Actor(user=alice)).version

    return make


@pytest.fixture
def use(alice):
    def run(version, inputs=None):
        return request_and_execute(
            actor=Actor(user=alice), version=version, request=Request(inputs=inputs or {})
        )

    return run


def steps(run):
    return list(Step.objects.filter(run=run).order_by("seq"))


def test_the_prompt_is_followed_in_a_loop_and_its_text_is_the_result(model, fork, use, alice):
    model.respond_with(
        tool_call_response("Read", file_path="/skill/references/rules.md"),
        text_response("Two rules.", usage=(30, 4)),
    )
    run = use(fork(front="model: opus[1m]\neffort: high\n"), {"arguments": "a b"})
    assert (run.status, run.protocol, run.result["output"]) == ("succeeded", "fork", "Two rules.")
    assert run.result["messages"][0] == {"role": "user", "content": "Count the words of a b."}
    assert run.result["context"]["model"] == "opus[1m]"
    assert run.result["token_usage"] == 49
    assert run.result["metadata"] == {"model": "large", "turns": 2, "tokens_in": 40, "tokens_out": 9}
    assert [(step.kind, step.name) for step in steps(run)] == [
        ("model", "Turn 1: Read"),
        ("tool", "Read /skill/references/rules.md"),
        ("model", "Turn 2: answer"),
    ]
    assert steps(run)[1].output == "Rule one.\nRule two."
    told = [part["content"] for part in model.requests[1]["messages"] if part["role"] == "tool"]
    assert told == ["Rule one.\nRule two."]
    assert model.requests[0]["model"] == "large"
    assert model.paths[0] == "/v1/chat/completions"
    assert run_document(run, actor=Actor(user=alice))["protocol"] == "fork"
    assert Skill.objects.get(pk=run.skill_id).usage_count == 1


def test_commands_and_scripts_run_in_the_sandbox_and_leave_files(model, fork, use):
    model.respond_with(
        tool_call_response(
            "Bash", command="echo hello > /job/output/a.txt; cat /skill/references/rules.md | wc -l"
        ),
        tool_call_response("Script", id="count", inputs={"a": 1}),
        tool_call_response("Grep", pattern="two", path="references"),
        tool_call_response("Glob", pattern="references/*.md"),
        text_response("Done."),
    )
    run = use(fork())
    assert run.status == "succeeded", run.message
    tools = [step for step in steps(run) if step.kind == "tool"]
    assert tools[0].output == "2"
    assert '"words": 3' in tools[1].output
    assert "Rule two." in tools[2].output
    assert tools[3].output == "references/rules.md"
    assert [file.path for file in run.artifacts.all()] == ["a.txt"]
    assert run.sandbox["tier"]


DIAL = b"""import urllib.request
try:
    urllib.request.urlopen("http://api.crossref.org/works", timeout=5)
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("additions", "code"),
    [([], "NETWORK_HOST_REFUSED"), ([("host", "api.crossref.org")], "NETWORK_UNREACHABLE")],
)
def test_script_of_an_agent_loop_uses_the_additions_of_the_version(
    model, fork, use, alice, monkeypatch, additions, code
):
    monkeypatch.setattr("worker.executors.script.resolve_host", lambda *_host: ["127.0.0.1"])
    version = fork(files=[("scripts/dial.py", DIAL)])
    version = set_additions(version, additions, Actor(user=alice))
    model.respond_with(tool_call_response("Script", id="dial"), text_response("Done."))
    run = use(version)
    assert run.status == "succeeded", run.message
    assert {each["code"] for each in Attempt.objects.get(run=run).network} == {code}


@pytest.mark.parametrize(
    ("front", "offered"),
    [
        ("", {"Read", "Glob", "Grep", "Bash", "Script"}),
        ("allowed-tools: Read, Grep\n", {"Read", "Grep"}),
        ("allowedTools: [Read]\n", {"Read"}),
        ("allowed_tools: Read Bash(git:*)\n", {"Read", "Bash"}),
        ("allowed-tools: WebFetch\n", set()),
    ],
)
def test_only_allowed_tools_are_offered(model, fork, use, front, offered):
    model.respond_with(text_response("Done."))
    run = use(fork(front=front))
    assert {tool["function"]["name"] for tool in model.requests[0].get("tools", [])} == offered
    assert any("WebFetch" in warning for warning in run.result["warnings"]) == ("WebFetch" in front)


def test_what_allowed_tools_leave_out_is_not_done(model, fork, use):
    asked = ["echo fine", "touch x", "echo a && touch x", "echo $(id)", "echoes x"]
    model.respond_with(
        *(tool_call_response("Bash", command=command) for command in asked),
        tool_call_response("Script", id="count"),
        text_response("Done."),
    )
    run = use(fork(front='allowed-tools: ["Bash(echo:*)", "Script(other)"]\n'))
    tools = [step for step in steps(run) if step.kind == "tool"]
    assert tools[0].output == "fine"
    assert [step.output.partition(":")[0] for step in tools[1:]] == ["Not allowed"] * 5
    assert all((step.input.get("command") or "count") in step.output for step in tools[1:])


def test_a_stranger_s_prompt_may_only_read(model, fork, use):
    model.respond_with(text_response("Done."))
    version = fork("!`echo ran` $1")
    Skill.objects.filter(pk=version.skill_id).update(source="mcp")
    use(version, {"arguments": "x"})
    assert {tool["function"]["name"] for tool in model.requests[0]["tools"]} == {"Read", "Glob", "Grep"}
    assert model.requests[0]["messages"][-1]["content"] == "!`echo ran` x"


def test_its_prompt_s_commands_are_run_first(model, fork, use):
    model.respond_with(text_response("Done."))
    run = use(fork("There are !`ls ${CLAUDE_SKILL_DIR}/scripts`; read ${CLAUDE_SKILL_DIR}."))
    assert model.requests[0]["messages"][-1]["content"] == "There are count.py; read /skill."
    assert [step.kind for step in steps(run)] == ["command", "model"]


def test_the_agent_s_definition_in_the_package_leads_it(model, fork, use):
    model.respond_with(text_response("Done."))
    use(fork(front="agent: critic\n", files=[("agents/critic.md", b"---\nname: critic\n---\nBe brief.")]))
    assert model.requests[0]["messages"][0]["content"].endswith("Be brief.")


@pytest.mark.parametrize(
    ("wish", "name", "warned"),
    [
        ("opus", "big", False),
        ("opus[1m]", "big", False),
        ("sonnet[1m]", "long", False),
        ("haiku", "large", True),
        ("large", "large", False),
        ("inherit", "large", False),
    ],
)
def test_a_model_s_name_is_the_one_that_the_site_gives_it(model, fork, use, settings, wish, name, warned):
    settings.SKILLQUAY_MODELS = {"opus": "big", "sonnet[1m]": "long"}
    model.respond_with(text_response("Done."))
    run = use(fork(front=f"model: {wish}\n"))
    assert model.requests[0]["model"] == name
    assert bool(run.result["warnings"]) == warned


def test_without_a_model_it_is_refused_with_the_setting_s_name(fork, alice):
    with pytest.raises(Refusal) as no:
        request_run(actor=Actor(user=alice), version=fork(), request=Request())
    assert no.value.code == "MODEL_NOT_CONFIGURED"
    assert "SKILLQUAY_MODEL_URL" in no.value.problems[0].remedy()


def test_a_model_taken_away_meanwhile_refuses_the_run(model, fork, alice, settings):
    run = request_run(actor=Actor(user=alice), version=fork(), request=Request())
    settings.SKILLQUAY_MODEL_URL = ""
    run = inline.execute_here(run)
    assert (run.status, run.failure_code) == ("refused", "MODEL_NOT_CONFIGURED")


ERROR = {"error": {"message": f"Incorrect API key provided: {KEY}"}}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((401, ERROR), "MODEL_REFUSED"),
        ((400, ERROR), "MODEL_REJECTED"),
        ((404, ERROR), "MODEL_REJECTED"),
        ((504, ERROR), "MODEL_TIMEOUT"),
        ((429, ERROR), "MODEL_BUSY"),
        ((500, ERROR), "MODEL_FAILED"),
        ((302, ERROR), "MODEL_UNUSABLE"),
        (b"<html>", "MODEL_UNUSABLE"),
        ({"choices": []}, "MODEL_UNUSABLE"),
        (b"[" * 5_000_000, "MODEL_UNUSABLE"),
        (tool_call_response("Teleport", where="x"), "MODEL_UNUSABLE"),
        (tool_call_response("Read", file_path="SKILL.md"), "TOOL_LOOP"),
    ],
)
def test_what_goes_wrong_with_the_model_has_a_code_and_never_tells_the_key(
    model, fork, use, monkeypatch, answer, code
):
    monkeypatch.setattr("worker.executors.agent_loop.loop._RETRIES", 0)
    model.respond_with(answer)
    run = use(fork())
    assert (run.status, run.failure_code) == ("failed", code)
    assert run.result["error"]["details"]["remedy"]
    kept = str([run.result, run.message, *(s.output for s in steps(run)), *(s.error for s in steps(run))])
    log = b"".join(bytes(chunk.data) for chunk in run.log_chunks.all()).decode()
    assert KEY not in kept + log
    assert model.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_busy_endpoint_is_asked_again(model, fork, use):
    model.respond_with((429, {}), text_response("Done."))
    assert use(fork()).result["output"] == "Done."


def test_a_model_that_cannot_be_reached_or_is_not_allowed_has_its_code(model, fork, use, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    assert use(fork()).failure_code in ("OUTBOUND_REFUSED", "OUTBOUND_ADDRESS")
    assert model.requests == []


def test_a_model_that_is_too_slow_is_given_up(model, fork, use, settings, monkeypatch):
    monkeypatch.setattr("worker.executors.agent_loop.loop._RETRIES", 0)
    settings.SKILLQUAY_MODEL_SECONDS = 0.2
    model.respond_with(lambda body: model.release.wait(5) and text_response("late"))
    assert use(fork()).failure_code == "MODEL_TIMEOUT"


def test_the_run_s_own_time_limit_holds(model, fork, use):
    model.respond_with(lambda body: model.release.wait(5) and text_response("late"))
    run = use(fork(front="security:\n  timeout_ms: 300\n"))
    assert (run.status, run.failure_code) == ("timed_out", "TIMEOUT")


def test_tokens_and_turns_are_budgets(model, fork, use, settings):
    settings.SKILLQUAY_FORK_TOKENS = 1000
    model.respond_with(tool_call_response("Glob", pattern="*", usage=(900, 200)), text_response("Done."))
    run = use(fork())
    assert (run.failure_code, run.result["token_usage"]) == ("TOKEN_BUDGET", 1100)
    assert len(model.requests) == 1
    settings.SKILLQUAY_FORK_TURNS = 8
    model.respond_with(*(tool_call_response("Glob", pattern=f"{n}*") for n in range(30)))
    model.requests.clear()
    run = use(fork(front="effort: low\n", slug="small"))
    assert run.failure_code == "TURN_BUDGET"
    assert len(model.requests) == 2


def test_an_endpoint_that_does_not_count_is_counted_by_its_text(model, fork, use):
    model.respond_with(text_response("x" * 400, usage=None))
    assert use(fork()).result["token_usage"] > 100


def test_nothing_of_the_site_reaches_the_sandbox(model, fork, use):
    model.respond_with(
        tool_call_response("Bash", command="env; cat /proc/self/environ"), text_response("Done.")
    )
    run = use(fork())
    assert KEY not in str([step.output for step in steps(run)])


def test_anthropic_s_wire_format_works_too(model, fork, use, settings):
    settings.SKILLQUAY_MODEL_URL, settings.SKILLQUAY_MODEL_PROTOCOL = model.url, "anthropic"
    used = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "references/rules.md"}}
    model.respond_with(
        anthropic_response(used, stop="tool_use"), anthropic_response({"type": "text", "text": "Two."})
    )
    run = use(fork())
    assert (run.status, run.result["output"], run.result["token_usage"]) == ("succeeded", "Two.", 20)
    assert model.paths == ["/v1/messages"] * 2
    assert model.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.django_db(transaction=True)
def test_steps_are_seen_as_they_happen_and_a_cancel_is_felt_within_a_second(model, fork, alice):
    """The model's second answer takes for ever; the worker is another thread, as it is another process."""
    from django.db import connection

    def slow(body):
        model.started.set()
        model.release.wait(20)
        return text_response("late")

    model.respond_with(tool_call_response("Glob", pattern="*"), slow)
    run = request_run(actor=Actor(user=alice), version=fork(), request=Request())

    def work():
        inline.execute_here(run)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert model.started.wait(20)
    ends = time.monotonic() + 5
    while Step.objects.filter(run_id=run.pk).count() < 2 and time.monotonic() < ends:
        threading.Event().wait(0.05)
    assert [step.kind for step in Step.objects.filter(run_id=run.pk).order_by("seq")] == ["model", "tool"]
    assert Run.objects.get(pk=run.pk).status == "running"
    began = time.monotonic()
    cancel.cancel(Run.objects.get(pk=run.pk), actor=Actor(user=alice))
    worker.join(10)
    assert time.monotonic() - began < 1.5
    ended = Run.objects.get(pk=run.pk)
    assert (ended.status, ended.failure_code) == ("cancelled", "CANCELLED")
    assert ended.result["token_usage"] == 15


def test_tool_call_with_a_wrong_key_names_the_parameter():
    steps: list[Any] = []
    monitor = SimpleNamespace(
        write_log=str, add_step=steps.append, stored_steps=0, pending_steps=lambda: steps
    )
    attempt: Any = SimpleNamespace(monitor=monitor)
    unused: Any = None
    box = Toolbox(attempt, unused, unused, unused)
    answer = box.use("Read", {"path": "references/rules.md"})
    assert "requires the parameter file_path" in answer
    assert "has no parameter path" in answer
    assert steps[0].error["message"] == answer
