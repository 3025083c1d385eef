"""Templates for new skills: small packages that pass all checks, as a starting point for authors.

The texts are in ``kinds/``: ``⟦English¦中文⟧`` selects by language, ``⟦name⟧`` is a placeholder.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.packages.archive.paths import printable
from registry.packages.errors import KIND_UNKNOWN, SKILL_NAME_INVALID, SKILL_TEXT_INVALID
from registry.packages.manifest.naming import MAX_NAME_LENGTH, MAX_SLUG_LENGTH
from registry.packages.manifest.yaml_writer import scalar
from registry.packages.package import PackageFile
from registry.packages.problems import gettext_noop as _

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
MAX_DESCRIPTION_LENGTH = 1024
_TEXTS = Path(__file__).parent / "kinds"
_TRANSLATION = re.compile(r"⟦((?:[^⟦⟧¦]|⟦\w+⟧)*)¦((?:[^⟦⟧]|⟦\w+⟧)*)⟧")
_PLACEHOLDER = re.compile(r"⟦(\w+)⟧")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UNSTORABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class SkillTemplate:
    """A template for new skills.

    ``files`` has pairs of a path in the package and the name of its text in ``kinds/``. ``entry`` is the path
    of the script that runs, or "". ``description_text`` is the name of the text with the default description.
    """

    name: str
    title: str
    summary: str
    files: tuple[tuple[str, str], ...]
    entry: str = ""
    description_text: str = "measuring"


@dataclass(frozen=True)
class NewSkill:
    """The author's input for a new skill. An empty title or description is replaced with a default."""

    template: str
    name: str
    title: str = ""
    description: str = ""
    language: Language = "en"


def _script(runtime: str, path: str) -> SkillTemplate:
    text = path.rpartition("/")[2]
    summary = _("A script with options such as --path; it prints its result as JSON.")
    return SkillTemplate(runtime.lower(), runtime, summary, (("SKILL.md", "script.md"), (path, text)), path)


def _execute(language: str, extension: str) -> SkillTemplate:
    path = f"scripts/execute.{extension}"
    return SkillTemplate(
        f"execute-{extension}",
        f"execute(), {language}",
        _(
            "For sites that require the ApexBridge profile: a script with one function, "
            "execute(parameters), that reports its steps."
        ),
        (("SKILL.md", "execute.md"), (path, f"execute.{extension}")),
        path,
    )


TEMPLATES = (
    SkillTemplate(
        "prompt",
        _("Prompt"),
        _("Instructions that an agent follows. They contain no script to run."),
        (("SKILL.md", "prompt.md"),),
        description_text="reviewing",
    ),
    _script("Python", "scripts/measure.py"),
    _script("Bash", "scripts/measure.sh"),
    _script("Node", "scripts/measure.js"),
    SkillTemplate(
        "request",
        _("Script with actions"),
        _("A Python script with several actions; each call names one of them and gets a JSON response."),
        (("SKILL.md", "request.md"), ("scripts/⟦name⟧.py", "request.py")),
        "scripts/⟦name⟧.py",
    ),
    _execute("TypeScript", "ts"),
    _execute("JavaScript", "js"),
    _execute("Python", "py"),
    SkillTemplate(
        "tools",
        _("Tools"),
        _("Functions that agents call by name; Skillquay checks their parameters."),
        (("SKILL.md", "tools.md"), ("scripts/execute.ts", "tools.ts")),
        "scripts/execute.ts",
    ),
    SkillTemplate(
        "static",
        _("Reference files"),
        _("Files that agents read. They can't be run."),
        (("SKILL.md", "reading.md"), ("references/rules.md", "rules.md")),
        description_text="looking-up",
    ),
    SkillTemplate(
        "agent",
        _("Agent folder"),
        _("A script with actions, in a folder that also describes the agent's role (agent.yaml)."),
        (
            ("SKILL.md", "request.md"),
            ("agents/assistant/agent.yaml", "agent.yaml"),
            ("agents/assistant/.claude/skills/⟦name⟧.py", "request.py"),
        ),
        "agents/assistant/.claude/skills/⟦name⟧.py",
    ),
)


def find_template(name: str) -> SkillTemplate:
    """The template with this name. Raises KIND_UNKNOWN if there is none."""
    for kind in TEMPLATES:
        if kind.name == name:
            return kind
    raise KIND_UNKNOWN.refusal(kind=printable(name), kinds=tuple(kind.name for kind in TEMPLATES)).at(
        "template"
    )


def create_files(new_skill: NewSkill) -> tuple[PackageFile, ...]:
    """The files of a new skill.

    Raises KIND_UNKNOWN for the template, SKILL_NAME_INVALID for the name, and SKILL_TEXT_INVALID for the
    title or description.
    """
    kind = find_template(new_skill.template)
    name = _validate_name(new_skill.name)
    title = _line(new_skill.title, "title", MAX_NAME_LENGTH)
    description_line = _line(new_skill.description, "description", MAX_DESCRIPTION_LENGTH)
    description = description_line or _text(kind.description_text, new_skill.language).strip()
    values = {
        "name": name,
        "title": title or name.replace("-", " ").capitalize(),
        "displayName": f"displayName: {scalar(title)}",
        "description": scalar(description),
        "description_text": description,
        "entry": kind.entry.replace("⟦name⟧", name),
    }
    return tuple(_file(path, text, new_skill, values) for path, text in kind.files)


def _file(path: str, text: str, new_skill: NewSkill, values: Mapping[str, str]) -> PackageFile:
    template = _text(text, new_skill.language)
    if not new_skill.title.strip():
        template = template.replace("⟦displayName⟧\n", "")
    data = _fill(template, values).encode()
    return PackageFile(_fill(path, values), data, data.startswith(b"#!"))


def _text(name: str, language: Language) -> str:
    text = (_TEXTS / f"{name}.txt").read_text("utf-8")
    return _TRANSLATION.sub(lambda either: either[1 + LANGUAGES.index(language)], text)


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _validate_name(name: str) -> str:
    if len(name) > MAX_SLUG_LENGTH or not _SLUG.fullmatch(name):
        raise SKILL_NAME_INVALID.refusal(name=printable(name), most=MAX_SLUG_LENGTH).at("name")
    return name


def _line(text: str, field: str, limit: int) -> str:
    """The text with white space reduced to single spaces.

    Raises SKILL_TEXT_INVALID above ``limit`` characters, for surrogates, and for control characters except
    tab and newline.
    """
    if _UNSTORABLE.search(text) or len(text := " ".join(text.split())) > limit:
        raise SKILL_TEXT_INVALID.refusal(field=field, most=limit).at(field)
    return text
