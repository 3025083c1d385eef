"""Reads legacy ``commands/`` folders: skill folders and single ``.md`` files, with subfolders
as namespaces.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from registry.core.limits import package_limits
from registry.imports.candidates import SkippedPath
from registry.imports.errors import IMPORT_HIDDEN, IMPORT_IGNORED, IMPORT_NOT_A_SKILL, IMPORT_OUTSIDE
from registry.imports.trees.source_view import LocatedCandidate, SourceView, skill_md, skipped_path
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.layout import SKILL_MD
from registry.packages.archive.paths import printable
from registry.packages.errors import FILE_UNREADABLE

FOLDER = "commands"
SOURCE = "commands"


def read(folder: Path, view: SourceView) -> Iterator[LocatedCandidate | SkippedPath]:
    """Yields candidates for the commands below the folder, and skipped paths; nothing if the folder itself is
    a skill. ``frontend/button.md`` becomes the skill ``frontend:button``.
    """
    if not view.allows(folder):
        yield skipped_path(view.label(folder), IMPORT_OUTSIDE.problem())
    elif view.is_folder(folder) and not skill_md(folder):
        yield from _below(folder, (), view)


def _below(
    folder: Path, namespaces: tuple[str, ...], view: SourceView
) -> Iterator[LocatedCandidate | SkippedPath]:
    for item in view.children(folder):
        path = folder / item.name
        if item.is_symlink() and not view.allows(path):
            yield skipped_path(view.label(path), IMPORT_OUTSIDE.problem())
        elif view.is_folder(path):
            yield from _folder(path, (*namespaces, item.name), view)
        elif path.suffix == ".md" and item.is_file(follow_symlinks=False):
            yield _file(path, (*namespaces, path.stem), view)


def _folder(
    path: Path, namespaces: tuple[str, ...], view: SourceView
) -> Iterator[LocatedCandidate | SkippedPath]:
    if path.name.startswith("."):
        yield skipped_path(view.label(path), IMPORT_HIDDEN.problem())
    elif view.ignores(path, is_folder=True):
        yield skipped_path(view.label(path), IMPORT_IGNORED.problem())
    elif skill_md(path):
        yield view.skill(path, source=SOURCE, name=":".join(namespaces))
    elif not path.is_symlink():
        yield from _below(path, namespaces, view)


def _file(path: Path, namespaces: tuple[str, ...], view: SourceView) -> LocatedCandidate | SkippedPath:
    if path.stem.lower() == "readme":
        return skipped_path(view.label(path), IMPORT_NOT_A_SKILL.problem(name=printable(path.name)))
    if view.ignores(path, is_folder=False):
        return skipped_path(view.label(path), IMPORT_IGNORED.problem())
    return view.candidate(path, path, lambda: _entries(path), source=SOURCE, name=":".join(namespaces))


def _entries(path: Path) -> tuple[ArchiveEntry, ...]:
    """The file as a single entry named SKILL.md. Reads one byte more than the limit, so that later checks
    detect a larger file. Raises FILE_UNREADABLE.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            return (ArchiveEntry(SKILL_MD, file.read(package_limits().skill_md + 1)),)
    except OSError as error:
        raise FILE_UNREADABLE.refusal(reason=error.strerror or "").at(printable(path.name)) from None
