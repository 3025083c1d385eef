from typing import Any

from django.core.management.base import CommandParser

from registry.identity.actors import Actor
from registry.identity.teams import calling_team
from registry.identity.tokens import find_token
from registry.lookup.skills import find_team, find_version_by_label
from registry.management.cli import ChangeCommand
from registry.rules import decision
from registry.rules.api import decision_document


class Command(ChangeCommand):
    help = "Show whether a team's agents can run a version without approval, and which rule decides."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "name", metavar="TEAM/SLUG[@VERSION]", help="the skill and, optionally, a version or channel"
        )
        parser.add_argument("--team", metavar="TEAM", help="the team to run as; default: the skill's team")
        parser.add_argument("--token", metavar="ID", help="the id of a token whose rules apply too")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        version = find_version_by_label(options["name"], actor)
        named = find_team(options["team"], actor) if options["team"] else None
        token = find_token(options["token"], actor) if options["token"] else None
        team = calling_team(actor, version.skill, named)
        return decision_document(decision.decide(version, team=team, token=token))
