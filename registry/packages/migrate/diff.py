"""Unified diffs of package files. Long changes are not compared line by line, to bound the cost."""

import difflib
from collections.abc import Iterator

from registry.packages.package import PackageFile

# maximum lines between the first and the last difference; a longer range is shown as replaced
_MAX_COMPARED = 2_000
_CONTEXT = 3


def unified_diff(before: tuple[PackageFile, ...], after: tuple[PackageFile, ...]) -> str:
    """The unified diff of all files; "" if nothing changed.

    A removed file counts as renamed if an added file has the same bytes.
    """
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
    first = _common_prefix(old, new)
    last = _common_prefix(old[first:][::-1], new[first:][::-1])
    if max(len(old), len(new)) - first - last <= _MAX_COMPARED:
        # Omits equal lines at both ends, except for the context.
        low, high = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
        yield from _offset_hunks(old[low : len(old) - high], new[low : len(new) - high], low)
        return
    removed, added = old[first : len(old) - last], new[first : len(new) - last]
    yield f"@@ -{first + 1},{len(removed)} +{first + 1},{len(added)} @@\n"
    yield from ("-" + line for line in removed)
    yield from ("+" + line for line in added)


def _common_prefix(one: list[str], other: list[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _offset_hunks(old: list[str], new: list[str], offset: int) -> Iterator[str]:
    """Yields the lines of difflib's hunks for a part of a file with ``offset`` lines before it.

    Line numbers count from the start of the file.
    """
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        yield f"@@ -{_range(a + offset, b + offset)} +{_range(c + offset, d + offset)} @@\n"
        for tag, i, j, k, n in group:
            yield from ((" " if tag == "equal" else "-") + line for line in old[i:j])
            if tag != "equal":
                yield from ("+" + line for line in new[k:n])


def _range(first: int, end: int) -> str:
    """A line range in diff notation. An empty range names the line before it."""
    length = end - first
    return f"{first + 1 if length else first},{length}" if length != 1 else f"{first + 1}"
