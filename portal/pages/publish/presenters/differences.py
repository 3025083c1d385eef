"""A unified diff of an edit, shown before publishing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from registry.packages.compare.lines import DiffSection, LineSegment, compare_texts
from registry.packages.package import PackageFile

_MAX_LINES, _MAX_ALL_LINES = 2_000, 4_000  # limits per file and for all files together


@dataclass(frozen=True)
class DiffLine:
    """A line of a diff. ``tone`` is its CSS class: ``gd`` (removed), ``s`` (added), ``c`` (omitted lines) or
    "".
    """

    text: str
    tone: str = ""


def differences(before: Iterable[PackageFile], after: Iterable[PackageFile]) -> list[dict[str, Any]]:
    """The files that differ, by path: dicts with path, kind (added, removed, changed) and lines.

    At most ``_MAX_LINES`` lines per file and ``_MAX_ALL_LINES`` in all are returned.
    """
    old = {file.path: file.data for file in before}
    new = {file.path: file.data for file in after}
    paths = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    found, left = [], _MAX_ALL_LINES
    for path in paths:
        found.append(_difference(path, old.get(path), new.get(path), min(left, _MAX_LINES)))
        left -= len(found[-1]["lines"])
    return found


def _difference(path: str, old: bytes | None, new: bytes | None, max_lines: int) -> dict[str, Any]:
    """The item of ``differences`` for one file.

    ``lines`` is empty if the file is binary or too large, or ``max_lines`` is 0.
    """
    kind = "added" if old is None else "removed" if new is None else "changed"
    if not max_lines or b"\0" in (old or b"") + (new or b""):
        return {"path": path, "kind": kind, "lines": ()}
    sections = compare_texts(old or b"", new or b"").sections
    lines = (line for section in sections for line in _lines(section))
    return {"path": path, "kind": kind, "lines": tuple(islice(lines, max_lines))}


def _lines(section: DiffSection) -> Iterator[DiffLine]:
    """Yields the lines of a section. In a changed block, all removed lines come before the added ones."""
    if section.folded:
        yield DiffLine("…", "c")
        return
    added: list[DiffLine] = []
    for line in section.lines:
        if line.kind == "same":
            yield from added
            added = []
            yield DiffLine(f" {_text(line.after)}")
        if line.kind in ("removed", "changed"):
            yield DiffLine(f"-{_text(line.before)}", "gd")
        if line.kind in ("added", "changed"):
            added.append(DiffLine(f"+{_text(line.after)}", "s"))
    yield from added


def _text(segments: tuple[LineSegment, ...]) -> str:
    return "".join(segment.text for segment in segments).rstrip("\r")
