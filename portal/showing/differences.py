"""What an edit changes, line by line in one column, as a page shows it before publishing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from registry.packages.comparison_lines import Piece, Stretch, compare_texts
from registry.packages.package import PackageFile

_MOST_LINES = 2_000  # of one file


@dataclass(frozen=True)
class Line:
    """``tone`` is a class of highlighted code: ``gd`` taken out, ``s`` put in, ``c`` what is folded."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Difference:
    """``what`` is added, changed or gone; no lines where the file is not text, or too large."""

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
    if b"\0" in (old or b"") + (new or b""):
        return Difference(path, what, ())
    stretches = compare_texts(old or b"", new or b"").stretches
    lines = (line for stretch in stretches for line in _lines(stretch))
    return Difference(path, what, tuple(islice(lines, _MOST_LINES)))


def _lines(stretch: Stretch) -> Iterator[Line]:
    """What is taken out and what is put in stand together, neighbours before one another."""
    if stretch.folded:
        yield Line("…", "c")
        return
    put_in: list[Line] = []
    for line in stretch.lines:
        if line.kind == "same":
            yield from put_in
            put_in = []
            yield Line(f" {_text(line.after)}")
        if line.kind in ("removed", "changed"):
            yield Line(f"-{_text(line.before)}", "gd")
        if line.kind in ("added", "changed"):
            put_in.append(Line(f"+{_text(line.after)}", "s"))
    yield from put_in


def _text(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces).rstrip("\r")
