from typing import Any

from django.core.management.base import CommandParser

from registry.canonical import pinned_postings
from registry.index import postings
from registry.management.cli import ShellCommand


class Command(ShellCommand):
    help = (
        "Rebuild the search terms and triggers of skills that an older release indexed. The site can stay "
        "online."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--all", action="store_true", help="rebuild those of all skills")

    def handle(self, *args: Any, **options: Any) -> None:
        done = 0
        for done in postings.reindex(every=options["all"]):
            if not options["json"] and done % 1000 == 0:
                self.stderr.write(f"Indexed {done} skills")
        pinned = sum(1 for _ in pinned_postings.reindex(every=options["all"]))
        lines = [f"{done} skills indexed.", *([f"{pinned} canonical versions indexed."] if pinned else [])]
        self.answer({"indexed": done, "canonical": pinned}, lines, as_json=options["json"], ok=True)
