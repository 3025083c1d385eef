"""What strict use of the documents' features found, in runs from pages, the API and the command line.

Each run is started and read in the same way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.factories.skills import publish_files
from tests.pages import Element, parsed
from tests.servers.model import model_server, text_response, tool_call_response
from tests.skipping import require_network
from tests.ways import WAYS, caller
from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.parametrize("way", WAYS)]
HEAD = "---\nname: {name}\ndescription: For tests.\nversion: 1.0.0\n{front}---\n{body}"
SEEDS = """
import urllib.request

def execute(parameters, context):
    with open(parameters["output_dir"] + "/x.txt", "w") as file:
        file.write("left")
    try:
        urllib.request.urlopen("https://api.example.com/")
    except OSError:
        pass
    if parameters["fails"]:
        raise RuntimeError("off")
    error = {"name": "RangeError", "message": "off", "stack": "RangeError: off\\n    at seeds.js:7"}
    step = {"stepId": "s-1", "stepName": "first", "duration": 2, "timestamp": 1700000000000, "error": error}
    write = {"ownerType": "user", "ownerId": "", "type": "fact", "content": "c", "importance": 3}
    return {"output": dict(context), "intermediateSteps": [step], "memoryWrites": [write]}
"""
OUTPUT_DIRS: dict[str, tuple[Any, Any]] = {
    "page": ("", "/etc"),
    "api": (None, {"a": 1}),
    "command": (0, "../.."),
}
CONTEXT = {"session_id": "session-1"}


@dataclass(frozen=True)
class View:
    """A run as the API or the command line answers it, or its page."""

    document: dict[str, Any] = field(default_factory=dict)
    page: Element | None = None

    def output(self) -> Any:
        if self.page is None:
            return self.document["output"]
        [shown] = self.page.select("pre", id="output")
        return json.loads("".join(shown.pieces))


@pytest.fixture
def publish(team, alice):
    """``publish(name, files, front, body)``: publishes ``docs/<name>``."""

    def publish(name, files, front="", body="# Seeds\n"):
        content = {"SKILL.md": HEAD.format(name=name, front=front, body=body), **files}
        publish_files({path: text.encode() for path, text in content.items()}, team=team, user=alice)

    return publish


@pytest.fixture
def start(way, client, alice, monkeypatch):
    """``start(inputs, …)``: starts docs/seeds in this way, executes the run, and returns its view."""
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
    client.force_login(alice)
    call = caller(way, client)

    def start(inputs=None, *, use=False, **more):
        if way == "page":
            fields = {
                "version": "1.0.0",
                "format": "json",
                "inputs_json": json.dumps(inputs or {}),
                "run": "1",
            }
            place = "use" if use else "run"
            address = client.post(f"/skills/docs/seeds/{place}/", fields)["Location"]
            execute_here(Run.objects.latest("pk"))
            return View(page=parsed(client.get(address).text))
        uid = call("POST", "runs", {"skill": "docs/seeds", "inputs": inputs or {}, **more})["id"]
        execute_here(Run.objects.get(uid=uid))
        return View(document=call("GET", f"runs/{uid}"))

    return start


_VIEWS: dict[str, tuple[View, View]] = {}


@pytest.fixture
def views(way, publish, start):
    """A run that succeeds and one that fails, executed once for all tests of this way."""
    if way not in _VIEWS:
        publish("seeds", {"scripts/execute.py": SEEDS}, front="security: {network: none}\n")
        values = zip(OUTPUT_DIRS[way], (False, True), strict=True)
        first, second = (
            start({"output_dir": value, "fails": fails}, **({} if way == "page" else {"context": CONTEXT}))
            for value, fails in values
        )
        _VIEWS[way] = first, second
    return _VIEWS[way]


@pytest.mark.row("C8", "C10")
def test_household_and_session_reach_the_script(views, way):
    view = views[0]
    context = view.output()
    assert context["householdId"] == context["household_id"] != ""
    assert context.get("sessionId") == (None if way == "page" else "session-1")
    documented = (ROOT / "docs/reference/packages.md").read_text().partition("### Context\n")[2]
    assert all(f"`{key}`" in documented for key in context if key.islower())


@pytest.mark.row("C10")
def test_empty_owner_of_a_memory_is_dropped_with_a_warning(views):
    view = views[0]
    if view.page:
        assert not view.page.parts("memory-write")
        warnings = [each.text for each in view.page.parts("warning")]
    else:
        assert view.document["memory_writes"] == []
        warnings = view.document["warnings"]
    assert ["ownerId" in each for each in warnings] == [True]


@pytest.mark.row("C6")
def test_refused_host_is_listed_without_network(views):
    require_network()
    for view in views:
        if view.page:
            dials = [(each["value"], each["code"]) for each in view.page.parts("dial")]
        else:
            dials = [(each["host"], each["code"]) for each in view.document["network"]]
        assert dials == [("api.example.com", "NETWORK_HOST_REFUSED")]


@pytest.mark.row("A5")
def test_output_dir_is_a_folder_of_the_run_whatever_its_value(views):
    for view in views:
        if view.page:
            paths = [link.text for link in view.page.select("a", download="")]
        else:
            paths = [each["path"] for each in view.document["artifacts"]]
        assert paths == ["x.txt"]


@pytest.mark.row("C11")
def test_error_stack_and_time_of_a_step_are_shown(views):
    view = views[0]
    if view.page:
        [step] = [each for each in view.page.parts("step") if each.parts("step-id")]
        assert "at seeds.js:7" in step
        assert step.part("step-id").text == "s-1"
        assert [each["datetime"] for each in step.tags("time")] == ["2023-11-14T22:13:20+00:00"]
    else:
        [step] = [each for each in view.document["steps"] if each["name"] == "first"]
        assert (step["step_id"], step["timestamp"]) == ("s-1", 1_700_000_000_000)
        assert (step["error"]["name"], "seeds.js:7" in step["error"]["stack"]) == ("RangeError", True)


@pytest.mark.row("C11")
def test_error_stack_of_a_failed_run_is_shown(views):
    view = views[1]
    if view.page:
        failure = view.page.part("failure")
        assert "execute.py" in failure.part("error-details")
        assert failure.part("cause")["type"] == "RuntimeError"
    else:
        details = view.document["error"]["details"]
        assert (details["name"], "execute.py" in details["stack"]) == ("RuntimeError", True)


@pytest.mark.row("D4")
def test_code_spans_of_a_prompt_are_text(publish, start):
    body = "Write ``!`x` ``, `` a !`x` b `` or `foo`!`bar`, or wow!`x`.\n"
    publish("seeds", {}, body=body)
    view = start(use=True)
    if view.page:
        [shown] = view.page.select("textarea", id="user")
        assert "".join(shown.pieces).strip() == body.strip()
    else:
        assert view.document["status"] == "succeeded", view.document
        assert [each["content"] for each in view.document["messages"]] == [body]


@pytest.mark.row("D5")
def test_tool_call_with_a_wrong_key_names_the_parameter(publish, start, settings):
    settings.SKILLQUAY_MODEL_NAME = "large"
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    with model_server() as model:
        settings.SKILLQUAY_MODEL_URL = f"{model.url}/v1"
        model.respond_with(tool_call_response("Read", path="SKILL.md"), text_response("Done."))
        publish("seeds", {}, front="context: fork\n")
        view = start(use=True)
    (answer,) = [each["content"] for each in model.requests[1]["messages"] if each["role"] == "tool"]
    assert "file_path" in answer
    if view.page:
        errors = [each.text for each in view.page.parts("step") if answer in each]
        assert len(errors) == 1
    else:
        assert [each["error"]["message"] for each in view.document["steps"] if each["error"]] == [answer]


@pytest.mark.row("C3")
@pytest.mark.django_db(transaction=True)  # the child run is claimed in another thread
def test_required_skill_is_compared_after_resolving(publish, start, way):
    required, started = ("docs/hello", "hello") if way == "api" else ("hello", "docs/hello")
    publish("hello", {"scripts/hello.py": "print(41)\n"})
    script = (
        "def execute(parameters, context):\n    codes = []\n"
        f"    for name in ({started!r}, 'docs/seeds'):\n        try:\n            context.run_skill(name)\n"
        "            codes.append('started')\n        except Exception as error:\n"
        "            codes.append(error.code)\n    return {'output': codes}\n"
    )
    publish("seeds", {"scripts/execute.py": script}, front=f"requires: [{required}]\n")
    view = start()
    codes = view.output()
    assert codes == ["started", "CHILD_NOT_REQUIRED"]
