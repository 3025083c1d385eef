from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_named, find_skill
from registry.publishing import (
    deprecate_skill,
    deprecate_version,
    undeprecate_skill,
    undeprecate_version,
)
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Deprecate a skill, or one version of it, and name what to use instead. --undo takes it back."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="TEAM/SLUG[@VERSION]")
        parser.add_argument("--successor", default="", help="a skill, or for a version another number of it")
        one = parser.add_mutually_exclusive_group(required=True)
        one.add_argument("--reason", metavar="TEXT")
        one.add_argument("--undo", action="store_true")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        change = _change_version if "@" in options["name"] else _change_skill
        change(actor, options)
        return {"name": options["name"], "deprecated": not options["undo"]}


def _change_version(actor: Actor, options: dict[str, Any]) -> None:
    version = find_named(options["name"], actor)
    if options["undo"]:
        undeprecate_version(version, actor)
    else:
        deprecate_version(version, actor, reason=options["reason"], successor=options["successor"])


def _change_skill(actor: Actor, options: dict[str, Any]) -> None:
    skill = find_skill(options["name"], actor)
    if options["undo"]:
        undeprecate_skill(skill, actor)
    else:
        successor = find_skill(options["successor"], actor) if options["successor"] else None
        deprecate_skill(skill, actor, reason=options["reason"], successor=successor)
