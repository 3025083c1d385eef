"""What changed between two lists of files, as a unified diff that costs what its length costs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from registry.packages.package import PackageFile

_COMPARED = 2_000  # lines between the first and the last that differ: beyond, all are replaced
_AROUND = 3


def difference(before: tuple[PackageFile, ...], after: tuple[PackageFile, ...]) -> str:
    """File by file; one that has another name now and the same bytes is renamed."""
    old, new = ({file.path: file.data for file in files} for files in (before, after))
    added = {data: path for path, data in new.items() if path not in old}
    renamed = {path: added[data] for path, data in old.items() if path not in new and data in added}
    text = [f"rename from {path}\nrename to {name}\n" for path, name in renamed.items()]
    for path in sorted({*old, *new} - {*renamed, *renamed.values()}):
        if old.get(path) != new.get(path):
            text += _file(path, old.get(path), new.get(path))
    return "".join(text)


def _file(path: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    yield f"--- {'/dev/null' if old is None else 'a/' + path}\n"
    yield f"+++ {'/dev/null' if new is None else 'b/' + path}\n"
    for line in _hunks(_lines(old), _lines(new)):
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return [line + "\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    first = _same(old, new)
    last = _same(old[first:][::-1], new[first:][::-1])
    if max(len(old), len(new)) - first - last <= _COMPARED:
        # what is equal at both ends is left away but for what stands around
        low, high = max(0, first - _AROUND), max(0, last - _AROUND)
        yield from _shifted(old[low : len(old) - high], new[low : len(new) - high], low)
        return
    gone, come = old[first : len(old) - last], new[first : len(new) - last]
    yield f"@@ -{first + 1},{len(gone)} +{first + 1},{len(come)} @@\n"
    yield from ("-" + line for line in gone)
    yield from ("+" + line for line in come)


def _same(one: list[str], other: list[str]) -> int:
    """How many lines are equal from the start."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _shifted(old: list[str], new: list[str], by: int) -> Iterator[str]:
    """difflib's hunks, their places counted from the file's first line."""
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        yield f"@@ -{_range(a + by, b + by)} +{_range(c + by, d + by)} @@\n"
        for tag, i, j, k, n in group:
            yield from ((" " if tag == "equal" else "-") + line for line in old[i:j])
            if tag != "equal":
                yield from ("+" + line for line in new[k:n])


def _range(first: int, end: int) -> str:
    """As diff writes it: an empty one names the line before it."""
    length = end - first
    return f"{first + 1 if length else first},{length}" if length != 1 else f"{first + 1}"
