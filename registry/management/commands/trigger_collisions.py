from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.collisions import Collision, collisions, document
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "List the skills that are asked for in the same words, or in nearly the same."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--team", default="", help="only where a skill of this team is part of it")
        parser.add_argument("--skill", default="", metavar="TEAM/SLUG", help="only where this skill is part")

    def handle(self, *args: Any, **options: Any) -> None:
        found = collisions(self.actor(options), team=options["team"], skill=options["skill"])
        lines = [_line(each) for each in found.rows] or ["None."]
        self.answer(document(found), lines, as_json=options["json"], ok=True)


def _line(each: Collision) -> str:
    return f"{each.kind:<6} {each.text}: " + ", ".join(sorted(each.skills))
