"""Finds the folders that contain a project's skills: in the project, named in its settings, or inherited."""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from registry.imports.trees.source_view import skill_md

CLAUDE_SKILLS = ".claude/skills"
SKILLS = "skills"
SETTINGS = "ship.json"
_NOT_IN_PATHS = re.compile("[\0\ud800-\udfff]")
_MAX_SETTINGS_BYTES = 64 * 1024  # bytes of a settings file that are read


@dataclass(frozen=True)
class ProjectSettings:
    """The skill settings in a project's ``ship.json``. ``is_broken`` is set if the file is unreadable or
    invalid, or an external link that is not allowed.
    """

    paths: tuple[str, ...] = ()
    allow_external: bool = False
    is_broken: bool = False


def read_settings(project: Path, *, allow_external: bool) -> ProjectSettings:
    """The settings in ``ship.json``. Unless ``allow_external`` is set, a link to a file outside the project
    counts as broken and is not followed.
    """
    file_path = Path(os.path.realpath(project / SETTINGS))
    if not allow_external and not file_path.is_relative_to(os.path.realpath(project)):
        return ProjectSettings(is_broken=True)
    try:
        with file_path.open("rb") as file:
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
    """Whether the value is a list of non-empty strings without NUL and surrogates."""
    return isinstance(value, list) and all(
        isinstance(path, str) and path and not _NOT_IN_PATHS.search(path) for path in value
    )


def locate_root(path: str, project: Path) -> Path:
    """The folder at this path, or its ``skills`` subfolder if there is one. The path is relative to the
    project; ``~`` is expanded.
    """
    try:
        named = Path(path).expanduser()
    except RuntimeError:  # `~name` of an unknown user: a path outside the project, as for a known user
        named = Path("/", path)
    return descend_to_skills(project / named)


def descend_to_skills(root: Path) -> Path:
    """``<root>/skills`` if it exists and the root is not itself named ``skills``; otherwise the root."""
    inner = root / SKILLS
    return inner if root.name != SKILLS and os.path.isdir(inner) else root


def is_root(folder: Path, is_folder: Callable[[Path], bool]) -> bool:
    """Whether the folder is a skill root: it is named ``skills``, or it has no ``skills`` subfolder but
    contains skill folders directly. ``is_folder`` decides which subfolders count.
    """
    if folder.name == SKILLS or is_folder(folder / SKILLS):
        return folder.name == SKILLS
    return any(skill_md(child) for child in folder.iterdir() if child.name[0] != "." and is_folder(child))


def inherited_roots(project: Path) -> Iterator[Path]:
    """Yields the paths of skill roots outside the project that apply to the project. These are in parent
    folders up to the home folder, in the home folder, and in the managed folder. The paths may not exist.
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
