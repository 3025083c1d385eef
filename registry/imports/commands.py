"""Legacy ``commands/``: folders with a SKILL.md and single ``.md`` files, sub-folders as name spaces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from registry.imports.found import Passed
from registry.imports.looking import Candidate, Look, passed, skill_md
from registry.limits import package_limits
from registry.packages.entries import Entry
from registry.packages.layout import SKILL_MD
from registry.packages.paths import shown
from registry.packages.problems import refuse

FOLDER = "commands"
SOURCE = "commands"


def read(folder: Path, look: Look) -> Iterator[Candidate | Passed]:
    """Every command of the folder: ``frontend/button.md`` is ``frontend:button``."""
    if folder.is_dir() and not skill_md(folder):
        yield from _below(folder, (), look)


def _below(folder: Path, spaces: tuple[str, ...], look: Look) -> Iterator[Candidate | Passed]:
    for item in look.children(folder):
        path = folder / item.name
        if item.is_dir():
            yield from _folder(path, (*spaces, item.name), look)
        elif path.suffix == ".md" and item.is_file(follow_symlinks=False):
            yield _file(path, (*spaces, path.stem), look)


def _folder(path: Path, spaces: tuple[str, ...], look: Look) -> Iterator[Candidate | Passed]:
    if path.name.startswith("."):
        yield passed(look.label(path), "IMPORT_HIDDEN")
    elif not look.allows(path):
        yield passed(look.label(path), "IMPORT_OUTSIDE")
    elif look.ignores(path, is_folder=True):
        yield passed(look.label(path), "IMPORT_IGNORED")
    elif skill_md(path):
        yield look.skill(path, source=SOURCE, name=":".join(spaces))
    elif not path.is_symlink():
        yield from _below(path, spaces, look)


def _file(path: Path, spaces: tuple[str, ...], look: Look) -> Candidate | Passed:
    if path.stem.lower() == "readme":
        return passed(look.label(path), "IMPORT_NOT_A_SKILL", name=shown(path.name))
    if look.ignores(path, is_folder=False):
        return passed(look.label(path), "IMPORT_IGNORED")
    return look.candidate(path, path, lambda: _entries(path), source=SOURCE, name=":".join(spaces))


def _entries(path: Path) -> tuple[Entry, ...]:
    """One byte more than a SKILL.md may have at most: its reading refuses it then."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            return (Entry(SKILL_MD, file.read(package_limits().skill_md + 1)),)
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=shown(path.name), reason=error.strerror or "") from None
