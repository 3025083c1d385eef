from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import phrases
from registry.actors import Actor
from registry.api.phrases import phrases_document
from registry.catalog import find_skill
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Have phrases of a skill proposed by the site's model, and accept or decline proposed ones."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG")
        parser.add_argument("--accept", action="append", default=[], metavar="ID")
        parser.add_argument("--decline", action="append", default=[], metavar="ID")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        skill = find_skill(options["skill"], actor)
        decided = dict.fromkeys(options["accept"], True) | dict.fromkeys(options["decline"], False)
        for uid, accept in decided.items():
            phrases.decide(skill, uid, actor, accept=accept)
        if not decided:
            phrases.propose(skill, phrases.ask(skill, actor), actor)
        return {"skill": str(skill), **phrases_document(skill, actor)}
