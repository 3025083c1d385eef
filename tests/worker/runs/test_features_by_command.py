"""What strict use of the seeds' features found, from the command line, the API and the pages."""

from __future__ import annotations

import io
import json
from contextlib import suppress

import pytest
from django.core.management import call_command

from tests.factories.skills import publish_files
from tests.factories.trees import write_tree
from tests.pages import part, parts
from tests.servers.http import run_server
from tests.servers.model import model_server, text_response, tool_call_response
from tests.shell import api
from tests.skipping import require_network
from worker.service.import_jobs import import_waiting

pytestmark = [pytest.mark.django_db, pytest.mark.row("A3", "P5")]
HEAD = "---\nname: seeds\ndescription: For tests.\nversion: 1.0.0\n{front}---\n"


def _call(*words):
    out = io.StringIO()
    with suppress(SystemExit):
        call_command(*words, stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def run_skill(team, alice):
    """``run_skill(files, words…)``: publishes docs/seeds with the files, and the document of its run."""

    def run_skill(files, *words, front="", body="# Seeds\n"):
        content = {"SKILL.md": HEAD.format(front=front) + body, **files}
        publish_files({path: text.encode() for path, text in content.items()}, team=team, user=alice)
        return _call("run_skill", "docs/seeds", *words, "--here", "--json", "--as", "alice")

    return run_skill


@pytest.fixture
def page(client, alice):
    client.force_login(alice)
    return lambda address: client.get(address).text


@pytest.fixture
def run_views(page):
    """``run_views(document)``: the API's document and the page of the run of a ``run_skill``."""

    def run_views(document):
        return api("GET", f"runs/{document['id']}")[1], page(f"/runs/{document['id']}/")

    return run_views


@pytest.mark.row("D4")
def test_code_spans_of_a_prompt_are_text(run_skill, run_views, page):
    body = "Write ``!`x` `` or `foo`!`bar`.\n"
    document = run_skill({}, body=body)
    assert document["status"] == "succeeded", document
    assert document["messages"][0]["content"] == body
    shown, _ = run_views(document)
    assert shown["messages"] == document["messages"]
    assert parts(page("/skills/docs/seeds/use/"), "commands") == []


@pytest.mark.row("C13")
def test_title_of_an_optional_section_is_no_description(team, alice, page, tmp_path):
    folder = tmp_path / "seeds"
    (folder / "scripts").mkdir(parents=True)
    (folder / "scripts/execute.ts").write_text("export function execute() { return 1; }\n")
    front = "type: executable\nsecurity: {timeout_ms: 1000}\n"

    def missing(body):
        (folder / "SKILL.md").write_text(HEAD.format(front=front) + body)
        document = _call("check_package", str(folder), "--profile", "apexbridge", "--json")
        problems = document["packages"][0]["problems"]
        return {each["message"] for each in problems if "SECTION" in each["code"]}

    with_script_title, with_description = missing("## 脚本说明\n"), missing("## 功能说明\n")
    assert len(with_script_title) == len(with_description) + 1
    text = (folder / "SKILL.md").read_text().replace("## 功能说明\n", "## 脚本说明\n")
    publish_files(
        {"SKILL.md": text.encode(), "scripts/execute.ts": b"export function execute() {}\n"},
        team=team,
        user=alice,
    )
    address = "skills/docs/seeds/versions/1.0.0/profiles"
    (by_api,) = [each for each in api("GET", address)[1]["profiles"] if each["profile"] == "apexbridge"]
    assert with_script_title <= {each["message"] for each in by_api["problems"]}


@pytest.mark.row("A4")
def test_phases_and_specs_are_in_the_document_of_the_version(run_skill):
    phase = "# Write\n\n## Scripts\n\n- report\n- absent\n"
    run_skill({"scripts/report.py": "print(1)\n", "phases/1.md": phase, "specs/format.md": "# Format\n"})
    document = _call("api", "GET", "/api/v1/skills/docs/seeds/versions/1.0.0")
    assert [script["id"] for script in document["phases"][0]["scripts"]] == ["report", "absent"]
    assert document["specs"] == ["specs/format.md"]


@pytest.mark.row("C8", "C10")
def test_household_and_session_reach_the_script(run_skill, run_views):
    script = "export function execute(_, context) { return { output: context }; }\n"
    document = run_skill({"scripts/execute.js": script})
    context = document["output"]
    assert context["householdId"]
    by_api, on_page = run_views(document)
    assert by_api["output"]["householdId"] == context["householdId"]
    assert "householdId" in on_page
    assert "sessionId" not in context or context["sessionId"]


@pytest.mark.row("C10")
def test_empty_owner_of_a_memory_is_dropped_with_a_warning(run_skill, run_views):
    write = {"ownerType": "user", "ownerId": "", "type": "fact", "content": "c", "importance": 3}
    answer = json.dumps({"memoryWrites": [write]})
    document = run_skill({"scripts/seeds.py": f"print({answer!r})\n"})
    assert document["memory_writes"] == []
    by_api, on_page = run_views(document)
    for warnings in (document["warnings"], by_api["warnings"], [on_page]):
        assert any("ownerId" in warning for warning in warnings)


@pytest.mark.row("C6")
def test_refused_host_is_listed_without_network(run_skill, run_views):
    require_network()
    script = (
        "import urllib.request\ntry:\n    urllib.request.urlopen('https://api.example.com/')\n"
        "except OSError:\n    print('{}')\n"
    )
    document = run_skill({"scripts/seeds.py": script}, front="security: {network: none}\n")
    shown, on_page = run_views(document)
    assert part(on_page, "dial", value="api.example.com")["code"] == "NETWORK_HOST_REFUSED"
    assert [(each["host"], each["allowed"]) for each in shown["network"]] == [("api.example.com", False)]


@pytest.mark.row("A5")
@pytest.mark.parametrize("value", ["/etc", "../..", "", "a b"])
def test_output_dir_is_a_folder_of_the_run_whatever_its_value(run_skill, run_views, value):
    script = "import sys, os\nopen(os.path.join(sys.argv[2], 'x.txt'), 'w').write(sys.argv[1])\n"
    document = run_skill({"scripts/seeds.py": script}, "--input", json.dumps({"output_dir": value}))
    by_api, on_page = run_views(document)
    for shown in (document, by_api):
        assert [each["path"] for each in shown["artifacts"]] == ["x.txt"], document
    assert "x.txt" in on_page


@pytest.mark.row("B5", "C8")
def test_error_stack_and_times_of_steps_are_in_the_document(run_skill, run_views):
    script = (
        "export function execute(parameters) {\n  const error = new RangeError('off');\n"
        "  if (parameters.fails) throw error;\n"
        "  const step = { stepId: 's-1', stepName: 'first', duration: 2, timestamp: 1700000000000,\n"
        "    error: { name: error.name, message: error.message, stack: error.stack } };\n"
        "  return { output: 1, intermediateSteps: [step] };\n}\n"
    )
    document = run_skill({"scripts/execute.js": script})
    by_api, on_page = run_views(document)
    for steps in (document["steps"], by_api["steps"]):
        [step] = [each for each in steps if each["name"] == "first"]
        assert (step["step_id"], step["timestamp"]) == ("s-1", 1_700_000_000_000)
        assert (step["error"]["name"], "execute.js" in step["error"]["stack"]) == ("RangeError", True)
    assert any("RangeError" in each and "execute.js" in each for each in parts(on_page, "step"))
    document = _call(
        *("run_skill", "docs/seeds", "--input", '{"fails": true}', "--here", "--json", "--as", "alice")
    )
    assert document["status"] == "failed"
    assert document["error"]["details"]["name"] == "RangeError"
    assert "execute.js" in document["error"]["details"]["stack"]


@pytest.mark.row("C3")
@pytest.mark.django_db(transaction=True)  # the child run is claimed in another thread
@pytest.mark.parametrize(("required", "started"), [("hello", "docs/hello"), ("docs/hello", "hello")])
def test_required_skill_is_compared_after_resolving(run_skill, run_views, team, alice, required, started):
    hello = {"SKILL.md": HEAD.format(front="").replace("seeds", "hello"), "scripts/hello.py": "print(41)\n"}
    publish_files({path: text.encode() for path, text in hello.items()}, team=team, user=alice)
    script = (
        "def execute(parameters, context):\n    codes = []\n"
        f"    for name in ({started!r}, 'docs/seeds'):\n        try:\n            context.run_skill(name)\n"
        "            codes.append('started')\n        except Exception as error:\n"
        "            codes.append(error.code)\n    return {'output': codes}\n"
    )
    document = run_skill({"scripts/execute.py": script}, front=f"requires: [{required}]\n")
    assert document["output"] == ["started", "CHILD_NOT_REQUIRED"], document
    by_api, on_page = run_views(document)
    assert by_api["output"] == document["output"]
    assert "CHILD_NOT_REQUIRED" in on_page


@pytest.mark.row("B5")
def test_docstring_of_an_agent_script_that_is_only_a_title_is_its_description(team, page, tmp_path):
    scripts = "agents/analyst/.claude/skills"
    texts = {"short": '"""Finds slow builds"""', "long": '"""Builds\nFinds slow builds.\n"""'}
    write_tree(tmp_path, {f"{scripts}/{name}.py": f"{text}\nprint(1)\n" for name, text in texts.items()})
    assert _call("import_skills", str(tmp_path), "--team", "docs", "--json")["ok"]
    shown = {name: api("GET", f"skills/docs/{name}")[1] for name in texts}
    assert {name: (each["name"], each["description"]) for name, each in shown.items()} == {
        "short": ("Finds slow builds", "Finds slow builds"),
        "long": ("Builds", "Finds slow builds."),
    }
    assert all("Finds slow builds" in page(f"/skills/docs/{name}/") for name in texts)


@pytest.mark.row("D10")
def test_mirror_with_another_name_is_reported_and_corrected(team, administrator, client, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    with run_server() as server:
        file = HEAD.format(front="").encode() + b"# Seeds\n"
        server.responders["/seeds/SKILL.md"] = lambda handler: handler.send(200, file)
        mirror = {"team": "docs", "location": f"{server.url}/seeds/SKILL.md", "reason": "Theirs."}
        assert api("PUT", "canonical/plants/mirror", mirror)[0] == 0
        assert import_waiting() == 1
        document = api("GET", "canonical/plants")[1]
        assert [each["code"] for each in document["mirror_problems"]] == ["CANONICAL_MIRROR_NAME"]
        assert document["pending"] is None
        client.force_login(administrator)
        assert part(client.get("/canonical/plants/"), "problem")["code"] == "CANONICAL_MIRROR_NAME"
        assert api("DELETE", "canonical/plants", {"reason": "Wrong name."})[0] == 0
        assert api("PUT", "canonical/seeds/mirror", mirror)[0] == 0
        assert import_waiting() == 1
    document = api("GET", "canonical/seeds")[1]
    assert (document["mirror_problems"], document["pending"]["skill"]) == ([], "docs/seeds")


@pytest.mark.row("D5")
def test_tool_call_with_a_wrong_key_names_the_parameter(run_skill, run_views, settings):
    settings.SKILLQUAY_MODEL_NAME = "large"
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    with model_server() as model:
        settings.SKILLQUAY_MODEL_URL = f"{model.url}/v1"
        model.respond_with(tool_call_response("Read", path="SKILL.md"), text_response("Done."))
        document = run_skill({}, front="context: fork\n")
    assert document["status"] == "succeeded", document
    (answer,) = [each["content"] for each in model.requests[1]["messages"] if each["role"] == "tool"]
    assert "file_path" in answer
    by_api, on_page = run_views(document)
    for steps in (document["steps"], by_api["steps"]):
        assert [each["error"]["message"] for each in steps if each["error"]] == [answer]
    assert "file_path" in on_page


@pytest.mark.row("A4")
def test_actions_are_in_the_document_of_the_version_and_on_the_page(run_skill, page):
    action = "# Send\n\n## Scripts\n\n- report\n"
    run_skill({"scripts/report.py": "print(1)\n", "actions/send.md": action})
    document = _call("api", "GET", "/api/v1/skills/docs/seeds/versions/1.0.0")
    assert [script["id"] for script in document["phases"][0]["scripts"]] == ["report"]
    assert document["phases"][0]["path"] == "actions/send.md"
    assert "actions/send.md" in page("/skills/docs/seeds/")
