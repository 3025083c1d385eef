from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_skill
from registry.publishing import merge
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Merge a skill into another: its address means the other, its exact versions stay what they were."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG")
        parser.add_argument("into", metavar="TEAM/SLUG")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        skill, into = (find_skill(options[name], actor) for name in ("skill", "into"))
        return {"skill": str(merge(skill, into, actor)), "before": str(skill)}
