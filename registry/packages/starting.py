"""A new skill of each kind: a small package that conforms and runs, for its author to change.

The texts lie in ``kinds/``: ``⟦English¦中文⟧`` chooses by language, ``⟦name⟧`` stands for what is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.packages.naming import NAME_CHARACTERS, SLUG_CHARACTERS
from registry.packages.package import PackageFile
from registry.packages.paths import shown
from registry.packages.problems import gettext_noop as _
from registry.packages.problems import refuse
from registry.packages.yaml_writing import scalar

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
DESCRIPTION_CHARACTERS = 1024
_TEXTS = Path(__file__).parent / "kinds"
_EITHER = re.compile(r"⟦((?:[^⟦⟧¦]|⟦\w+⟧)*)¦((?:[^⟦⟧]|⟦\w+⟧)*)⟧")
_NAMED = re.compile(r"⟦(\w+)⟧")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UNSTORABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Kind:
    """``files`` are pairs of a path and its text in ``kinds/``; ``entry`` is what runs, "" for nothing.

    ``described`` is the text in ``kinds/`` of a description, where none is given.
    """

    name: str
    title: str
    summary: str
    files: tuple[tuple[str, str], ...]
    entry: str = ""
    described: str = "measuring"


@dataclass(frozen=True)
class Start:
    """What somebody says of a new skill; ``title`` and ``description`` may be left empty."""

    kind: str
    name: str
    title: str = ""
    description: str = ""
    language: Language = "en"


def _script(runtime: str, path: str) -> Kind:
    text = path.rpartition("/")[2]
    summary = _("A script that is called with --arguments and prints its result as JSON.")
    return Kind(runtime.lower(), runtime, summary, (("SKILL.md", "script.md"), (path, text)), path)


def _execute(language: str, extension: str) -> Kind:
    path = f"scripts/execute.{extension}"
    return Kind(
        f"execute-{extension}",
        f"execute(), {language}",
        _("A module with execute(parameters), every field of the strict profile, and steps to watch."),
        (("SKILL.md", "execute.md"), (path, f"execute.{extension}")),
        path,
    )


KINDS = (
    Kind(
        "prompt",
        _("Prompt"),
        _("Instructions for an agent, with arguments; nothing runs."),
        (("SKILL.md", "prompt.md"),),
        described="reviewing",
    ),
    _script("Python", "scripts/measure.py"),
    _script("Bash", "scripts/measure.sh"),
    _script("Node", "scripts/measure.js"),
    Kind(
        "request",
        _("JSON request"),
        _("One Python file with actions that reads a JSON request and prints a JSON answer."),
        (("SKILL.md", "request.md"), ("scripts/⟦name⟧.py", "request.py")),
        "scripts/⟦name⟧.py",
    ),
    _execute("TypeScript", "ts"),
    _execute("JavaScript", "js"),
    _execute("Python", "py"),
    Kind(
        "tools",
        _("Tools"),
        _("Functions that agents call by name, with typed parameters (protocol abp)."),
        (("SKILL.md", "tools.md"), ("scripts/execute.ts", "tools.ts")),
        "scripts/execute.ts",
    ),
    Kind(
        "static",
        _("Reading matter"),
        _("Files to look things up in; nothing runs."),
        (("SKILL.md", "reading.md"), ("references/rules.md", "rules.md")),
        described="looking-up",
    ),
    Kind(
        "agent",
        _("Agent folder"),
        _("A JSON request skill in the folders of an agent role: agent.yaml and .claude/skills."),
        (
            ("SKILL.md", "request.md"),
            ("agents/assistant/agent.yaml", "agent.yaml"),
            ("agents/assistant/.claude/skills/⟦name⟧.py", "request.py"),
        ),
        "agents/assistant/.claude/skills/⟦name⟧.py",
    ),
)


def kind_of(name: str) -> Kind:
    """The kind of that name, else KIND_UNKNOWN."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise refuse("KIND_UNKNOWN", path="kind", kind=shown(name), kinds=", ".join(kind.name for kind in KINDS))


def start(given: Start) -> tuple[PackageFile, ...]:
    """The files of a new skill; refuses what could not be its name, title or description."""
    kind = kind_of(given.kind)
    name = _checked_name(given.name)
    title = _line(given.title, "title", NAME_CHARACTERS)
    said = _line(given.description, "description", DESCRIPTION_CHARACTERS)
    description = said or _text(kind.described, given.language).strip()
    values = {
        "name": name,
        "title": title or name.replace("-", " ").capitalize(),
        "displayName": f"displayName: {scalar(title)}",
        "description": scalar(description),
        "description_text": description,
        "entry": kind.entry.replace("⟦name⟧", name),
    }
    return tuple(_file(path, text, given, values) for path, text in kind.files)


def _file(path: str, text: str, given: Start, values: Mapping[str, str]) -> PackageFile:
    found = _text(text, given.language)
    if not given.title.strip():
        found = found.replace("⟦displayName⟧\n", "")
    data = _filled(found, values).encode()
    return PackageFile(_filled(path, values), data, data.startswith(b"#!"))


def _text(name: str, language: Language) -> str:
    found = (_TEXTS / f"{name}.txt").read_text("utf-8")
    return _EITHER.sub(lambda either: either[1 + LANGUAGES.index(language)], found)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda found: values[found[1]], text)


def _checked_name(name: str) -> str:
    if len(name) > SLUG_CHARACTERS or not _SLUG.fullmatch(name):
        raise refuse("SKILL_NAME_INVALID", path="name", name=shown(name), most=SLUG_CHARACTERS)
    return name


def _line(text: str, field: str, most: int) -> str:
    """The text as one line."""
    if _UNSTORABLE.search(text) or len(text := " ".join(text.split())) > most:
        raise refuse("SKILL_TEXT_INVALID", path=field, field=field, most=most)
    return text
