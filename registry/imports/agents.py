"""Agents of document B: ``agents/<role>/`` with agent.yaml and one skill a file in ``.claude/skills``.

Each becomes a package that keeps the agent's folder as it is, so that the script finds beside it what it
always found: AGENT_DIR is two folders up. Only the other skills, and what is hidden, stay behind.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from registry.imports.found import Passed
from registry.imports.looking import Candidate, Look, passed, skill_md
from registry.limits import package_limits
from registry.packages.agent_yaml import AGENT_YAML, skill_rows
from registry.packages.entries import Entry
from registry.packages.layout import SKILL_MD
from registry.packages.package import PackageFile
from registry.packages.paths import is_junk, shown

FOLDER = "agents"
_SKILLS = ".claude/skills"
_DOCSTRING = re.compile(r'(?:\s*#[^\n]*\n|\s*\n)*\s*[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_READ = 256 * 1024  # bytes of a script or of agent.yaml that are looked at
_SHOWN = 1000  # characters of a description


@dataclass(frozen=True)
class _Skill:
    """One script of an agent, with the name that agent.yaml or its file gives it."""

    agent: Path
    script: Path
    name: str
    description: str  # agent.yaml's, "" for none

    @property
    def role(self) -> str:
        return self.agent.name


def is_agent(folder: Path) -> bool:
    """Whether this is an agent's folder; single Python files in anybody's .claude/skills are no skills."""
    if (folder / AGENT_YAML).is_file():
        return True
    return folder.parent.name == FOLDER and any(folder.glob(f"{_SKILLS}/*.py"))


def read(agents: Sequence[Path], look: Look) -> Iterator[Candidate | Passed]:
    """Every script of these agents; a name that several of them give is told apart by the role."""
    skills = [skill for agent in agents for skill in _skills(agent)]
    times = Counter(skill.name for skill in skills)
    for skill in skills:
        name = f"{skill.role}-{skill.name}" if times[skill.name] > 1 else skill.name
        yield _candidate(skill, name, look)
    for agent in agents:
        yield from _beside(agent, look)


def _skills(agent: Path) -> list[_Skill]:
    rows = {PurePosixPath(str(row.get("entry"))).as_posix(): row for row in _rows(agent)}
    found = []
    for script in sorted((agent / _SKILLS).glob("*.py")):
        if _is_skill(script):
            row = rows.get(f"{_SKILLS}/{script.name}", {})
            said, description = row.get("name"), row.get("description")
            name = said if isinstance(said, str) and said else script.stem
            found.append(_Skill(agent, script, name, description if isinstance(description, str) else ""))
    return found


def _is_skill(script: Path) -> bool:
    name = script.stem
    return not name.startswith(("_", ".", "test_")) and not name.endswith("_test") and name != "conftest"


def _rows(agent: Path) -> list[dict[str, object]]:
    data = _beginning(agent / AGENT_YAML)
    return [dict(row) for row in skill_rows((PackageFile(AGENT_YAML, data),), package_limits())]


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_READ)
    except OSError:
        return b""


def _candidate(skill: _Skill, name: str, look: Look) -> Candidate | Passed:
    path = look.label(skill.script)
    if not look.allows(skill.script):
        return passed(path, "IMPORT_OUTSIDE")
    if look.ignores(skill.script, is_folder=False):
        return passed(path, "IMPORT_IGNORED")
    return look.candidate(skill.script, skill.script, lambda: _entries(skill, name, look), name=name)


def _beside(agent: Path, look: Look) -> Iterator[Passed]:
    """What lies with the skills and is none, and what agent.yaml names and is not there."""
    for script in sorted((agent / _SKILLS).glob("*.py")):
        if not _is_skill(script):
            yield passed(look.label(script), "IMPORT_NOT_A_SKILL", name=shown(script.name))
    for row in _rows(agent):
        entry = row.get("entry")
        if isinstance(entry, str) and "\0" not in entry and not (agent / entry).is_file():
            place = f"{look.label(agent / AGENT_YAML)}: {shown(entry)}"
            yield passed(place, "IMPORT_ENTRY_MISSING", entry=shown(entry))


def _entries(skill: _Skill, name: str, look: Look) -> Sequence[Entry]:
    """The agent's folder under its own name, and a SKILL.md that is made from what the script says."""

    def leave_out(path: str) -> bool:
        here = skill.agent / path
        return _is_left_out(path, skill) or look.ignores(here, is_folder=here.is_dir())

    prefix = f"{FOLDER}/{skill.role}"
    kept = [
        Entry(f"{prefix}/{entry.path}", entry.data, entry.executable)
        for entry in look.entries(skill.agent, leave_out)
    ]
    return [Entry(SKILL_MD, _skill_md(skill, name)), *kept]


def _is_left_out(path: str, skill: _Skill) -> bool:
    if is_junk(path):
        return True
    if path in (".claude", _SKILLS):
        return False
    inner = path.removeprefix(f"{_SKILLS}/")
    if inner == path:
        return any(part.startswith(".") for part in path.split("/"))
    if "/" in inner or not inner.endswith(".py"):
        return inner.rpartition("/")[2].startswith(".") or skill_md(skill.agent / path) is not None
    return inner != skill.script.name and not inner.startswith("_")


def _skill_md(skill: _Skill, name: str) -> bytes:
    title, summary, whole = _said(skill.script)
    description = skill.description or summary or title or f"{name} of the agent {skill.role}"
    front = {
        "name": name,
        "displayName": _line(title)[:200] or name,
        "description": _line(description)[:_SHOWN],
        "profile": "single-file",
        "tags": [skill.role],
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    body = f"# {front['displayName']}\n\n{front['description']}\n"
    if whole:
        body += f"\n{textwrap.indent(whole, '    ')}\n"
    return "\n".join(["---", *lines, "---", "", body]).encode("utf-8", "replace")


def _said(script: Path) -> tuple[str, str, str]:
    """The docstring's first line, the rest of its first paragraph, and all of it."""
    match = _DOCSTRING.match(_beginning(script).decode("utf-8-sig", "replace"))
    text = textwrap.dedent(match[2]).strip() if match else ""
    title, _, rest = text.partition("\n")
    return title.strip(), rest.partition("\n\n")[0].strip(), text


def _line(text: str) -> str:
    """One line that every file of front matter can hold."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
