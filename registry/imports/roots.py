"""Which folders a project says its skills lie in: its own, its settings' and those of the folders above."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from registry.imports.looking import skill_md

USUAL = ".claude/skills"
SKILLS = "skills"
SETTINGS = "ship.json"
_MOST = 64 * 1024  # bytes of a settings file


@dataclass(frozen=True)
class Settings:
    """What ``ship.json`` says of skills."""

    paths: tuple[str, ...] = ()
    allow_external: bool = False
    is_broken: bool = False


def read_settings(project: Path) -> Settings:
    try:
        with (project / SETTINGS).open("rb") as file:
            said = json.loads(file.read(_MOST))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError, RecursionError):
        return Settings(is_broken=True)
    skills = said.get("skills", {}) if isinstance(said, dict) else None
    if not isinstance(skills, dict) or not is_paths(paths := skills.get("paths", [])):
        return Settings(is_broken=True)
    return Settings(tuple(paths), skills.get("allowExternalPaths") is True)


def is_paths(value: object) -> bool:
    """Whether this is a list of what can be paths."""
    return isinstance(value, list) and all(
        isinstance(path, str) and path and "\0" not in path for path in value
    )


def located(path: str, project: Path) -> Path:
    """The folder that a setting names: relative to the project, ``~`` expanded, its own skills/ taken."""
    try:
        named = Path(path).expanduser()
    except RuntimeError:  # ~nobody
        named = Path(path)
    return one_level(project / named)


def one_level(root: Path) -> Path:
    """``<root>/skills`` where there is one, unless the root is called so itself."""
    inner = root / SKILLS
    return inner if root.name != SKILLS and inner.is_dir() else root


def is_root(folder: Path) -> bool:
    """Whether the skills lie right in this folder, which has no ``skills/`` that would be meant instead."""
    if folder.name == SKILLS or (folder / SKILLS).is_dir():
        return folder.name == SKILLS
    return any(skill_md(child) for child in folder.iterdir() if child.is_dir() and child.name[0] != ".")


def above(project: Path) -> Iterator[Path]:
    """What holds in a project though it lies above it: its parents' up to home, the user's, the managed."""
    home = Path.home()
    for folder in project.parents if project.is_relative_to(home) else ():
        yield folder / USUAL
        if folder == home:
            break
    else:
        yield home / USUAL
    if settings.SKILLQUAY_MANAGED_DIR:
        yield Path(settings.SKILLQUAY_MANAGED_DIR) / USUAL
