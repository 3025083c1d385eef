from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import subscriptions
from registry.actors import Actor
from registry.catalog import find_skill
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Offer a skill to everybody's agents, never cut, or --undo it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="TEAM/SLUG")
        parser.add_argument("--undo", action="store_true")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        skill = find_skill(options["name"], actor)
        subscriptions.set_bundled(skill, not options["undo"], actor)
        return {"skill": str(skill), "bundled": skill.is_bundled}
