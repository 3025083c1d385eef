from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.matching import Match, Request, match
from registry.matching.documents import document
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "Ask which skills fit a request, and why."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT", nargs="?", default="")
        parser.add_argument("--limit", type=int, default=20)
        parser.add_argument("--intent", default="", help="the intent that is meant")
        parser.add_argument("--event", default="", help="the type of an event")
        parser.add_argument(
            "--path", action="append", default=[], help="a file that is worked on; repeatable"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        request = Request(options["text"], options["intent"], options["event"], tuple(options["path"]))
        found = match(request, actor, limit=max(options["limit"], 1))
        lines = [_line(row) for row in found.rows] or ["None."]
        self.answer(document(found, actor), lines, as_json=options["json"], ok=True)


def _line(row: Match) -> str:
    version = row.skill.found_as.version if row.skill.found_as else row.skill.latest
    number = version.number if version else "-"
    why = ", ".join(dict.fromkeys(reason.text for reason in row.reasons))
    return f"{row.skill.found_as or row.skill}@{number}  {row.tier.name.lower()}  {row.score:.2f}  {why[:80]}"
