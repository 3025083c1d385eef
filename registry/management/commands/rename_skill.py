from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_skill, find_team
from registry.publishing import rename
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Give a skill another address; the old one leads on, and is never given to another."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG")
        parser.add_argument("to", metavar="[TEAM/]SLUG")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        skill = find_skill(options["skill"], actor)
        team, _, slug = options["to"].rpartition("/")
        renamed = rename(skill, actor, slug=slug, team=find_team(team, actor) if team else None)
        return {"skill": str(renamed), "before": options["skill"]}
