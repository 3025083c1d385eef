"""Compares two published versions: permissions, schemas, files and lines, as objects or as a JSON object."""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from registry.additions.additions import additions_of, effective_manifest
from registry.core.hooks import chosen_runtime
from registry.core.sql import evaluate
from registry.models import File, Version
from registry.packages.compare.lines import MAX_BYTES, DiffLine, TextComparison, compare_texts
from registry.packages.compare.schemas import SchemaChange
from registry.packages.compare.versions import Comparison, Content, FileChange, FileFacts, compare
from registry.packages.manifest.manifest import manifest_of
from registry.packages.problems import LazyMessage
from registry.storage import blobs

MAX_DIFF_LINES = 3_000  # changed lines in all files; further files are compared one at a time on request
Translate = Callable[[str], str]


@dataclass(frozen=True)
class FileDiff:
    """A changed file and the comparison of its lines.

    ``comparison`` is None for a binary file, for unchanged content, and if no lines were requested. It is
    also None for a file beyond the line limit, for which ``later`` is set.
    """

    change: FileChange
    comparison: TextComparison | None
    later: bool = False


def compare_versions(before: Version, after: Version) -> Comparison:
    old, new = (version.files.order_by("path") for version in (before, after))
    evaluate(old, new)
    return compare(_content(before, old), _content(after, new))


def _content(version: Version, rows: Iterable[File]) -> Content:
    files = tuple(FileFacts(row.path, row.size, row.digest, row.is_text, row.executable) for row in rows)
    manifest = manifest_of(version.manifest)
    manifest = replace(manifest, runtime=manifest.runtime or chosen_runtime(version))
    return Content(manifest, files, effective_manifest(version), additions_of(version).library)


def file_diffs(before: Version, after: Version, changes: Iterable[FileChange]) -> Iterator[FileDiff]:
    """Yields each change with the comparison of its lines. Once MAX_DIFF_LINES changed lines were found,
    later text files are not compared. Raises the errors of ``blobs.open_blob``.
    """
    line_count = 0
    with ExitStack() as stack:
        old, new = (_archive(stack, version) for version in (before, after))
        for change in changes:
            if not _has_lines(change):
                yield FileDiff(change, None)
            elif line_count >= MAX_DIFF_LINES:
                yield FileDiff(change, None, later=True)
            else:
                comparison = _compare_file(change, old, new)
                line_count += comparison.removed + comparison.added
                yield FileDiff(change, comparison)


def _archive(stack: ExitStack, version: Version) -> zipfile.ZipFile:
    return stack.enter_context(zipfile.ZipFile(stack.enter_context(blobs.open_blob(version.digest))))


def _has_lines(change: FileChange) -> bool:
    same = change.before and change.after and change.before.digest == change.after.digest
    return change.is_text and not same


def _compare_file(change: FileChange, old: zipfile.ZipFile, new: zipfile.ZipFile) -> TextComparison:
    sizes = [file.size for file in (change.before, change.after) if file]
    if max(sizes) > MAX_BYTES:
        return TextComparison(too_large=True)
    before = old.read(change.before.path) if change.before else b""
    return compare_texts(before, new.read(change.after.path) if change.after else b"")


def comparison_document(
    before: Version, after: Version, *, with_texts: bool, translate: Translate
) -> dict[str, Any]:
    """The comparison as a JSON object for commands and the API. ``with_texts`` adds the changed lines of
    files, up to the limit of ``file_diffs``.
    """
    comparison = compare_versions(before, after)
    diffs = (
        file_diffs(before, after, comparison.files)
        if with_texts
        else (FileDiff(each, None) for each in comparison.files)
    )
    added = comparison.added_permissions
    return {
        "skill": str(after.skill),
        "before": before.number,
        "after": after.number,
        "same_permissions": comparison.same_permissions,
        "breaking": comparison.is_breaking,
        "added_permissions": {name: sorted(names) for name, names in vars(added).items() if names},
        "abilities": [
            {"name": each.name, "added": each.added, "removed": each.removed, "broader": each.broader}
            for each in comparison.abilities
        ],
        "input_schema": [_schema_change(change, translate) for change in comparison.inputs],
        "output_schema": [_schema_change(change, translate) for change in comparison.outputs],
        "tools": [
            {"tool": each.tool, "changes": [_schema_change(change, translate) for change in each.changes]}
            for each in comparison.tools
        ],
        "manifest": [vars(change) for change in comparison.fields],
        "files": [_file_change(text) for text in diffs],
    }


def _schema_change(change: SchemaChange, translate: Translate) -> dict[str, str]:
    return {
        "pointer": change.pointer,
        "effect": change.effect,
        "reason": translate_reason(change.reason, translate),
    }


def translate_reason(reason: str, translate: Translate) -> str:
    return reason.translated(translate) if isinstance(reason, LazyMessage) else reason


def _file_change(diff: FileDiff) -> dict[str, Any]:
    change, comparison = diff.change, diff.comparison
    row: dict[str, Any] = {"kind": change.kind, "path": change.path}
    for side, file in (("before", change.before), ("after", change.after)):
        row[side] = file and {"path": file.path, "size": file.size, "digest": file.digest}
    if comparison and not comparison.too_large:
        changed = (line for part in comparison.sections for line in part.lines if line.kind != "same")
        row["lines"] = [_line(line) for line in changed]
    return row


def _line(line: DiffLine) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "before_line": line.before_number,
        "after_line": line.after_number,
        "before": "".join(piece.text for piece in line.before),
        "after": "".join(piece.text for piece in line.after),
    }
