from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import search
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "Search the catalog: names first, then tags, then text."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT")
        parser.add_argument("--limit", type=int, default=20)

    def handle(self, *args: Any, **options: Any) -> None:
        found = search.search(options["text"], self.actor(options), limit=max(options["limit"], 1))
        lines = [_line(hit) for hit in found.hits] or ["Nothing found."]
        self.answer(search.document(found), lines, as_json=options["json"], ok=True)


def _line(hit: search.Hit) -> str:
    number = hit.skill.latest.number if hit.skill.latest else "-"
    return f"{hit.skill}@{number}  {hit.tier.name.lower()}  {hit.score:.2f}  {hit.skill.description[:80]}"
