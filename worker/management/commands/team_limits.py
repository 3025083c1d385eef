from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry.actors import Actor
from registry.catalog import find_team
from registry.shell import WRONG_CALL, ChangeCommand
from worker import team_limits


class Command(ChangeCommand):
    help = "Show what a team may use and has used; --set changes it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("team", metavar="TEAM")
        parser.add_argument(
            "--set",
            metavar="NAME=N",
            action="append",
            default=[],
            help=f"{', '.join(team_limits.NAMES)}; 0 is no limit, nothing after = the site's",
        )

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        team = find_team(options["team"], actor)
        if options["set"]:
            team_limits.set_limits(team, dict(map(_pair, options["set"])), actor)
        return dict(team_limits.uses_document(team, actor))


def _pair(said: str) -> tuple[str, int | None]:
    name, equals, value = said.partition("=")
    if not equals or (value and not (value.isascii() and value.isdigit())):
        raise CommandError(f"{said} is not NAME=N", returncode=WRONG_CALL)
    return name, int(value) if value else None
