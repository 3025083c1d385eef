from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import indexing
from registry.canonical import indexed
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "Write search terms and triggers anew where older rules wrote them, while the site serves."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--all", action="store_true", help="write those of the present rules anew too")

    def handle(self, *args: Any, **options: Any) -> None:
        done = 0
        for done in indexing.reindex(every=options["all"]):
            if not options["json"] and done % 1000 == 0:
                self.stderr.write(f"{done} skills indexed")
        pinned = sum(1 for _ in indexed.reindex(every=options["all"]))
        said = [f"{done} skills indexed.", *([f"{pinned} canonical versions indexed."] if pinned else [])]
        self.answer({"indexed": done, "canonical": pinned}, said, as_json=options["json"], ok=True)
