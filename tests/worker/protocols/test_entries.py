"""Which script runs, how it is spoken to, and what the menu offers."""

from __future__ import annotations

import pytest

from registry.packages.problems import Refusal
from tests.worker.protocols.running import PLAIN, SINGLE, call, package_of
from worker.protocols.call import Request
from worker.protocols.entry_points import find_entry_points
from worker.protocols.prepare import prepare

FULL = """---
name: x
description: A skill of a test.
version: 1.0.0
type: {type}
capabilities: [a]
tags: [a]
triggers: {{phrases: [a]}}
input_schema: {{type: object}}
output_schema: {{type: object}}
security: {{timeout_ms: 1000}}
resources: {{{resources}}}
{more}
---
"""


def full(kind="direct", resources="", more=""):
    return FULL.format(type=kind, resources=resources, more=more)


def prepared(paths, skill=PLAIN, **request):
    package = package_of(dict.fromkeys(paths, "print(1)\n"), skill)
    return prepare(
        package.paths,
        package.manifest,
        package.profile,
        Request(**request),
        read=lambda p: package.file(p).data,
    )


def refusal(paths, skill=PLAIN, **request):
    with pytest.raises(Refusal) as refused:
        prepared(paths, skill, **request)
    return refused.value


@pytest.mark.row("A1")
@pytest.mark.parametrize(
    ("name", "argv"),
    [
        ("process-data.py", ("python", "-B", "/skill/scripts/process-data.py")),
        ("validate-output.sh", ("bash", "/skill/scripts/validate-output.sh")),
        ("transform-json.js", ("node", "/skill/scripts/transform-json.js")),
    ],
)
def test_the_extension_is_the_runtime(name, argv):
    call = prepared([f"scripts/{name}"])
    assert (call.protocol, call.argv) == ("script", argv)


@pytest.mark.row("A1")
def test_an_id_is_looked_up_in_the_order_of_the_document():
    paths = ["scripts/a.js", "scripts/a.sh", "scripts/a.py", "scripts/b.js", "scripts/b.sh"]
    assert prepared(paths, script="a").entry == "scripts/a.py"
    assert prepared(paths, script="b").entry == "scripts/b.sh"


@pytest.mark.row("A1")
@pytest.mark.parametrize("script", ["c", "../a", "scripts/c.py", "scripts/../a.py", "", "a.py", "\n"])
def test_an_unknown_id_is_refused_with_the_ids_there_are(script):
    found = refusal(["scripts/a.py", "scripts/b.sh"], script=script)
    assert found.code == "SCRIPT_NOT_FOUND"
    assert "a, b" in str(found)


@pytest.mark.row("C7")
def test_several_scripts_and_no_choice_are_refused_with_the_ids():
    found = refusal(["scripts/b.py", "scripts/a.py"])
    assert found.code == "ENTRY_REQUIRED"
    assert "a, b" in str(found)


@pytest.mark.row("C7")
@pytest.mark.parametrize(
    "path",
    ["scripts/_x.py", "scripts/lib/_x.py", "scripts/types.d.ts", "tools/x.py", "x.py", "scripts/x.txt"],
)
def test_what_is_no_entry_is_never_run(path):
    assert prepared([path]).protocol == "prompt"
    assert refusal([path], script="x").code == "PROMPT_ONLY"
    assert prepared([path, "scripts/a.py"]).entry == "scripts/a.py"


@pytest.mark.row("C7")
def test_the_declared_entry_is_chosen_among_several():
    paths = ["scripts/a.py", "scripts/main/run.ts", "scripts/execute.ts"]
    skill = full(resources="entry: ./scripts/main/run.ts")
    assert prepared(paths, skill).entry == "scripts/main/run.ts"
    assert prepared(paths, skill, script="a").entry == "scripts/a.py"


@pytest.mark.row("C7")
def test_helpers_are_not_offered_as_scripts():
    paths, skill = ["scripts/a.py", "scripts/b.py"], full(resources="helpers: [./scripts/b.py]")
    assert prepared(paths, skill).entry == "scripts/a.py"
    assert refusal(paths, skill, script="b").code == "SCRIPT_NOT_FOUND"


@pytest.mark.row("C7")
def test_an_entry_that_is_not_there_is_refused():
    assert (
        refusal(["scripts/a.py", "scripts/b.py"], full(resources="entry: scripts/gone.py")).code
        == "ENTRY_NOT_FOUND"
    )


@pytest.mark.row("C8")
@pytest.mark.parametrize(
    ("skill", "path", "request_", "protocol"),
    [
        (PLAIN, "scripts/execute.ts", {}, "execute"),
        (PLAIN, "scripts/execute.js", {}, "execute"),
        (PLAIN, "scripts/execute.py", {"action": "a"}, "execute"),
        (PLAIN, "scripts/execute.sh", {}, "script"),
        (full(), "scripts/main.ts", {}, "execute"),
        (full(), "scripts/other.py", {}, "execute"),
        (full(), "scripts/other.sh", {}, "script"),
        (SINGLE, "scripts/x.py", {"action": "a"}, "stdin_json"),
        (SINGLE, ".claude/skills/x.py", {"action": "a"}, "stdin_json"),
        (PLAIN, "scripts/x.py", {"action": "a"}, "stdin_json"),
        (PLAIN, "scripts/x.py", {}, "script"),
    ],
)
def test_how_a_script_is_spoken_to(skill, path, request_, protocol):
    call = prepared([path], skill, **request_)
    assert (call.protocol, call.channel) == (protocol, protocol == "execute")


@pytest.mark.row("C3", "C9", "P11")
def test_what_cannot_run_says_why():
    abp = full(more="protocol: abp\nabp: {kind: query, tools: []}")
    assert refusal(["scripts/execute.ts"], abp).code == "TOOLS_UNDECLARED"
    assert refusal(["scripts/a.py"], tool="t").code == "TOOL_UNKNOWN"
    assert refusal(["scripts/a.py"], full("static")).code == "STATIC_SKILL"
    assert refusal([], action="a").code == "PROMPT_ONLY"
    assert refusal(["scripts/a.py"], script="a", tool="t").code == "CHOICE_AMBIGUOUS"
    assert refusal(["scripts/execute.py"], stdin="x").code == "STDIN_UNUSED"


@pytest.mark.row("A2")
@pytest.mark.parametrize(
    ("paths", "chosen"), [(["scripts/execute.py"], {}), (["scripts/a.py"], {"action": "x"}), ([], {})]
)
def test_arguments_are_refused_where_no_command_line_takes_them(paths, chosen):
    found = refusal(paths, arguments=["x"], **chosen).problems[0]
    assert (found.code, found.path) == ("ARGUMENTS_UNUSED", "arguments")


def menu_of(files, skill=PLAIN):
    package = package_of(files, skill)
    return find_entry_points(
        package.paths, package.manifest, package.profile, lambda path: package.file(path).data
    )


@pytest.mark.row("A4", "P5")
def test_phases_are_bounded_with_the_number_of_omitted_ones():
    phase = "# Scripts\n" + "- gone\n" * 200
    found = menu_of({f"phases/{number:03}.md": phase for number in range(103)})
    assert (len(found.phases), found.omitted_phases) == (100, 3)
    assert [(len(one.scripts), one.omitted) for one in found.phases[:3]] == [(200, 0), (100, 100), (0, 200)]


@pytest.mark.row("A4")
def test_the_menu_lists_scripts_by_phase_and_what_is_missing():
    phase = "# One\n\n```yaml\n## Scripts\n- process-data\n- gone\n```\n\n## Notes\n- other\n"
    found = menu_of({"scripts/process-data.py": "print(1)", "scripts/other.sh": "", "phases/01.md": phase})
    [one] = found.phases
    assert [(item.id, item.line, item.missing) for item in one.scripts] == [
        ("process-data", 5, False),
        ("gone", 6, True),
    ]
    assert {script.id: script.phases for script in found.scripts} == {
        "other": (),
        "process-data": ("phases/01.md",),
    }
    assert (found.default, found.prompt_only, found.actions) == ("", False, ())


@pytest.mark.row("B5")
@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('return {"supported_actions": ["a_1", "b"]}', ["a_1", "b"]),
        ("SUPPORTED_ACTIONS: list[str] = (\n  'a',\n  'b',\n)", ["a", "b"]),
        ("if action == \"x\":\n  pass\nelif action == 'y': pass", ["x", "y"]),
        ('"""Doc.\n{"action": "sum", "params": {}}\n"""', ["sum"]),
        ('"""{"action": "action_name"}"""', []),
        ('"supported_actions": ["<script>", "a b", "ok"]', ["ok"]),
        ("def broken(", []),
    ],
)
def test_the_menu_finds_actions_and_suggests_the_conventional_ones(source, names):
    found = menu_of({"scripts/x.py": source}, SINGLE)
    assert [action.name for action in found.actions if action.declared] == names
    suggested = {action.name for action in found.actions if not action.declared}
    assert suggested == {"analyze", "report", "fetch", "push", "full"}


@pytest.mark.row("B5")
def test_front_matter_names_actions_too():
    skill = SINGLE.replace("profile:", "actions: [one, {name: two}]\nprofile:")
    declared = [action.name for action in menu_of({"scripts/x.py": ""}, skill).actions if action.declared]
    assert declared == ["one", "two"]


@pytest.mark.row("C8", "C9", "P11")
def test_the_menu_says_what_kind_of_skill_it_is():
    assert menu_of({"scripts/execute.ts": ""}).execute
    assert menu_of({}).prompt_only
    assert menu_of({}, full("static")).prompt_only
    abp = full(more="protocol: abp\nabp: {kind: query, tools: [{name: get, description: d}]}")
    assert [(tool.name, tool.description) for tool in menu_of({"scripts/execute.ts": ""}, abp).tools] == [
        ("get", "d")
    ]


LIBRARY = "import sys\nsys.path.insert(0, '.')\nif __name__ == '__main__':\n    raise OSError('no')\n"
PROGRAM = "def main(): ...\nif __name__ == '__main__':\n    main()\n"


@pytest.mark.row("A1", "P11")
def test_programs_below_scripts_are_offered_by_path_and_libraries_are_not():
    files = {
        "scripts/office/unpack.py": PROGRAM,
        "scripts/office/base.py": LIBRARY,
        "scripts/lib.py": LIBRARY,
        "scripts/lib.js": "module.exports = { a: 1 }\n",
        "scripts/broken.py": "def (",
        "scripts/convert.py": PROGRAM,
    }
    found = menu_of(files)
    assert [one.id for one in found.scripts] == ["broken", "convert", "scripts/office/unpack.py"]
    assert menu_of({"scripts/lib.py": LIBRARY, "scripts/run.py": PROGRAM}).default == "run"
    assert menu_of({"scripts/lib.py": LIBRARY}).prompt == "prompt"


@pytest.mark.row("A1")
@pytest.mark.parametrize("name", ["scripts/office/base.py", "scripts.office.base"])
def test_any_path_below_scripts_can_be_named(name):
    paths = ["scripts/office/base.py", "scripts/a.py"]
    assert prepared(paths, script=name).entry == "scripts/office/base.py"
    assert prepared(paths).entry == "scripts/a.py"


SHOWN = (
    PLAIN
    + "Run `python {baseDir}/check.py FILE`, then\n```\nnode tools/x.js --all\n./go.sh\n```\nSee other.py.\n"
)


@pytest.mark.row("A1", "C1", "P11")
def test_files_that_skill_md_shows_as_commands_are_offered_wherever_they_are():
    files = dict.fromkeys(["check.py", "tools/x.js", "go.sh", "other.py", "tools/y.js"], "main()\n")
    assert [one.id for one in menu_of(files, SHOWN).scripts] == ["check.py", "go.sh", "tools/x.js"]
    assert menu_of({"check.py": PROGRAM}, SHOWN).default == "check.py"
    strict = full() + SHOWN.partition("---\n")[2].partition("---\n")[2]
    assert [one.id for one in menu_of({**files, "scripts/a.py": PROGRAM}, strict).scripts] == ["a"]


@pytest.mark.row("A1")
def test_script_that_imports_its_package_runs_as_a_module(tmp_path):
    files = {
        "scripts/__init__.py": "",
        "scripts/part.py": "import sys\nVALUE = len(sys.argv)\n",
        "scripts/run.py": "from scripts.part import VALUE\nfrom .part import sys\nprint({'n': VALUE})\n",
    }
    ran = call(files, tmp_path, arguments=["a", "b"])
    assert ran.outcome.success, ran.ended.stderr
    assert ran.ended.stdout == b"{'n': 3}\n"
