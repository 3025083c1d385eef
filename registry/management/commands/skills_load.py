from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import loading
from registry.shell import ShellCommand, problem_line


class Command(ShellCommand):
    help = "A skill by id, name or part of a name, as an agent loads it: its whole SKILL.md."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = loading.skills_load(options["name"], self.actor(options))
        for notice in loaded.notices:
            self.stderr.write(problem_line(notice))
        self.answer(loading.document(loaded), [loaded.content], as_json=options["json"], ok=True)
