"""Every field of documents C, D and E: typed, kept, and said where it is wrong."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from registry.packages.manifest.manifest import manifest_document, manifest_of
from registry.packages.package import Manifest, Resources, Security, Triggers
from tests.registry.packages.manifests import manifest, problems, read

pytestmark = pytest.mark.row("C2")
FULL = """
name: full-skill
displayName: 全部
description: Everything.
version: 1.2.3
type: service
capabilities: [summarize, translate]
tags: [a, b]
triggers:
  intents: [legal_review]
  phrases: ["总结报告", 法律条款分析]
  event_types: [abp.tool_request]
  priority: 0.8
domain: law
category: 工具
keywords: [天气]
input_schema: {type: object, properties: {city: {type: string}}}
output_schema: {type: object}
protocol: vcp
security:
  timeout_ms: 5000
  memory_mb: 128
  network: allowlist
  network_allowlist: ["https://api.example.com"]
  filesystem: none
  environment: {ALLOWED_TIMEZONES: "UTC,Asia/Shanghai", N: 1}
  secrets: [API_KEY]
resources:
  entry: "./scripts/execute.ts"
  helpers: ["./scripts/helpers/math.ts"]
  references: [references/a.pdf]
  assets: [./assets/b.docx]
cacheable: true
cache_scope: team
ttl: 300
requires: [other-skill, docs/third]
retry_on_lost: true
when_to_use: 用户说审查代码
allowed-tools: [Read, Grep]
argument-hint: "<file>"
arguments: [path]
model: opus[1m]
effort: high
context: fork
agent: code-reviewer
user-invocable: false
disable-model-invocation: true
paths: ["src/**/*.ts"]
hooks: {PreToolUse: [{command: [echo, checking]}]}
shell: [bash]
license: MIT
compatibility: any
metadata: {author: me}
colour: blue
"""


@pytest.mark.row("C2", "C4", "C6", "C7", "D1")
def test_every_field_is_typed_and_unknown_ones_are_kept() -> None:
    found = read(FULL).manifest
    assert found == Manifest(
        name="full-skill",
        slug="full-skill",
        display_name="全部",
        description="Everything.",
        version="1.2.3",
        version_as_written="1.2.3",
        type="service",
        capabilities=("summarize", "translate"),
        tags=("a", "b"),
        keywords=("天气",),
        domain="law",
        category="工具",
        triggers=Triggers(("legal_review",), ("总结报告", "法律条款分析"), ("abp.tool_request",), 0.8),
        input_schema={"type": "object", "properties": {"city": {"type": "string"}}},
        output_schema={"type": "object"},
        security=Security(
            timeout_ms=5000,
            memory_mb=128,
            network="allowlist",
            network_allowlist=("https://api.example.com",),
            filesystem="none",
            environment={"ALLOWED_TIMEZONES": "UTC,Asia/Shanghai", "N": "1"},
            secrets=("API_KEY",),
        ),
        resources=Resources(
            "scripts/execute.ts", ("scripts/helpers/math.ts",), ("references/a.pdf",), ("assets/b.docx",)
        ),
        cacheable=True,
        cache_scope="team",
        ttl=300,
        requires=("other-skill", "docs/third"),
        retry_on_lost=True,
        when_to_use="用户说审查代码",
        allowed_tools=("Read", "Grep"),
        argument_hint="<file>",
        arguments=("path",),
        model="opus[1m]",
        effort="high",
        context="fork",
        agent="code-reviewer",
        user_invocable=False,
        disable_model_invocation=True,
        paths=("src/**/*.ts",),
        hooks={"PreToolUse": [{"command": ["echo", "checking"]}]},
        shell=["bash"],
        license="MIT",
        compatibility="any",
        metadata={"author": "me"},
        extra={"colour": "blue"},
    )


@pytest.mark.row("C2")
@pytest.mark.parametrize("front", [FULL, "name: x\ndescription: y"])
def test_a_manifest_comes_back_from_its_json_document_exactly(front: str) -> None:
    found = read(front).manifest
    assert manifest_of(json.loads(json.dumps(manifest_document(found)))) == found
    assert set(manifest_document(found)) == {field.name for field in dataclasses.fields(Manifest)}


def test_a_document_of_another_release_is_read() -> None:
    document = manifest_document(manifest(""))
    del document["retry_on_lost"]
    assert manifest_of({**document, "later": 1}) == manifest("")


@pytest.mark.row("C2", "D1")
def test_defaults_are_those_of_the_documents() -> None:
    found = manifest("")
    assert (found.protocol, found.context, found.user_invocable, found.triggers.priority) == (
        "vcp",
        "inline",
        True,
        0.5,
    )
    assert found.security == Security()


ALIASES = {
    "inputSchema: {type: object}": ("input_schema", {"type": "object"}),
    "outputSchema: {type: object}": ("output_schema", {"type": "object"}),
    "triggers: {eventTypes: [a]}": ("triggers", Triggers(event_types=("a",))),
    "security: {timeoutMs: 5}": ("security", Security(timeout_ms=5)),
    "security: {network: allowlist, networkAllowlist: [a.com]}": (
        "security",
        Security(network="allowlist", network_allowlist=("a.com",)),
    ),
    "when-to-use: now": ("when_to_use", "now"),
    "whenToUse: now": ("when_to_use", "now"),
    "triggers: [one, two words]": ("triggers", Triggers(phrases=("one", "two words"))),
    "triggers: one phrase, with a comma": ("triggers", Triggers(phrases=("one phrase, with a comma",))),
    "metadata: {version: 2.10}": ("version", "2.10.0"),
    "argument-hint: [file]": ("argument_hint", "[file]"),
    "arguments: path mode": ("arguments", ("path", "mode")),
    "paths: src/*.ts, lib/*.js": ("paths", ("src/*.ts", "lib/*.js")),
    "user-invocable: no": ("user_invocable", False),
    "effort: 3": ("effort", "3"),
    "ttl: '60'": ("ttl", 60),
    "abp: {kind: query, tools: [{name: a}]}": ("protocol", "abp"),
    "tags: [1, two, 3.5]": ("tags", ("1", "two", "3.5")),
}


@pytest.mark.row("C2", "D1")
@pytest.mark.parametrize("front", ALIASES)
def test_other_spellings_mean_the_same(front: str) -> None:
    name, expected = ALIASES[front]
    found = manifest(front)
    assert getattr(found, name) == expected
    assert found.extra == {}


TOOLS = {
    "[Read, Grep]": ("Read", "Grep"),
    "Read, Grep": ("Read", "Grep"),
    "Read Grep": ("Read", "Grep"),
    "Bash(git add:*, git commit:*), Read": ("Bash(git add:*, git commit:*)", "Read"),
    "Bash(git add:*) Bash(git status:*) Read": ("Bash(git add:*)", "Bash(git status:*)", "Read"),
    "'Bash(git add:*, git commit:*)'": ("Bash(git add:*, git commit:*)",),
    "Read": ("Read",),
    "''": (),
    "Bash(unclosed, Read": ("Bash(unclosed, Read",),
}


@pytest.mark.row("E4")
@pytest.mark.parametrize("written", TOOLS)
@pytest.mark.parametrize("field", ["allowed-tools", "allowedTools", "allowed_tools"])
def test_allowed_tools_mean_the_same_however_they_are_written(field: str, written: str) -> None:
    found = manifest(f"{field}: {written}")
    assert found.allowed_tools == TOOLS[written]
    assert problems(f"{field}: {written}") == []


WRONG = {
    "tags: {a: b}": ("FIELD_TYPE", 4),
    "tags: a, b": ("FIELD_LIST_AS_TEXT", 4),
    "tags:\n  - a\n  - {b: c}": ("FIELD_TYPE", 6),
    "capabilities: 3": ("FIELD_TYPE", 4),
    "domain: [a]": ("FIELD_TYPE", 4),
    "cacheable: maybe": ("FIELD_TYPE", 4),
    "ttl: soon": ("FIELD_TYPE", 4),
    "ttl: -1": ("FIELD_VALUE", 4),
    "input_schema: text": ("FIELD_TYPE", 4),
    "context: elsewhere": ("FIELD_VALUE", 4),
    "type: workflow": ("FIELD_VALUE", 4),
    "triggers: 5": ("FIELD_TYPE", 4),
    "triggers:\n  priority: 9": ("FIELD_VALUE", 5),
    "triggers:\n  phrases: {a: b}": ("FIELD_TYPE", 5),
    "resources: [a]": ("FIELD_TYPE", 4),
    "resources:\n  entry: [a]": ("FIELD_TYPE", 5),
    "metadata: text": ("FIELD_TYPE", 4),
    "version: latest": ("VERSION_INVALID", 4),
    "metadata:\n  version: soon": ("VERSION_INVALID", 5),
    "version: 1.0": ("VERSION_NORMALISED", 4),
}


@pytest.mark.row("C2")
@pytest.mark.parametrize("front", WRONG)
def test_a_wrong_field_is_named_with_its_line_and_does_not_block_a_plain_skill(front: str) -> None:
    assert WRONG[front] in problems(front)
    assert read(f"name: x\ndescription: y\n{front}").ok


@pytest.mark.row("C2")
@pytest.mark.parametrize("written", ["drect", "services", "Static", "distribted"])
def test_misspelled_type_is_an_error(written: str) -> None:
    found = read(f"name: x\ndescription: y\ntype: {written}")
    assert [(one.code, one.line) for one in found.problems if one.severity == "error"] == [("FIELD_VALUE", 4)]


MISSPELLED = {
    "security: {netwrok: allowlist}": ("security.netwrok", "security.network"),
    "security: {timeout_m: 5}": ("security.timeout_m", "security.timeout_ms"),
    "timeout_ms: 500": ("timeout_ms", "security.timeout_ms"),
    "network_alowlist: [a.example]": ("network_alowlist", "security.network_allowlist"),
    "trigger: [a]": ("trigger", "triggers"),
    "Tags: [a]": ("Tags", "tags"),
    "alowed-tools: Read": ("alowed-tools", "allowed-tools"),
    "triggers: {phrase: [a]}": ("triggers.phrase", "triggers.phrases"),
    "supported_action: [a]": ("supported_action", "supported_actions"),
}


@pytest.mark.row("C2")
@pytest.mark.parametrize("front", MISSPELLED)
def test_misspelled_field_gets_a_notice_with_the_right_name(front: str) -> None:
    found = [
        one for one in read(f"name: x\ndescription: y\n{front}").problems if one.code == "FIELD_MISSPELLED"
    ]
    assert [(one.severity, one.line, one.params) for one in found] == [
        ("notice", 4, {"field": MISSPELLED[front][0], "known": MISSPELLED[front][1]})
    ]


@pytest.mark.row("C2")
@pytest.mark.parametrize("name", ["author", "homepage", "argumentHint", "icon", "os", "x" * 5000, "source"])
def test_other_unknown_field_gets_no_notice(name: str) -> None:
    assert "FIELD_MISSPELLED" not in [code for code, _line in problems(f"{name}: a")]


KEPT = {
    "requires: {mcp: [github]}": {"requires": {"mcp": ["github"]}},
    "requires: [units, {skill: a}]": {"requires": ["units", {"skill": "a"}]},
    "tags: {a: b}": {"tags": {"a": "b"}},
    "model: [opus]": {"model": ["opus"]},
    "ttl: soon": {"ttl": "soon"},
    "cacheable: maybe": {"cacheable": "maybe"},
    "metadata: text": {"metadata": "text"},
    "displayName: {en: A}": {"displayName": {"en": "A"}},
    "inputSchema: text": {"inputSchema": "text"},
    "triggers: 5": {"triggers": 5},
    "triggers: {phrases: [p], priority: high}": {"triggers": {"priority": "high"}},
    "resources: {entry: [a]}": {"resources": {"entry": ["a"]}},
    "permissions: [Read]": {"permissions": ["Read"]},
    "type: service\nendpoint: ftp://x": {"endpoint": "ftp://x"},
    "tags: one, two": {},
}


@pytest.mark.row("C2")
@pytest.mark.parametrize("front", KEPT)
def test_field_of_unexpected_type_is_kept(front: str) -> None:
    assert manifest(front).extra == KEPT[front]


@pytest.mark.row("C2")
def test_an_unknown_type_is_kept_where_it_was() -> None:
    assert manifest("type: workflow").extra == {"type": "workflow"}


@pytest.mark.row("C2")
def test_a_version_is_kept_as_written_beside_the_one_it_means() -> None:
    found = manifest("version: 1.10")
    assert (found.version, found.version_as_written) == ("1.10.0", "1.10")
    assert manifest("version: v2.0.0-rc.1").version == "2.0.0-rc.1"
    assert manifest("").version is None


def _front_matters(path: Path) -> list[str]:
    """The YAML examples of a document that are front matter."""
    blocks = path.read_text().split("\n---\n")
    return [block for block in blocks if block.startswith("name: ") or "\nname: " in block[:60]]


@pytest.mark.row("C2", "C9")
def test_the_examples_of_document_c_are_read_as_old_packages_that_name_what_is_missing(shared: Path) -> None:
    document = shared / "seeds" / "002_f883d6171012fdc0.txt"
    examples = [block for block in _front_matters(document) if block.count("\n") < 60]
    assert len(examples) >= 5
    for block in examples:
        package = read(block, "## 描述\n\n文字\n")
        missing = {one.params["field"] for one in package.problems if one.code == "FIELD_MISSING"}
        assert package.profile == "apexbridge"
        assert {
            "capabilities",
            "tags",
            "triggers",
            "input_schema",
            "output_schema",
            "security",
            "resources",
        } <= missing
        assert not any(one.code.startswith("FRONT_MATTER") for one in package.problems)


@pytest.mark.row("D1")
def test_the_example_of_document_d_is_read_with_all_its_fields(shared: Path) -> None:
    text = (shared / "seeds" / "003_717269e2a373965a.txt").read_text()
    start = text.index("name: code-review")
    lines = [line for line in text[start : text.index("---", start)].splitlines() if line.strip("|")]
    nested = "\n".join(lines).replace("PreToolUse:", "  PreToolUse:").replace("- command:", "    - command:")
    package = read(nested)  # the mirror has lost the indenting of hooks
    found = package.manifest
    assert (found.name, found.model, found.effort, found.context) == ("code-review", "opus", "high", "fork")
    assert found.version == "1.0.0"
    assert found.extra == {}


@pytest.mark.row("C2", "C7")
def test_what_nobody_knows_within_a_group_is_kept_too() -> None:
    found = manifest("resources: {entry: scripts/a.py, scripts: [a]}\ntriggers: {phrases: [p], mood: glad}")
    assert found.extra == {"resources": {"scripts": ["a"]}, "triggers": {"mood": "glad"}}
