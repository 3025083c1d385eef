from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import catalog, subscriptions
from registry.actors import Actor
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "The teams whose skills a team's agents are offered besides its own."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("team")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--add", metavar="TEAM")
        which.add_argument("--remove", metavar="TEAM")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        team = catalog.find_team(options["team"], actor)
        if options["add"]:
            subscriptions.subscribe(team, options["add"], actor)
        if options["remove"]:
            subscriptions.unsubscribe(team, options["remove"], actor)
        rows = subscriptions.subscriptions_of(team, actor)
        return {"team": team.slug, "subscriptions": [row.publisher.slug for row in rows]}
