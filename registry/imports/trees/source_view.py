"""Decides which files of a source may be read, and turns its folders into candidates."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from registry.core.limits import package_limits
from registry.imports.candidates import SkillCandidate, SkippedPath
from registry.imports.errors import IMPORT_LOCATION, IMPORT_TOO_LARGE
from registry.imports.trees.gitignore import IgnoreRules
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.folders import folder_entries
from registry.packages.archive.layout import SKILL_MD
from registry.packages.archive.paths import is_junk, printable
from registry.packages.problems import Problem


@dataclass(frozen=True)
class LocatedCandidate:
    """A candidate with the resolved path of its main file, by which duplicates are detected."""

    candidate: SkillCandidate
    file: Path
    is_linked: bool  # reached through a link


def skipped_path(path: str, problem: Problem) -> SkippedPath:
    return SkippedPath(path, problem.at(printable(path)))


def skill_md(folder: Path) -> Path | None:
    """The path of the folder's SKILL.md, in any letter case; None if there is none or the folder can't be
    read.
    """
    try:
        names = [name for name in os.listdir(folder) if name.lower() == SKILL_MD.lower()]
    except OSError:
        return None
    return folder / min(names) if names else None


def _real_path(path: Path) -> Path:
    """The path with its links resolved. Unlike ``Path.resolve``, accepts a link that points to itself."""
    return Path(os.path.realpath(path))


class SourceView:
    """Controls access to the source's files: limits their number and decides which paths may be read."""

    def __init__(
        self,
        source: str,
        provenance: Mapping[str, str],
        top: Path,
        *,
        extra_bases: Sequence[Path],
        is_tracked: bool,
        allow_external: bool,
    ) -> None:
        self.source, self.provenance, self.top = source, provenance, top
        self.allow_external = allow_external
        self.ignore_rules = IgnoreRules(top, is_tracked=is_tracked)
        self._bases = [top.resolve(), *(folder.resolve() for folder in extra_bases)]
        self._seen = 0

    def children(self, folder: Path) -> list[os.DirEntry[str]]:
        """The folder's entries without junk files, sorted by name. Raises IMPORT_LOCATION if the folder can't
        be read, and IMPORT_TOO_LARGE if too many entries were listed in this source.
        """
        try:
            found = [item for item in os.scandir(folder) if not is_junk(item.name)]
        except OSError as error:
            reason = error.strerror or str(error)
            raise IMPORT_LOCATION.refusal(location=self.label(folder), reason=reason) from None
        self._seen += len(found)
        if self._seen > settings.SKILLQUAY_MAX_IMPORT_ENTRIES:
            raise IMPORT_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_IMPORT_ENTRIES)
        return sorted(found, key=lambda item: item.name)

    def label(self, path: Path) -> str:
        """The path as shown in reports: relative to the source, or absolute if it is outside."""
        inner = path.relative_to(self.top) if path.is_relative_to(self.top) else path
        return str(inner).encode("utf-8", "replace").decode()

    def allows(self, path: Path) -> bool:
        """Whether the path may be read: its target is in the source or in an inherited root, or external
        paths are allowed.
        """
        try:
            real = _real_path(path)
        except ValueError:  # a character that no path can have
            return False
        return self.allow_external or any(real.is_relative_to(base) for base in self._bases)

    def is_file(self, path: Path) -> bool:
        """Whether the path may be read and is a file. False for every path outside, so that the result does
        not reveal whether a file exists there.
        """
        return self.allows(path) and os.path.isfile(path)

    def is_folder(self, path: Path) -> bool:
        """Like ``is_file``, for folders."""
        return self.allows(path) and os.path.isdir(path)

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        return self.ignore_rules.ignores(path, is_folder=is_folder)

    def skill(self, folder: Path, *, source: str = "", name: str = "") -> LocatedCandidate:
        """The folder as a candidate with all its files, except junk and ignored ones."""

        def exclude(path: str) -> bool:
            file_path = folder / path
            return is_junk(path) or self.ignores(file_path, is_folder=file_path.is_dir())

        file = skill_md(folder) or folder
        return self.candidate(folder, file, lambda: self.entries(folder, exclude), source=source, name=name)

    def entries(self, folder: Path, exclude: Callable[[str], bool]) -> Sequence[ArchiveEntry]:
        return folder_entries(folder.resolve(), package_limits(), exclude=exclude)

    def candidate(
        self,
        path: Path,
        file: Path,
        read: Callable[[], Sequence[ArchiveEntry]],
        *,
        source: str = "",
        name: str = "",
    ) -> LocatedCandidate:
        candidate = SkillCandidate(
            path=self.label(path),
            source=source or self.source,
            read=read,
            name=name or path.name,
            depth=len(path.parts),
            provenance=self.provenance,
        )
        return LocatedCandidate(candidate, _real_path(file), self.is_linked(file))

    def is_linked(self, path: Path) -> bool:
        """Whether the path, or a folder between it and the top of the source, is a symbolic link."""
        inside = path.is_relative_to(self.top)
        return _real_path(path) != (self._bases[0] / path.relative_to(self.top) if inside else path)
