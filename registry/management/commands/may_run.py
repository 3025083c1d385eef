from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import rules
from registry.actors import Actor
from registry.catalog import find_named, find_team
from registry.shell import ChangeCommand
from registry.teams import calling_team
from registry.tokens import find_token


class Command(ChangeCommand):
    help = "Whether agents of a team may run a version unasked, and what made it so."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="TEAM/SLUG[@VERSION]")
        parser.add_argument("--team", metavar="TEAM", help="for which it would run; else the skill's")
        parser.add_argument("--token", metavar="ID", help="whose own rules hold too")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        version = find_named(options["name"], actor)
        named = find_team(options["team"], actor) if options["team"] else None
        token = find_token(options["token"], actor) if options["token"] else None
        team = calling_team(actor, version.skill, named)
        return rules.decision_document(rules.decide(version, team=team, token=token))
