from typing import Any

from django.core.management.base import CommandParser

from registry.management.cli import ShellCommand
from registry.matching.documents import match_document
from registry.matching.match import Match, MatchQuery, match


class Command(ShellCommand):
    help = "List the skills that fit a request, with reasons."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT", nargs="?", default="", help="the request in words")
        parser.add_argument("--limit", type=int, default=20, help="the maximum number of skills; default: 20")
        parser.add_argument("--intent", default="", help="an intent that skills declare")
        parser.add_argument("--event", default="", help="an event type that skills declare")
        parser.add_argument(
            "--path", action="append", default=[], help="a file that the agent works on; repeatable"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        request = MatchQuery(options["text"], options["intent"], options["event"], tuple(options["path"]))
        found = match(request, actor, limit=max(options["limit"], 1))
        lines = [_line(row) for row in found.rows] or ["None."]
        self.answer(match_document(found, actor), lines, as_json=options["json"], ok=True)


def _line(row: Match) -> str:
    version = row.skill.resolved_canonical.version if row.skill.resolved_canonical else row.skill.latest
    number = version.number if version else "-"
    why = ", ".join(dict.fromkeys(reason.text for reason in row.reasons))
    label = row.skill.resolved_canonical or row.skill
    return f"{label}@{number}  {row.tier.name.lower()}  {row.score:.2f}  {why[:80]}"
