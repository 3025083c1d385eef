"""Finds the skill roots of a project: its own, those in its settings, and those of parent folders."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from registry.imports.trees.source_view import skill_md

CLAUDE_SKILLS = ".claude/skills"
SKILLS = "skills"
SETTINGS = "ship.json"
_MAX_SETTINGS_BYTES = 64 * 1024  # bytes of a settings file that are read


@dataclass(frozen=True)
class ProjectSettings:
    """The skill settings of ``ship.json``."""

    paths: tuple[str, ...] = ()
    allow_external: bool = False
    is_broken: bool = False


def read_settings(project: Path) -> ProjectSettings:
    try:
        with (project / SETTINGS).open("rb") as file:
            document = json.loads(file.read(_MAX_SETTINGS_BYTES))
    except FileNotFoundError:
        return ProjectSettings()
    except (OSError, ValueError, RecursionError):
        return ProjectSettings(is_broken=True)
    skills = document.get("skills", {}) if isinstance(document, dict) else None
    if not isinstance(skills, dict) or not is_paths(paths := skills.get("paths", [])):
        return ProjectSettings(is_broken=True)
    return ProjectSettings(tuple(paths), skills.get("allowExternalPaths") is True)


def is_paths(value: object) -> bool:
    """Whether the value is a list of non-empty strings that can be paths."""
    return isinstance(value, list) and all(
        isinstance(path, str) and path and "\0" not in path for path in value
    )


def locate_root(path: str, project: Path) -> Path:
    """The folder of a path (relative to the project, ``~`` is expanded), or its ``skills/`` subfolder."""
    try:
        named = Path(path).expanduser()
    except RuntimeError:  # ~name of an unknown user
        named = Path(path)
    return descend_to_skills(project / named)


def descend_to_skills(root: Path) -> Path:
    """``<root>/skills`` if it exists, unless the root itself has that name."""
    inner = root / SKILLS
    return inner if root.name != SKILLS and inner.is_dir() else root


def is_root(folder: Path) -> bool:
    """Whether the folder is named ``skills``, or contains skills directly but no ``skills/`` folder."""
    if folder.name == SKILLS or (folder / SKILLS).is_dir():
        return folder.name == SKILLS
    return any(skill_md(child) for child in folder.iterdir() if child.is_dir() and child.name[0] != ".")


def inherited_roots(project: Path) -> Iterator[Path]:
    """Yields roots outside a project that apply to it: those of parent folders up to home, the user's root
    and the managed root.
    """
    home = Path.home()
    for folder in project.parents if project.is_relative_to(home) else ():
        yield folder / CLAUDE_SKILLS
        if folder == home:
            break
    else:
        yield home / CLAUDE_SKILLS
    if settings.SKILLQUAY_MANAGED_DIR:
        yield Path(settings.SKILLQUAY_MANAGED_DIR) / CLAUDE_SKILLS
