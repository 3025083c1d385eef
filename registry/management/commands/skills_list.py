from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import loading
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "The skills that an agent may load: id, name, description, allowed tools."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--path", action="append", default=[], help="a file that is worked on")
        parser.add_argument("--limit", type=int, default=loading.LISTED)

    def handle(self, *args: Any, **options: Any) -> None:
        found = loading.skills_list(
            self.actor(options), paths=options["path"], limit=max(options["limit"], 1)
        )
        lines = [f"{each.id}  {each.name}  {each.description}" for each in found.skills]
        self.answer(loading.list_document(found), lines, as_json=options["json"], ok=True)
