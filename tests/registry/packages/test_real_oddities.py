"""What real packages hold: each oddity is read as its author meant it, and passes ``agentskills``."""

from __future__ import annotations

from typing import Any

import pytest

from registry.packages.package import Manifest, Package
from registry.packages.read_package import read_files

pytestmark = [pytest.mark.row("C2"), pytest.mark.row("P3")]


def read(front: str, *, end: str = "\n", mark: bytes = b"", **files: bytes) -> Package:
    text = f"---\n{front}\n---\n# Text\n\nMore.\n".replace("\n", end)
    return read_files(
        [("my skill/SKILL.md", mark + text.encode()), *((f"my skill/{p}", d) for p, d in files.items())]
    )


BASE = "name: a\ndescription: b\n"
ODD = {
    "an unquoted colon": (
        "name: a\ndescription: Use when: the user asks",
        "description",
        "Use when: the user asks",
    ),
    "a colon and a quote": (
        'name: a\ndescription: Says "hi: you" - or: not',
        "description",
        'Says "hi: you" - or: not',
    ),
    "text of several lines": (
        "name: a\ndescription: >-\n  one\n  two: three",
        "description",
        "one two: three",
    ),
    "a comma string of tags": (BASE + "tags: one, two", "tags", ("one", "two")),
    "a date": (BASE + "metadata:\n  updated: 2026-01-05", "metadata", {"updated": "2026-01-05"}),
    "a date as version": (BASE + "version: 2026.01.05", "version", "2026.1.5"),
    "a float as version": (BASE + "version: 1.0", "version", "1.0.0"),
    "a version of tens": (BASE + "version: 1.10", "version", "1.10.0"),
    "a version of tens in metadata": (BASE + "metadata: {version: 1.10}", "version", "1.10.0"),
    "a number as version": (BASE + "version: 2", "version", "2.0.0"),
    "a v before the version": (BASE + "version: v1.2.3", "version", "1.2.3"),
    "a name with spaces": ("name: PDF Miner Pro\ndescription: b", "slug", "pdf-miner-pro"),
    "a name with spaces is shown": ("name: PDF Miner Pro\ndescription: b", "display_name", "PDF Miner Pro"),
    "a Chinese name": ("name: 高德地图\ndescription: b", "display_name", "高德地图"),
    "a number as name": ("name: 2048\ndescription: b", "name", "2048"),
    "no name": ("description: b", "slug", "my-skill"),
    "a hint that YAML takes for a list": (BASE + "argument-hint: [file] ", "argument_hint", "[file]"),
    "a hint that YAML cannot read": (BASE + "argument-hint: [file] [mode]", "argument_hint", "[file] [mode]"),
    "a hint with an angle": (
        BASE + "argument-hint: <environment> [part]",
        "argument_hint",
        "<environment> [part]",
    ),
    "tools between brackets": (
        BASE + "allowed-tools: Bash(git add:*, git commit:*)",
        "allowed_tools",
        ("Bash(git add:*, git commit:*)",),
    ),
    "tools with spaces": (
        BASE + "allowed-tools: Bash(uv run --project x python y.py *), Bash(openssl rand -hex 32), Read",
        "allowed_tools",
        ("Bash(uv run --project x python y.py *)", "Bash(openssl rand -hex 32)", "Read"),
    ),
    "tools by spaces": (
        BASE + "allowed-tools: Read Bash(npm run *) Grep",
        "allowed_tools",
        ("Read", "Bash(npm run *)", "Grep"),
    ),
    "tools as a list": (
        BASE + "allowedTools:\n  - Read\n  - Bash(a:*)",
        "allowed_tools",
        ("Read", "Bash(a:*)"),
    ),
    "tools with underscores": (BASE + "allowed_tools: Read,Write", "allowed_tools", ("Read", "Write")),
    "an emoji": ("name: a\ndescription: 🚀 go", "description", "🚀 go"),
    "a percent sign": ("name: a\ndescription: 50% faster: yes", "description", "50% faster: yes"),
    "an at sign": ("name: a\ndescription: @mention first", "description", "@mention first"),
    "a back-tick": ("name: a\ndescription: `code` first", "description", "`code` first"),
    "a star": ("name: a\ndescription: *bold* first", "description", "*bold* first"),
    "an unknown field": (
        BASE + "emoji: x\nauthor: {name: A}",
        "extra",
        {"emoji": "x", "author": {"name": "A"}},
    ),
    "a type of their own": (BASE + "type: workflow", "extra", {"type": "workflow"}),
    "when to use": (BASE + "when-to-use: always", "when_to_use", "always"),
}


@pytest.mark.parametrize("kind", ODD)
def test_an_oddity_is_read_as_its_author_meant_it(kind: str) -> None:
    front, field, meant = ODD[kind]
    found = read(front)
    assert (found.profile, found.ok) == ("agentskills", True), found.problems
    assert getattr(found.manifest, field) == meant


@pytest.mark.row("C4")
def test_a_list_of_triggers_is_phrases() -> None:
    for front in ("triggers:\n  - make a report\n  - 写周报", 'triggers: ["make a report", 写周报]'):
        assert read(BASE + front).manifest.triggers.phrases == ("make a report", "写周报")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_marks_and_line_ends_of_other_systems_are_read_alike(end: str, mark: bytes) -> None:
    found = read(BASE + "tags:\n  - one\nversion: 1.10", end=end, mark=mark)
    assert isinstance(found.manifest, Manifest)
    assert (found.ok, found.manifest.tags, found.manifest.version) == (True, ("one",), "1.10.0")


@pytest.mark.row("C1")
def test_code_beside_scripts_is_a_warning() -> None:
    files: dict[str, Any] = {"tool.py": b"print(1)", "lib/a.js": b""}
    found = read(BASE, **files)
    assert found.ok
    assert [one.severity for one in found.problems if one.code == "CODE_OUTSIDE_SCRIPTS"] == ["warning"] * 2
