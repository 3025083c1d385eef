from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import catalog
from registry.actors import Actor
from registry.events import subscribing
from registry.models import EventMode
from registry.shell import WRONG_CALL, ChangeCommand


class Command(ChangeCommand):
    help = "What teams say of skills that declare an event's type: that they are started, or only proposed."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--set", nargs=2, metavar=("SKILL", "TYPE"))
        which.add_argument("--remove", metavar="ID")
        parser.add_argument("--team", default="", help="whose events")
        parser.add_argument("--mode", choices=EventMode.values, default=EventMode.START)

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if options["set"]:
            if not options["team"]:
                raise CommandError("Say whose events: --team.", returncode=WRONG_CALL)
            name, type_ = options["set"]
            team, skill = catalog.find_team(options["team"], actor), catalog.find_skill(name, actor)
            subscribing.subscribe(team, skill, type_, options["mode"], actor=actor)
        if options["remove"]:
            subscribing.unsubscribe(subscribing.find(options["remove"], actor), actor)
        rows = subscribing.subscriptions(actor)
        return {
            "subscriptions": [
                {
                    "id": row.uid,
                    "team": row.team.slug,
                    "skill": str(row.skill),
                    "event_type": row.event_type,
                    "mode": row.mode,
                }
                for row in rows
            ]
        }
