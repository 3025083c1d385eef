"""Two published versions held against each other, with the texts that changed, and the JSON of it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from registry import storage
from registry.models import Version
from registry.packages.comparison import Comparison, Content, FileChange, FileFacts, compare
from registry.packages.comparison_lines import MOST_BYTES, Line, TextComparison, compare_texts
from registry.packages.comparison_schemas import SchemaChange
from registry.packages.manifest import manifest_of
from registry.packages.problems import Said

MOST_TOLD = 3_000  # lines of all texts together; the texts after that are told one at a time
Translate = Callable[[str], str]


@dataclass(frozen=True)
class Text:
    """A changed file and its lines; ``comparison`` is None for what has no text, or is left for later."""

    change: FileChange
    comparison: TextComparison | None
    later: bool = False


def compare_versions(before: Version, after: Version) -> Comparison:
    return compare(_content(before), _content(after))


def _content(version: Version) -> Content:
    rows = version.files.order_by("path")
    files = tuple(FileFacts(row.path, row.size, row.digest, row.is_text, row.executable) for row in rows)
    return Content(manifest_of(version.manifest), files)


def texts(before: Version, after: Version, changes: Iterable[FileChange]) -> Iterator[Text]:
    """Each change with its lines, until there are enough of them."""
    told = 0
    with ExitStack() as stack:
        old, new = (_archive(stack, version) for version in (before, after))
        for change in changes:
            if not _has_lines(change):
                yield Text(change, None)
            elif told >= MOST_TOLD:
                yield Text(change, None, later=True)
            else:
                found = _compared(change, old, new)
                told += found.removed + found.added
                yield Text(change, found)


def _archive(stack: ExitStack, version: Version) -> zipfile.ZipFile:
    return stack.enter_context(zipfile.ZipFile(stack.enter_context(storage.open_blob(version.digest))))


def _has_lines(change: FileChange) -> bool:
    """Whether there is something to tell beyond the change itself."""
    same = change.before and change.after and change.before.digest == change.after.digest
    return change.is_text and not same


def _compared(change: FileChange, old: zipfile.ZipFile, new: zipfile.ZipFile) -> TextComparison:
    sizes = [file.size for file in (change.before, change.after) if file]
    if max(sizes) > MOST_BYTES:
        return TextComparison(too_large=True)
    before = old.read(change.before.path) if change.before else b""
    return compare_texts(before, new.read(change.after.path) if change.after else b"")


def document(before: Version, after: Version, *, with_texts: bool, translate: Translate) -> dict[str, Any]:
    """The JSON object of commands and API."""
    found = compare_versions(before, after)
    told = texts(before, after, found.files) if with_texts else (Text(one, None) for one in found.files)
    asked = found.asks_more
    return {
        "skill": str(after.skill),
        "before": before.number,
        "after": after.number,
        "same_permissions": found.may_do_the_same,
        "breaking": found.breaks,
        "asks_more": {name: sorted(names) for name, names in vars(asked).items() if names},
        "abilities": [
            {"about": one.about, "gained": one.gained, "lost": one.lost, "more": one.more}
            for one in found.abilities
        ],
        "input_schema": [_schema_change(change, translate) for change in found.inputs],
        "output_schema": [_schema_change(change, translate) for change in found.outputs],
        "tools": [
            {"tool": one.tool, "changes": [_schema_change(change, translate) for change in one.changes]}
            for one in found.tools
        ],
        "manifest": [vars(change) for change in found.fields],
        "files": [_file_change(text) for text in told],
    }


def _schema_change(change: SchemaChange, translate: Translate) -> dict[str, str]:
    return {"place": change.place, "effect": change.effect, "reason": said(change.reason, translate)}


def said(reason: str, translate: Translate) -> str:
    return reason.translated(translate) if isinstance(reason, Said) else reason


def _file_change(text: Text) -> dict[str, Any]:
    change, found = text.change, text.comparison
    row: dict[str, Any] = {"kind": change.kind, "path": change.path}
    for side, file in (("before", change.before), ("after", change.after)):
        row[side] = file and {"path": file.path, "size": file.size, "digest": file.digest}
    if found and not found.too_large:
        changed = (line for part in found.stretches for line in part.lines if line.kind != "same")
        row["lines"] = [_line(line) for line in changed]
    return row


def _line(line: Line) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "before_line": line.before_number,
        "after_line": line.after_number,
        "before": "".join(piece.text for piece in line.before),
        "after": "".join(piece.text for piece in line.after),
    }
