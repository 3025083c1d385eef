"""Reads agent folders: ``agents/<role>/`` with agent.yaml and one skill per script in ``.claude/skills``.

Each script becomes a package with the agent's whole folder, at the same relative path, so that the script
finds the agent's other files. Only other scripts and skills, ignored files and hidden files are omitted.
"""

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from registry.core.limits import package_limits
from registry.imports.candidates import SkippedPath
from registry.imports.errors import IMPORT_ENTRY_MISSING, IMPORT_IGNORED, IMPORT_NOT_A_SKILL, IMPORT_OUTSIDE
from registry.imports.trees.source_view import LocatedCandidate, SourceView, skill_md, skipped_path
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.layout import SKILL_MD
from registry.packages.archive.paths import is_junk, printable
from registry.packages.manifest.agent_yaml import AGENT_YAML, skill_rows
from registry.packages.package import PackageFile

FOLDER = "agents"
_SKILLS = ".claude/skills"
_DOCSTRING = re.compile(r'(?:\s*#[^\n]*\n|\s*\n)*\s*[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_MAX_READ_BYTES = 256 * 1024  # bytes of a script or agent.yaml that are read
_MAX_DESCRIPTION_CHARS = 1000


@dataclass(frozen=True)
class _Skill:
    agent: Path
    script: Path
    name: str
    description: str  # from agent.yaml, "" if none

    @property
    def role(self) -> str:
        return self.agent.name


def is_agent(folder: Path, view: SourceView) -> bool:
    """Whether the folder is an agent's: it has an agent.yaml, or it is in ``agents`` and has Python files in
    ``.claude/skills``. Elsewhere, such files are not skills.
    """
    if view.is_file(folder / AGENT_YAML):
        return True
    return folder.parent.name == FOLDER and bool(_scripts(folder, view))


def read(agents: Sequence[Path], view: SourceView) -> Iterator[LocatedCandidate | SkippedPath]:
    """Yields a candidate for each script of the agents, and skipped paths. Scripts that share a name get the
    role of their agent as a prefix.
    """
    skills = [skill for agent in agents for skill in _skills(agent, view)]
    times = Counter(skill.name for skill in skills)
    for skill in skills:
        name = f"{skill.role}-{skill.name}" if times[skill.name] > 1 else skill.name
        yield _candidate(skill, name, view)
    for agent in agents:
        yield from _skipped_paths(agent, view)


def _scripts(agent: Path, view: SourceView) -> list[Path]:
    """The Python files in the agent's skills folder, sorted. Empty if the folder links to a
    path outside the source.
    """
    return sorted((agent / _SKILLS).glob("*.py")) if view.is_folder(agent / _SKILLS) else []


def _skills(agent: Path, view: SourceView) -> list[_Skill]:
    rows = {PurePosixPath(str(row.get("entry"))).as_posix(): row for row in _rows(agent, view)}
    found = []
    for script in _scripts(agent, view):
        if _is_skill(script):
            row = rows.get(f"{_SKILLS}/{script.name}", {})
            stated_name, description = row.get("name"), row.get("description")
            name = stated_name if isinstance(stated_name, str) and stated_name else script.stem
            found.append(_Skill(agent, script, name, description if isinstance(description, str) else ""))
    return found


def _is_skill(script: Path) -> bool:
    name = script.stem
    return not name.startswith(("_", ".", "test_")) and not name.endswith("_test") and name != "conftest"


def _rows(agent: Path, view: SourceView) -> list[dict[str, object]]:
    data = _read_head(agent / AGENT_YAML) if view.is_file(agent / AGENT_YAML) else b""
    return [dict(row) for row in skill_rows((PackageFile(AGENT_YAML, data),), package_limits())]


def _read_head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_READ_BYTES)
    except OSError:
        return b""


def _candidate(skill: _Skill, name: str, view: SourceView) -> LocatedCandidate | SkippedPath:
    path = view.label(skill.script)
    if not view.allows(skill.script):
        return skipped_path(path, IMPORT_OUTSIDE.problem())
    if view.ignores(skill.script, is_folder=False):
        return skipped_path(path, IMPORT_IGNORED.problem())
    return view.candidate(skill.script, skill.script, lambda: _entries(skill, name, view), name=name)


def _skipped_paths(agent: Path, view: SourceView) -> Iterator[SkippedPath]:
    """Yields the Python files in the skills folder that are not skills, and the entries of agent.yaml whose
    file is missing or outside the source.
    """
    for script in _scripts(agent, view):
        if not _is_skill(script):
            yield skipped_path(view.label(script), IMPORT_NOT_A_SKILL.problem(name=printable(script.name)))
    for row in _rows(agent, view):
        entry = row.get("entry")
        if isinstance(entry, str) and "\0" not in entry and not view.is_file(agent / entry):
            place = f"{view.label(agent / AGENT_YAML)}: {printable(entry)}"
            yield skipped_path(place, IMPORT_ENTRY_MISSING.problem(entry=printable(entry)))


def _entries(skill: _Skill, name: str, view: SourceView) -> Sequence[ArchiveEntry]:
    """The agent's folder, and a SKILL.md generated from agent.yaml and the script's docstring."""

    def exclude(path: str) -> bool:
        file = skill.agent / path
        return _is_excluded(path, skill, view) or view.ignores(file, is_folder=view.is_folder(file))

    prefix = f"{FOLDER}/{skill.role}"
    entries = [
        ArchiveEntry(f"{prefix}/{entry.path}", entry.data, entry.executable)
        for entry in view.entries(skill.agent, exclude)
    ]
    return [ArchiveEntry(SKILL_MD, _skill_md(skill, name)), *entries]


def _is_excluded(path: str, skill: _Skill, view: SourceView) -> bool:
    if is_junk(path):
        return True
    if path in (".claude", _SKILLS):
        return False
    inner = path.removeprefix(f"{_SKILLS}/")
    if inner == path:
        return any(part.startswith(".") for part in path.split("/"))
    if "/" in inner or not inner.endswith(".py"):
        is_skill = view.is_folder(skill.agent / path) and skill_md(skill.agent / path) is not None
        return inner.rpartition("/")[2].startswith(".") or is_skill
    return inner != skill.script.name and not inner.startswith("_")


def _skill_md(skill: _Skill, name: str) -> bytes:
    title, summary, whole = _split_docstring(skill.script)
    description = skill.description or summary or title or f"{name} of the agent {skill.role}"
    front = {
        "name": name,
        "displayName": _single_line(title)[:200] or name,
        "description": _single_line(description)[:_MAX_DESCRIPTION_CHARS],
        "profile": "single-file",
        "tags": [skill.role],
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    body = f"# {front['displayName']}\n\n{front['description']}\n"
    if whole:
        body += f"\n{textwrap.indent(whole, '    ')}\n"
    return "\n".join(["---", *lines, "---", "", body]).encode("utf-8", "replace")


def _split_docstring(script: Path) -> tuple[str, str, str]:
    """The docstring's first line, the rest of its paragraph, and the whole docstring; empty texts if there is
    none.
    """
    match = _DOCSTRING.match(_read_head(script).decode("utf-8-sig", "replace"))
    text = textwrap.dedent(match[2]).strip() if match else ""
    title, _, summary = text.partition("\n\n")[0].partition("\n")
    return title.strip(), summary.strip(), text


def _single_line(text: str) -> str:
    """The text as one line of printable characters, which is safe in front matter."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
