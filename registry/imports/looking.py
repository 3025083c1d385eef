"""What the readings of a tree share: how paths are called, what may be looked at, and a skill's folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from registry.imports.found import Found, Passed
from registry.imports.ignoring import Ignoring
from registry.limits import package_limits
from registry.packages.entries import Entry
from registry.packages.folders import folder_entries
from registry.packages.layout import SKILL_MD
from registry.packages.paths import is_junk, shown
from registry.packages.problems import CODES, Problem, refuse


@dataclass(frozen=True)
class Candidate:
    """What was found, and which file it really is."""

    found: Found
    file: Path
    is_linked: bool  # it was reached by a link


def passed(path: str, code: str, **params: str) -> Passed:
    return Passed(path, Problem(code, shown(path), None, params, CODES[code].severity))


def skill_md(folder: Path) -> Path | None:
    """The folder's SKILL.md, in whatever case it is written."""
    try:
        names = [name for name in os.listdir(folder) if name.lower() == SKILL_MD.lower()]
    except OSError:
        return None
    return folder / min(names) if names else None


class Look:
    """One reading's view of the disk: everything is counted, and nothing is read that may not be."""

    def __init__(
        self,
        source: str,
        provenance: Mapping[str, str],
        top: Path,
        *,
        beside: Sequence[Path],
        is_tracked: bool,
        allow_external: bool,
    ) -> None:
        self.source, self.provenance, self.top = source, provenance, top
        self.allow_external = allow_external
        self.ignoring = Ignoring(top, is_tracked=is_tracked)
        self._bases = [top.resolve(), *(folder.resolve() for folder in beside)]
        self._seen = 0

    def children(self, folder: Path) -> list[os.DirEntry[str]]:
        """Its entries by name, junk left out; refuses a source that has too many."""
        try:
            found = [item for item in os.scandir(folder) if not is_junk(item.name)]
        except OSError as error:
            reason = error.strerror or str(error)
            raise refuse("IMPORT_LOCATION", location=self.label(folder), reason=reason) from None
        self._seen += len(found)
        if self._seen > settings.SKILLQUAY_IMPORT_ENTRIES:
            raise refuse("IMPORT_TOO_LARGE", limit=settings.SKILLQUAY_IMPORT_ENTRIES)
        return sorted(found, key=lambda item: item.name)

    def label(self, path: Path) -> str:
        """The path as the report names it: within the source, or whole where it lies outside."""
        inner = path.relative_to(self.top) if path.is_relative_to(self.top) else path
        return str(inner).encode("utf-8", "replace").decode()

    def allows(self, path: Path) -> bool:
        """Whether this may be read: it really lies within the source, or external paths are allowed."""
        real = path.resolve()
        return self.allow_external or any(real.is_relative_to(base) for base in self._bases)

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        return self.ignoring.ignores(path, is_folder=is_folder)

    def skill(self, folder: Path, *, source: str = "", name: str = "") -> Candidate:
        """The folder's skill, all its files but junk and what is ignored."""

        def leave_out(path: str) -> bool:
            here = folder / path
            return is_junk(path) or self.ignores(here, is_folder=here.is_dir())

        file = skill_md(folder) or folder
        return self.candidate(folder, file, lambda: self.entries(folder, leave_out), source=source, name=name)

    def entries(self, folder: Path, leave_out: Callable[[str], bool]) -> Sequence[Entry]:
        return folder_entries(folder.resolve(), package_limits(), leave_out=leave_out)

    def candidate(
        self, path: Path, file: Path, read: Callable[[], Sequence[Entry]], *, source: str = "", name: str = ""
    ) -> Candidate:
        found = Found(
            path=self.label(path),
            source=source or self.source,
            read=read,
            name=name or path.name,
            depth=len(path.parts),
            provenance=self.provenance,
        )
        return Candidate(found, file.resolve(), self.is_linked(file))

    def is_linked(self, path: Path) -> bool:
        """Whether a link is on the way from the top to this path."""
        inside = path.is_relative_to(self.top)
        return path.resolve() != (self._bases[0] / path.relative_to(self.top) if inside else path)
