"""The pieces of code in documents A, B and C that are no whole script, each put where it belongs, run."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from registry.packages.authoring.portable import make_portable
from registry.packages.migrate.migration import migrate
from registry.packages.package import Package, PackageFile
from tests.checks import not_none
from tests.examples.running import run
from tests.factories.old_packages import old_package
from tests.worker.protocols.running import SINGLE, call, package_of
from tests.worker.protocols.seeds import block, blocks
from worker.protocols.call import Call, Request
from worker.protocols.formats.arguments import argument_vector, parse_outputs
from worker.protocols.formats.progress import parse_progress
from worker.protocols.formats.traces import parse_memory_writes
from worker.protocols.outcome import interpret
from worker.sandbox.policy import SandboxResult


@pytest.fixture
def document(shared):
    """``document("000")``: the text of that seed."""
    return lambda number: next((shared / "seeds").glob(f"{number}*")).read_text()


# Document A


@pytest.mark.row("A3")
def test_the_call_of_a_gives_vector_and_outputs(document):
    printed = block(document("000"), "json", "output_file").strip()
    assert parse_outputs(f"reading\n{printed}\n") == {"output_file": "/tmp/result.json", "count": 42}
    assert argument_vector({"input_path": "/w/data.json", "threshold": 0.9}) == (
        *("--input-path", "/w/data.json"),
        *("--threshold", "0.9"),
    )


@pytest.mark.row("A3")
def test_a_failed_script_of_a_tells_its_caller_by_stderr(tmp_path):
    ran = call({"scripts/process-data.py": "import sys\nsys.exit('no such file')\n"}, tmp_path)
    assert (ran.outcome.success, ran.outcome.outputs, ran.ended.stderr) == (False, {}, b"no such file\n")


# Document B


def filled(document):
    """Its template with the one action that the document's own tests call."""
    template = next(one for one in blocks(document("001"), "python") if "handle_action_1" in one)
    return template.replace("{...}\n    }", "params\n    }").replace('"action_1"', '"test"')


@pytest.fixture
def agent(document, tmp_path):
    """The tree of document B with ``skill.py`` in it, beside it what the document calls ``skill_name.py``."""
    folder = tmp_path / "agents/analyst/.claude/skills"
    folder.mkdir(parents=True)
    for name in ("skill.py", "skill_name.py"):
        (folder / name).write_text(filled(document))
    return tmp_path


def bash(script, at):
    return subprocess.run(["bash", "-c", script], cwd=at, capture_output=True, text=True, check=False)


@pytest.mark.row("B1", "B8")
def test_both_calls_by_command_line_are_answered(document, agent):
    both = block(document("001"), "bash", "cat <<EOF").replace("python3", sys.executable)
    found = bash(both, agent / "agents/analyst/.claude/skills")
    answer = {"success": True, "data": {"key": "value"}, "action": "test"}
    assert [json.loads(part + "}") for part in found.stdout.split("\n}\n")[:-1]] == [answer] * 2


@pytest.mark.row("B3", "B8")
def test_the_template_answers_a_request_that_is_no_json(agent):
    found = bash(f"echo no | {sys.executable} skill.py", agent / "agents/analyst/.claude/skills")
    assert (found.returncode, json.loads(found.stdout)["error"]["code"]) == (1, "INVALID_JSON")


@pytest.mark.row("B8")
def test_its_own_test_passes_on_an_exported_package(document, tmp_path):
    given = package_of({"scripts/skill.py": filled(document)}, SINGLE)
    for file in make_portable(given.files, given.manifest):
        (tmp_path / file.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file.path).write_bytes(file.data)
    test = block(document("001"), "python", "test_skill_action").replace('"python3"', repr(sys.executable))
    (tmp_path / "x/scripts/test_skill.py").write_text(test + "\ntest_skill_action()\n")
    subprocess.run([sys.executable, "test_skill.py"], cwd=tmp_path / "x/scripts", check=True)


@pytest.mark.row("B5", "B8")
def test_its_integration_test_passes_in_the_agents_folder(document, agent):
    script = block(document("001"), "bash", "Skill test passed").replace("python3", sys.executable)
    assert "✅ Skill test passed" in bash(script.replace("{agent_role}", "analyst"), agent).stdout


PIECES = """import json, logging, os, sys
from typing import *
{validate}
{logging}
def main():
    input_data = json.loads(sys.stdin.read())
{debug}
    params = input_data["params"]
    result = validate_params(params, ["days"]) or {{"success": True, "data": params}}
{progress}
main()
"""


@pytest.mark.row("B2", "B3", "B6")
@pytest.mark.parametrize(("inputs", "code"), [({"days": 7}, ""), ({"n": 1}, "MISSING_PARAM")])
def test_its_validation_logging_debugging_and_progress_work_together(document, tmp_path, inputs, code):
    python = {
        "validate": block(document("001"), "python", "def validate_params"),
        "logging": block(document("001"), "python", "getLogger"),
        "debug": textwrap.indent(block(document("001"), "python", "DEBUG ="), "    "),
        "progress": textwrap.indent(
            block(document("001"), "python", "50% complete").replace("import sys\n", ""), "    "
        ),
    }
    source = PIECES.format(**python).replace(
        "logger.setLevel(logging.INFO)", "logger.setLevel(logging.DEBUG)"
    )
    ran = call({"scripts/x.py": source}, tmp_path, skill=SINGLE, action="go", inputs=inputs, debug=True)
    log = ran.ended.stderr.decode()
    assert ran.outcome.failure_code == code, log
    assert [p for line in log.splitlines() if (p := parse_progress(line)) is not None] == [50, 100]
    for line in ("Processing started", "Failed to connect to database", "Input data: {'action': 'go'"):
        assert line in log
    assert ran.outcome.output == (None if code else {"days": 7})


ALARM = """import json, sys, time
TIMEOUT = 1
def do_work():
    time.sleep(20)
try:
{timeout}
except TimeoutError as e:
    print(json.dumps({{"success": False, "error": {{"code": "TIMEOUT", "message": str(e)}}}}))
"""
CLOSES = """import json, sys
class Database:
    def close(self): print("closed", file=sys.stderr)
open_database = Database
def process(db): return {{"success": True, "data": 1}}
{cleanup}
main()
"""


@pytest.mark.row("B3", "B4")
def test_a_skill_that_stops_itself_says_timeout(document, tmp_path):
    timeout = textwrap.indent(block(document("001"), "python", "signal.alarm"), "    ")
    ran = call({"scripts/x.py": ALARM.format(timeout=timeout)}, tmp_path, skill=SINGLE, action="go")
    assert (ran.outcome.failure_code, ran.outcome.message) == ("TIMEOUT", "Skill execution timeout")


@pytest.mark.row("B2")
def test_a_skill_that_cleans_up_answers_first(document, tmp_path):
    cleanup = block(document("001"), "python", "resources.append")
    ran = call({"scripts/x.py": CLOSES.format(cleanup=cleanup)}, tmp_path, skill=SINGLE, action="go")
    assert (ran.outcome.output, ran.ended.stderr) == (1, b"closed\n")


ACTIONS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "analyze": ({"target": "ci_builds", "days": 7}, {"insights", "metrics"}),
    "report": ({"type": "daily", "format": "markdown"}, {"report_path", "content"}),
    "fetch": ({"source": "database", "query": "x"}, {"items", "count"}),
    "push": ({"destination": "supabase", "data": {}}, {"pushed", "id"}),
    "full": ({}, {"parts"}),
}


@pytest.mark.row("B5")
@pytest.mark.parametrize("action", ACTIONS)
def test_each_conventional_action_is_in_the_document_as_it_is_answered(document, action):
    params, keys = ACTIONS[action]
    row = next(line for line in document("001").splitlines() if line.startswith(f"| `{action}` |"))
    assert all(f'"{key}"' in row for key in keys - {"parts"})
    answer = json.dumps({"success": True, "data": dict.fromkeys(sorted(keys), 1)}, indent=2).encode()
    ended = SandboxResult("exited", 0, None, answer, b"", b"", 0.1, "bwrap", {})
    asked = Request(action=action, inputs=params)
    outcome = interpret(Call("stdin_json", "scripts/x.py", (), request=asked), ended)
    assert (not_none(outcome.answer)["action"], set(outcome.output)) == (action, keys)


# Document C: its examples that are not whole packages, printed in the old form, migrate and run

PIECE = """---
name: piece
description: A piece.
version: 1.0.0
type: direct
---
# Piece

```typescript
{code}```
"""
BROKEN = "const validateInput = () => { throw new RangeError('no data'); };\n"
HELPERS = {
    "实现代码": "const result = { n: 1 };\n",
    "processQuery": "const processQuery = async (query: string) => ({ found: [query] });\n",
    "validateInput": "const validateInput = (given: object) => given;\n"
    "const processData = async (given: { n: number }) => ({ n: given.n + 1 });\n"
    "const generateResult = async (given: { n: number }) => ({ twice: 2 * given.n });\n",
}


def migrated(document, holds, helpers):
    code = block(document("002").replace("```markdown", "```"), "typescript", holds)
    found = migrate(old_package(PIECE.format(code=code), folder="piece")).package
    assert found.ok
    files = [
        PackageFile(file.path, helpers.encode() + file.data) if file.path == "scripts/execute.ts" else file
        for file in found.files
    ]
    return Package(tuple(files), found.manifest, found.body, found.profile, found.problems)


@pytest.mark.row("C8", "C10", "C11", "C14")
@pytest.mark.parametrize(
    ("holds", "inputs", "output"),
    [
        ("实现代码", {}, {"n": 1}),
        ("processQuery", {"query": "拿铁"}, {"found": ["拿铁"]}),
        ("validateInput", {"n": 1}, {"twice": 4}),
    ],
)
def test_each_piece_of_c_migrates_and_runs(document, tmp_path, holds, inputs, output):
    tmp_path.chmod(0o755)
    asked = Request(inputs=inputs, context={"user_id": "u-1"})
    ran = run(migrated(document, holds, HELPERS[holds]), asked, tmp_path)
    found = ran.outcome
    assert (found.failure_code, found.output, found.format) == ("", output, "object"), ran.ended
    told = [f'用户查询了"{inputs["query"]}"相关的信息'] if "query" in inputs else []
    assert [write["content"] for write in found.memory_writes] == told
    assert all(write["ownerId"] == "u-1" for write in found.memory_writes)
    steps = [(step.step_id, step.name) for step in found.steps]
    assert steps == [("step-1", "验证输入"), ("step-2", "处理数据"), ("step-3", "生成结果")] * (
        holds == "validateInput"
    )


@pytest.mark.row("C8", "C11")
def test_what_the_piece_with_steps_throws_fails_the_run_with_its_name(document, tmp_path):
    tmp_path.chmod(0o755)
    helpers = BROKEN + HELPERS["validateInput"].partition("\n")[2]
    found = run(migrated(document, "validateInput", helpers), Request(inputs={"n": 1}), tmp_path).outcome
    assert (found.failure_code, found.message) == ("INTERNAL_ERROR", "no data")
    assert not_none(found.error)["details"]["name"] == "RangeError"


@pytest.mark.row("C9", "C10")
@pytest.mark.parametrize("channel", [True, False])
def test_the_answer_of_an_abp_tool_is_read_as_it_is_printed(document, channel):
    printed = block(document("002"), "json", "abp_call_123")
    whole = printed if not channel else json.dumps({"returned": json.loads(printed)})
    stdout, written = (b"", whole.encode()) if channel else (whole.encode(), b"")
    ended = SandboxResult("exited", 0, None, stdout, b"", written, 0.1, "bwrap", {})
    asked = Request(tool="PreferenceRecorder", context={"request_id": "ours"})
    found = interpret(Call("abp", "scripts/x.py", (), channel=channel, request=asked), ended)
    assert (found.success, found.output, found.warnings) == (True, "已记录用户偏好", ())
    assert found.memory_writes[0]["metadata"]["category"] == "drink"
    (write,) = found.memory_writes
    assert (write["ownerType"], write["ownerId"], write["type"]) == ("user", "", "preference")
    assert (write["importance"], write["originalImportance"]) == (4, 0.8)
    assert not_none(found.answer)["result"] == {"output": "已记录用户偏好", "memoryWrites": [write]}


@pytest.mark.row("C10")
def test_every_kind_of_owner_and_memory_and_every_importance_is_kept(document):
    owners, kinds = ("user", "household", "task", "group"), ("preference", "fact", "event", "summary")
    for word in (*(f"`{owner}`" for owner in owners), *(f"**{kind}**" for kind in kinds)):
        assert f"- {word}" in document("002")
    given = [
        {"ownerType": owner, "ownerId": "o", "type": kind, "importance": importance, "content": "c"}
        for owner in owners
        for kind in kinds
        for importance in range(1, 6)
    ]
    found, warnings = parse_memory_writes({"memoryWrites": given})
    assert warnings == ()
    assert [(w["ownerType"], w["type"], w["importance"]) for w in found] == [
        (w["ownerType"], w["type"], w["importance"]) for w in given
    ]
