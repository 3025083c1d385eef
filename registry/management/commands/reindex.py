from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import indexing
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
        self.answer({"indexed": done}, [f"{done} skills indexed."], as_json=options["json"], ok=True)
