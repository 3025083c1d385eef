"""``manage.py compare_runs ID ID``: what differs between two runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from registry.shell import ShellCommand
from worker.comparing import RunComparison, compare_runs, comparison_document, readable_pair
from worker.value_changes import ValueChanges


class Command(ShellCommand):
    help = "Hold two runs against each other: inputs, version, steps, log, output, files."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("before", metavar="ID")
        parser.add_argument("after", metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        before, after = readable_pair(options["before"], options["after"], self.actor(options))
        found = compare_runs(before, after)
        document = {"ok": True, **comparison_document(before, after, found)}
        self.answer(document, _lines(found), as_json=options["json"], ok=True)


def _lines(found: RunComparison) -> Iterator[str]:
    for fact in found.facts:
        if not fact.same:
            yield f"{fact.name}: {fact.before or '–'} → {fact.after or '–'}"
    yield from _changed("inputs", found.inputs)
    yield from _changed("output", found.output)
    for pair in found.files:
        if pair.kind != "same":
            yield f"{pair.path}: {pair.kind}"
    yield f"log: +{found.log.added} −{found.log.removed}"


def _changed(what: str, found: ValueChanges) -> Iterator[str]:
    for change in found.changes:
        yield ascii(f"{what}{change.place}: {change.before or '–'} → {change.after or '–'}")[1:-1]
