from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.listing import CONTEXT_TOKENS, formats, list_skills
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "What an agent is told of its skills, within a hundredth of its context."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--context-tokens", type=int, default=CONTEXT_TOKENS, metavar="N")
        parser.add_argument("--format", choices=formats.FORMATS, default="lines")
        parser.add_argument(
            "--path", action="append", default=[], help="a file that is worked on; repeatable"
        )
        parser.add_argument("--limit", type=int, help="at most so many; 40 in a section")

    def handle(self, *args: Any, **options: Any) -> None:
        form = options["format"]
        limit = options["limit"] or (formats.SECTION_LIMIT if form == "section" else None)
        found = list_skills(
            self.actor(options),
            context_tokens=max(options["context_tokens"], 0),
            paths=options["path"],
            limit=max(limit, 1) if limit else None,
        )
        told = [formats.text(found, form)] if found.rows or form != "lines" else []
        self.answer(formats.document(found), told, as_json=options["json"], ok=True)
