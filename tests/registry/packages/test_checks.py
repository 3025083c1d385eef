"""What blocks a package: by profile, every problem at once, in the order of files and lines."""

# ruff: noqa: E501
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from registry.packages.errors import PATH_UNSAFE
from registry.packages.manifest.sections import find_commands, find_declared_scripts, find_sections
from registry.packages.package import PROFILES, Package, Profile
from registry.packages.path_conditions import any_file_matches
from registry.packages.problems import Problem
from registry.packages.read_package import problems_by_profile, read_files, read_upload
from worker.protocols.entry_points import find_entry_points

pytestmark = pytest.mark.row("C2")
STRICT = """name: strict
description: Strict.
version: 1.0.0
type: direct
capabilities: [a]
tags: [a]
triggers: {phrases: [a]}
input_schema: {type: object}
output_schema: {type: object}
security: {timeout_ms: 1000}
resources: {entry: scripts/execute.ts}
"""
BODY = "# 技能\n\n## 描述\n\n文字\n\n## 参数/输入\n\n## 输出\n\n## 执行步骤\n\n## 示例\n"
ENTRY = {"scripts/execute.ts": b"export function execute() {}"}


def package(front: str, body: Any = BODY, profile: Any = None, **files: Any) -> Package:
    """A package of these files; their names are no identifiers, so calls pass a dict with ``**``."""
    everything = {"SKILL.md": f"---\n{front}---\n{body}".encode(), **files}
    return read_files(everything.items(), profile=profile)


def codes(found: Package, severity: str | None = None) -> list[str]:
    return [one.code for one in found.problems if severity in (None, one.severity)]


@pytest.mark.row("C1", "C2")
def test_a_whole_package_of_document_c_has_no_problem() -> None:
    found = package(STRICT, **ENTRY)
    assert (found.profile, found.problems) == ("apexbridge", ())


@pytest.mark.row("C2")
@pytest.mark.parametrize("field", [line.partition(":")[0] for line in STRICT.splitlines()])
def test_each_required_field_of_document_c_is_missed(field: str) -> None:
    front = "".join(line + "\n" for line in STRICT.splitlines() if not line.startswith(field + ":"))
    found = package(front, profile="apexbridge", **ENTRY)
    assert not found.ok
    errors = [one for one in found.problems if one.severity == "error"]
    assert {"name" if one.code == "NAME_MISSING" else one.params["field"] for one in errors} <= {field}
    assert {one.code for one in found.problems if one.severity == "error"} <= {
        "FIELD_MISSING",
        "NAME_MISSING",
    }


@pytest.mark.row("C1")
def test_a_package_without_scripts_is_blocked_unless_it_is_static() -> None:
    front = STRICT.replace("{entry: scripts/execute.ts}", "{references: []}")
    assert codes(package(front), "error") == ["SCRIPTS_MISSING"]
    assert package(front.replace("type: direct", "type: static")).ok


CODE = ("run.py", "lib/a.js", "assets/tool.sh", "config/x.ts", "a.exe", "references/a.ps1", "b.PY")


@pytest.mark.row("C1")
@pytest.mark.parametrize("path", CODE)
def test_code_outside_scripts_blocks_document_c_and_warns_a_plain_skill(path: str) -> None:
    strict = package(STRICT, **ENTRY, **{path: b"x"})
    assert [(one.code, one.path, one.severity) for one in strict.problems] == [
        ("CODE_OUTSIDE_SCRIPTS", path, "error")
    ]
    plain = package("name: a\ndescription: b\n", **{path: b"x"})
    assert plain.ok
    assert codes(plain, "warning") == ["CODE_OUTSIDE_SCRIPTS"]


@pytest.mark.row("C1")
@pytest.mark.parametrize("data", [b"\x7fELF\2", b"MZ\x90\0", b"#!/bin/sh\n"])
def test_code_is_known_by_its_first_bytes_too(data: bytes) -> None:
    assert codes(package(STRICT, **ENTRY, **{"assets/innocent": data}), "error") == ["CODE_OUTSIDE_SCRIPTS"]


@pytest.mark.row("C1")
def test_tests_are_code_and_templates_are_not() -> None:
    found = package(STRICT, **ENTRY, **{"tests/a.test.ts": b"", "assets/a.html": b"", "config/a.json": b"{}"})
    assert found.problems == ()


PROFILE = {
    "type: direct": "apexbridge",
    "type: static": "apexbridge",
    "protocol: vcp": "apexbridge",
    "protocol: abp": "apexbridge",
    "abp: {kind: a}": "apexbridge",
    "type: workflow": "agentskills",
    "protocol: mcp": "agentskills",
    "abp: true": "agentskills",
    "input_schema: {type: object}": "agentskills",
    "profile: single-file": "single-file",
    "metadata: {profile: single-file}": "single-file",
    "profile: single-file\ntype: direct": "apexbridge",
    "profile: apexbridge": "agentskills",
}


@pytest.mark.row("C2")
@pytest.mark.parametrize("front", PROFILE)
def test_the_profile_follows_from_the_front_matter(front: str) -> None:
    assert package(f"name: a\ndescription: b\n{front}\n").profile == PROFILE[front]


SPEAKS = b"import json, sys\nrequest = json.loads(sys.stdin.read())\naction = request.get('action')\n"


@pytest.mark.row("B8")
def test_a_single_file_skill_is_known_by_what_it_speaks() -> None:
    front = "name: a\ndescription: b\n"
    assert package(front, **{"scripts/a.py": SPEAKS}).profile == "single-file"
    assert package(front, **{".claude/skills/a.py": b"x"}).profile == "single-file"
    assert package(front, **{"agents/dev/.claude/skills/a.py": b"x"}).profile == "single-file"
    assert package(front, **{"scripts/a.py": SPEAKS + b"import argparse"}).profile == "agentskills"
    assert package(front, **{"scripts/a.py": SPEAKS, "scripts/b.sh": b""}).profile == "agentskills"
    assert package(front, **{"scripts/a.py": b"print(1)"}).profile == "agentskills"


@pytest.mark.row("B8")
def test_the_samples_of_document_b_are_single_file_skills(shared: Path) -> None:
    text = (shared / "seeds" / "001_1d945b9104aade86.txt").read_text()
    samples = [
        block.partition("\n```")[0]
        for block in text.split("```python\n")
        if "#!/usr/bin/env python3" in block
    ]
    samples = [sample for sample in samples if sample.startswith("#!")]
    assert len(samples) == 2
    for sample in samples:
        found = package("name: a\ndescription: b\n", **{"scripts/a.py": sample.encode()})
        assert (found.profile, found.ok) == ("single-file", True)


@pytest.mark.row("B5")
def test_a_single_file_skill_keeps_its_layout_without_a_warning() -> None:
    found = package("name: a\ndescription: b\n", **{".claude/skills/a.py": SPEAKS})
    assert found.problems == ()


@pytest.mark.row("B5")
def test_a_skill_that_says_single_file_has_one_script() -> None:
    found = package("name: a\ndescription: b\nprofile: single-file\n")
    assert codes(found, "error") == ["SINGLE_FILE_SCRIPT"]
    two = package(
        "name: a\ndescription: b\nprofile: single-file\n", **{"scripts/a.py": b"", "scripts/b.py": b""}
    )
    (error,) = [one for one in two.problems if one.severity == "error"]
    assert (error.code, error.params["count"]) == ("SINGLE_FILE_SCRIPT", 2)
    assert "2" in error.message()


RESOURCES = {
    "entry: ../evil.ts": ("ENTRY_UNSAFE", "error", "error"),
    "entry: /etc/passwd": ("ENTRY_UNSAFE", "error", "error"),
    "entry: scripts/absent.ts": ("RESOURCE_MISSING", "warning", "error"),
    "entry: readme.md": ("ENTRY_OUTSIDE_SCRIPTS", "warning", "error"),
    "entry: scripts/a.txt": ("ENTRY_NOT_RUNNABLE", "warning", "error"),
    "helpers: [scripts/absent.ts]": ("RESOURCE_MISSING", "warning", "error"),
    "references: [../../etc/passwd]": ("RESOURCE_UNSAFE", "error", "error"),
    "assets: ['C:\\\\x']": ("RESOURCE_UNSAFE", "error", "error"),
}


@pytest.mark.row("C7")
@pytest.mark.parametrize("line", RESOURCES)
def test_paths_of_resources_are_checked_with_their_line(line: str) -> None:
    code, plain, strict = RESOURCES[line]
    files = {"readme.md": b"", "scripts/a.txt": b"", "scripts/execute.ts": b""}
    found = package(f"name: a\ndescription: b\nresources:\n  {line}\n", **files)
    assert [(one.code, one.severity, one.line) for one in found.problems] == [(code, plain, 5)]
    held = package(f"name: a\ndescription: b\nresources:\n  {line}\n", profile="apexbridge", **files)
    assert (code, strict) in [(one.code, one.severity) for one in held.problems]


@pytest.mark.row("C7")
def test_a_folder_and_a_path_with_dots_are_resources() -> None:
    front = "name: a\ndescription: b\nresources: {references: [./references, references//a.md], entry: ./scripts/x.py}\n"
    found = package(front, **{"references/a.md": b"", "scripts/x.py": b""})
    assert found.problems == ()
    assert found.manifest.resources.references == ("references", "references/a.md")


@pytest.mark.row("C5")
def test_a_schema_that_cannot_be_used_is_named_with_its_line() -> None:
    front = (
        "name: a\ndescription: b\ninput_schema:\n  type: object\n  properties:\n    a:\n      type: strin\n"
    )
    found = package(front)
    assert [(one.code, one.line, one.severity) for one in found.problems] == [("SCHEMA_INVALID", 8, "error")]
    found = package("name: a\ndescription: b\noutput_schema:\n  $ref: file:///etc/passwd\n")
    assert [(one.code, one.line) for one in found.problems] == [("SCHEMA_REFERENCE", 5)]


@pytest.mark.row("C5")
def test_inputs_that_are_no_object_are_a_problem() -> None:
    assert codes(package("name: a\ndescription: b\ninput_schema: {type: string}\n")) == ["SCHEMA_NOT_OBJECT"]


ABP = {  # the field, and the names that the reason mentions
    "{kind: query}": ("abp.tools", ()),
    "{tools: []}": ("abp.tools", ()),
    "{tools: [a]}": ("abp.tools[0]", ()),
    "{tools: [{name: a}, {name: a}]}": ("abp.tools[1]", ("a",)),
    "{tools: [{name: a, parameters: [b]}]}": ("abp.tools[0]", ("parameters",)),
    "{tools: [{name: a, parameters: {b: c}}]}": ("abp.tools[0]", ("b",)),
    "{tools: [{name: a, parameters: {b: {type: [c]}}}]}": ("abp.tools[0]", ("b", "string")),
    "{tools: [{name: a, parameters: {b: {required: soon}}}]}": ("abp.tools[0]", ("b", "required")),
    "{tools: [{name: a, parameters: {b: {enum: c}}}]}": ("abp.tools[0]", ("parameters", "schema")),
    "{tools: [{name: a, parameters: {b: {$ref: 'x:y'}}}]}": ("abp.tools[0]", ("parameters", "x", "y")),
}


def abp_problems(abp: str) -> tuple[Problem, ...]:
    return package(f"{STRICT}protocol: abp\nabp: {abp}\n", **ENTRY).problems


@pytest.mark.row("C9")
@pytest.mark.parametrize("abp", ABP)
def test_tools_that_cannot_be_called_are_named(abp: str) -> None:
    (found,) = abp_problems(abp)
    field, names = ABP[abp]
    assert (found.code, found.severity, found.params["field"]) == ("ABP_TOOL", "error", field)
    assert set(names) <= set(re.findall(r"\w+", str(found.params["reason"])))


@pytest.mark.row("C9")
def test_each_flaw_of_a_tool_has_a_reason_of_its_own() -> None:
    reasons = [str(abp_problems(abp)[0].params["reason"]) for abp in ABP]
    assert reasons[0] == reasons[1]
    assert len(set(reasons)) == len(ABP) - 1


@pytest.mark.row("C13")
def test_each_missing_section_is_a_warning() -> None:
    found = package(STRICT, "# Title\n\nText\n", **ENTRY)
    assert found.ok
    assert [one.params["section"] for one in found.problems] == [
        "Description",
        "Parameters",
        "Output",
        "Steps",
        "Examples",
    ]


@pytest.mark.row("C13")
def test_sections_are_recognised_in_english_too() -> None:
    body = "## Description\n## Inputs\n## Output\n## Execution steps\n## Example\n"
    assert package(STRICT, body, **ENTRY).problems == ()


SENSITIVE = {
    "secrets": ("security: {secrets: [KEY]}", b"x"),
    "network": ("security: {network: allowlist, network_allowlist: [a.com]}", b"x"),
    "memory": ("security: {timeout_ms: 1}", b"return {memoryWrites: []}"),
    "memory in snake case": ("security: {timeout_ms: 1}", b"return {'memory_writes': []}"),
}


@pytest.mark.row("C13")
@pytest.mark.parametrize("kind", SENSITIVE)
def test_safety_is_wanted_only_where_something_sensitive_is_used(kind: str) -> None:
    line, source = SENSITIVE[kind]
    front = STRICT.replace("security: {timeout_ms: 1000}", line)
    found = package(front, **{"scripts/execute.ts": source})
    assert [one.params["section"] for one in found.problems] == ["Security"]
    assert package(front, BODY + "## 安全/合规提示\n", **{"scripts/execute.ts": source}).problems == ()


@pytest.mark.row("C13")
def test_headings_in_code_are_no_sections() -> None:
    assert find_sections("```\n## 描述\n```\n~~~~\n```\n## 输出\n~~~~\n## 示例\n").keys() == {"Examples"}
    assert {"Appendix", "Scripts", "Resources"} <= find_sections("## 附录\n## 脚本说明\n### 资源说明").keys()


@pytest.mark.row("C13")
def test_headings_of_optional_sections_and_titles_are_no_required_sections() -> None:
    assert "Description" not in find_sections("## 脚本说明\n## 资源说明\n## 输出说明\n")
    assert "Description" in find_sections("## 说明\n") | find_sections("## 功能说明\n")
    title = "Order process: example results, security and overview of inputs"
    assert find_sections(f"# {title}\n") == {}
    assert len(find_sections(f"# A\n## {title}\n")) == 2
    assert find_sections("# 描述\n# 输出\n").keys() == {"Description", "Output"}


@pytest.mark.row("D4")
def test_code_spans_are_no_commands() -> None:
    text = "`foo`!`bar` and ``!`a` `` and `` x !`b` y `` and wow!`c`, but !`git status` and 状态!`date`."
    assert [found["line"] for found in find_commands(text)] == ["git status", "date"]
    assert [found["block"] for found in find_commands("```!\nls\n```\n")] == ["ls\n"]


@pytest.mark.row("A4")
@pytest.mark.parametrize("folder", ["phases", "actions"])
def test_gate_and_entry_points_agree_on_declared_scripts(folder: str) -> None:
    phase = b"## Scripts\n\n- run\n- run.py\n- gone.py\n- gone\n"
    found = package("name: a\ndescription: b\n", **{f"{folder}/1.md": phase, "scripts/run.py": b""})
    assert [(one.code, one.path, one.line) for one in found.problems] == [
        ("SCRIPT_UNDECLARED", f"{folder}/1.md", 5),
        ("SCRIPT_UNDECLARED", f"{folder}/1.md", 6),
    ]
    data = {file.path: file.data for file in found.files}
    points = find_entry_points(data, found.manifest, found.profile, data.__getitem__)
    assert [(one.id, one.missing) for one in points.phases[0].scripts] == [
        ("run", False), ("run.py", False), ("gone.py", True), ("gone", True),
    ]  # fmt: skip


@pytest.mark.row("A4")
def test_a_declared_script_without_a_file_is_a_problem_with_file_and_line() -> None:
    phase = (
        b"# Phase 1\n\n```yaml\n## Scripts\n\n- process-data\n- absent\n```\n\n## Next\n\n- not-a-script\n"
    )
    found = package("name: a\ndescription: b\n", **{"phases/1.md": phase, "scripts/process-data.py": b""})
    assert [(one.code, one.path, one.line) for one in found.problems] == [
        ("SCRIPT_UNDECLARED", "phases/1.md", 7)
    ]
    assert find_declared_scripts("## Scripts\n- `a`: does\n* b.py\n") == (("a", 2), ("b.py", 3))


@pytest.mark.row("P3", "P5")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("count", [100, 101, 300])
def test_a_hundred_problems_of_a_code_are_listed_with_a_notice_of_more(profile: Profile, count: int) -> None:
    phase = "# Scripts\n" + "".join(f"- missing{number}\n" for number in range(count))
    code = {f"code/{number}.py": b"x = 1\n" for number in range(count)}
    found = package("name: a\ndescription: b\n", profile=profile, **{"phases/1.md": phase.encode()}, **code)
    for name in ("SCRIPT_UNDECLARED", "CODE_OUTSIDE_SCRIPTS"):
        assert codes(found).count(name) == 100
    omitted = [one.params["code"] for one in found.problems if one.code == "PROBLEMS_OMITTED"]
    assert omitted == (["CODE_OUTSIDE_SCRIPTS", "SCRIPT_UNDECLARED"] if count > 100 else [])


@pytest.mark.row("C2", "P3")
def test_every_problem_comes_at_once_in_order() -> None:
    front = "name: 名\nversion: soon\ntype: direct\ntags: a\nresources:\n  entry: ../x\n"
    found = package(front, "# T\n", **{"b.py": b"", "a.sh": b""})
    places = [(one.path, one.line or 0) for one in found.problems]
    assert places == sorted(places)
    assert {
        "VERSION_INVALID",
        "ENTRY_UNSAFE",
        "CODE_OUTSIDE_SCRIPTS",
        "FIELD_MISSING",
        "SCRIPTS_MISSING",
    } <= set(codes(found, "error"))
    assert {"DESCRIPTION_MISSING", "FIELD_LIST_AS_TEXT"} <= set(codes(found, "error"))


@pytest.mark.row("C2")
def test_a_long_description_blocks_document_c_only() -> None:
    long = "description: " + "很" * 1025
    assert package(STRICT.replace("description: Strict.", long), **ENTRY).ok is False
    assert package(f"name: a\n{long}\n").ok


@pytest.mark.row("D8")
@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (
            [
                "src/**/*.py",
                "!src/vendor/**",
                "*.{ts,tsx}",
                "**",
                "/a b.md",
                "\\#a",
                "\\!b",
                "文档/[a-c]?.md",
            ],
            0,
        ),
        (["../x.py"], 1),
        (["./lib/*.js", "lib/*.js"], 1),
        (["~/a.py"], 1),
        (["C:/src/*.py"], 1),
        (["src\\**\\*.py"], 1),
        (["# all of them"], 1),
        (["!*.py", "!*.js"], 2),
        (["a*b*c*d*e", "a" * 301], 2),
        ([f"./{n}" for n in range(50)], 5),
    ],
)
def test_a_condition_that_no_file_fits_is_told_of_its_line(paths: list[str], told: int) -> None:
    found = package(f"name: a\ndescription: b\npaths: {json.dumps(paths)}\n")
    rows = [one for one in found.problems if one.code == "PATHS_NEVER_FIT"]
    assert found.ok
    assert (len(rows), {one.line for one in rows}) == (told, {4} if told else set())
    assert all(
        not any_file_matches([str(one.params["pattern"])], ["src/a.py", "lib/a.js", "a.py"]) for one in rows
    )


@pytest.mark.row("C2")
def test_broken_front_matter_still_gives_a_package_with_its_problem() -> None:
    found = read_upload(b"---\nname: [\n---\n# T\n\nText.\n", filename="fallback.md")
    assert (found.ok, found.manifest.slug) == (False, "fallback")
    assert codes(found) == ["FRONT_MATTER_INVALID"]


def test_the_page_can_show_how_a_package_fares_under_every_profile() -> None:
    found = problems_by_profile(package("name: a\ndescription: b\n"))
    assert set(found) == set(PROFILES)
    assert found["agentskills"] == ()
    assert {"FIELD_MISSING", "SCRIPTS_MISSING"} <= {one.code for one in found["apexbridge"]}
    assert [one.code for one in found["single-file"]] == ["SINGLE_FILE_SCRIPT"]


@pytest.mark.row("P3", "P8")
def test_reasons_and_expectations_are_said_in_the_readers_language_too() -> None:
    read = "name: a\ndescription: b\ntags: {a: b}\n"
    found = package(read).problems[0]
    told = found.message(lambda text: f"<{text}>")
    for name in ("expected", "found"):
        assert f"<{found.params[name]}>" in told
    kept = PATH_UNSAFE.problem(reason="it contains a backslash").at("../a")  # as a row keeps it
    assert "<it contains a backslash>" in kept.message(lambda text: f"<{text}>")
