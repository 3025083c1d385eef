from typing import Any

from django.core.management.base import CommandParser

from registry.listing import formats
from registry.listing.list_skills import CONTEXT_TOKENS, list_skills
from registry.management.cli import ShellCommand


class Command(ShellCommand):
    help = "Print the agent listing: the skills that agents see in their prompt."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--context-tokens",
            type=int,
            default=CONTEXT_TOKENS,
            metavar="N",
            help="the size of the context window",
        )
        parser.add_argument("--format", choices=formats.FORMATS, default="lines", help="default: lines")
        parser.add_argument(
            "--path", action="append", default=[], help="a file that the agent works on; repeatable"
        )
        parser.add_argument(
            "--limit",
            type=int,
            help="the maximum number of skills; default: 40 for --format section, otherwise 1,000",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        form = options["format"]
        limit = options["limit"] or (formats.SECTION_LIMIT if form == "section" else None)
        found = list_skills(
            self.actor(options),
            context_tokens=max(options["context_tokens"], 0),
            paths=options["path"],
            limit=max(limit, 1) if limit else None,
        )
        lines = [formats.render(found, form)] if found.rows or form != "lines" else []
        self.answer(formats.listing_document(found), lines, as_json=options["json"], ok=True)
