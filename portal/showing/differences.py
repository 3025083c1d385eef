"""What an edit changes, line by line, as a page shows it before publishing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff

from registry.packages.package import PackageFile

_MOST_LINES = 2_000  # of one file; more is said to be more


@dataclass(frozen=True)
class Line:
    """``tone`` is a class of highlighted code: ``gd`` taken out, ``s`` put in, ``c`` a place."""

    text: str
    tone: str


@dataclass(frozen=True)
class Difference:
    """``what`` is added, changed or gone; no lines where the file is not text."""

    path: str
    what: str
    lines: tuple[Line, ...]


def differences(before: Iterable[PackageFile], after: Iterable[PackageFile]) -> list[Difference]:
    """The files that differ, in the order of their paths."""
    old = {file.path: file.data for file in before}
    new = {file.path: file.data for file in after}
    paths = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    return [_difference(path, old.get(path), new.get(path)) for path in paths]


def _difference(path: str, old: bytes | None, new: bytes | None) -> Difference:
    what = "added" if old is None else "gone" if new is None else "changed"
    try:
        before, after = ((data or b"").decode("utf-8-sig").splitlines() for data in (old, new))
    except UnicodeDecodeError:
        return Difference(path, what, ())
    found = list(unified_diff(before, after, n=3, lineterm=""))[2:]
    return Difference(path, what, tuple(Line(line, _tone(line)) for line in found[:_MOST_LINES]))


def _tone(line: str) -> str:
    return {"-": "gd", "+": "s", "@": "c"}.get(line[:1], "")
