"""Command lines that a worker reads from the scripts' own parsers after publication."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from registry.models import CommandLineOrigin, EntryCommandLine
from registry.packages.command_lines import fits, to_document
from registry.packages.command_lines.python.described_parser import read_description
from registry.versions.publishing.command_lines import MAX_DOCUMENT


def has_waiting() -> bool:
    return EntryCommandLine.objects.filter(asks_parser=True).exists()


def claim_next() -> EntryCommandLine | None:
    """The oldest command line whose parser must be asked, which no other worker gets; None if none waits.

    If the worker dies, the reading of the script remains.
    """
    waiting = EntryCommandLine.objects.filter(asks_parser=True).select_related("version").order_by("id")
    while row := waiting.first():
        if EntryCommandLine.objects.filter(pk=row.pk, asks_parser=True).update(asks_parser=False):
            return row
    return None


def store_answer(row: EntryCommandLine, description: Mapping[str, Any]) -> bool:
    """Replaces the command line by the one that the script's parser describes.

    Removes the samples that the parser refuses. Returns False, and changes nothing, if the description is not
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
