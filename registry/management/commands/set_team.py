from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import teams
from registry.actors import Actor
from registry.catalog import find_team
from registry.models import MemoryReview
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Set in which languages a team's skills are asked for, and whether failing trigger tests block."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("team", metavar="TEAM")
        parser.add_argument("--languages", default=None, help="such as en,zh; empty for the site's")
        parser.add_argument("--failing-triggers", choices=("warn", "block"), default=None)
        parser.add_argument("--memory-review", choices=MemoryReview.values, default=None)

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        team = find_team(options["team"], actor)
        languages, failing = options["languages"], options["failing_triggers"]
        team = teams.change_settings(
            team,
            actor,
            languages=None
            if languages is None
            else [each.strip() for each in languages.split(",") if each.strip()],
            failing_triggers_block=None if failing is None else failing == "block",
            memory_review=options["memory_review"],
        )
        return teams.settings_document(team)
