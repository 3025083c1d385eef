"""Queues and stores command lines that a worker reads from the scripts' own parsers after publication."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from registry.core.hooks import dependency_state
from registry.models import CommandLineOrigin, EntryCommandLine, Version
from registry.packages.command_lines import fits, to_document
from registry.packages.command_lines.python.described_parser import needs_dependencies, read_description
from registry.versions.publishing.command_lines import MAX_DOCUMENT

_MAX_LOOKED_AT = 50  # rows, so that versions whose dependencies are being built cost little


def has_waiting() -> bool:
    return next(_ready(), None) is not None


def claim_next() -> EntryCommandLine | None:
    """Claims and returns the oldest command line whose script can describe its parser now. None if there is
    none.

    If the worker dies, the command line that was read from the source stays.
    """
    for row in _ready():
        if EntryCommandLine.objects.filter(pk=row.pk, asks_parser=True).update(asks_parser=False):
            return row
    return None


def ask_again(version: Version) -> bool:
    """Queues the parsers that need the version's dependencies, because the dependencies changed.

    Returns whether there are any.
    """
    rows = version.command_lines.exclude(origin=CommandLineOrigin.INPUT_SCHEMA)
    again = [row.pk for row in rows if needs_dependencies(row.command_line)]
    return bool(EntryCommandLine.objects.filter(pk__in=again).update(asks_parser=True))


def _ready() -> Iterator[EntryCommandLine]:
    """Those of the first ``_MAX_LOOKED_AT`` queued rows whose parser needs no dependencies that are still
    building.
    """
    waiting = EntryCommandLine.objects.filter(asks_parser=True).select_related("version").order_by("id")
    return (
        row
        for row in waiting[:_MAX_LOOKED_AT]
        if not needs_dependencies(row.command_line) or dependency_state(row.version) != "building"
    )


def store_answer(row: EntryCommandLine, description: Mapping[str, Any]) -> bool:
    """Replaces the command line with the one that the script's parser describes.

    Removes the samples that the parser refuses. Returns False without a change if the description is not
    usable.
    """
    command_line = read_description(description, row.command_line)
    if command_line is None:
        return False
    document = to_document(command_line)
    if len(json.dumps(document)) > MAX_DOCUMENT:
        return False
    samples = [words for words in row.samples if fits(command_line, words)]
    EntryCommandLine.objects.filter(pk=row.pk).update(
        origin=CommandLineOrigin.PARSER, document=document, samples=samples
    )
    return True
