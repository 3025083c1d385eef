from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_named
from registry.publishing import unyank, yank
from registry.shell import ChangeCommand, exact


class Command(ChangeCommand):
    help = "Yank a version: only its exact number gets it from now on. --undo takes it back."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION")
        one = parser.add_mutually_exclusive_group(required=True)
        one.add_argument("--reason", metavar="TEXT")
        one.add_argument("--undo", action="store_true")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        version = find_named(exact(options["version"]), actor)
        if options["undo"]:
            version = unyank(version, actor)
        else:
            version = yank(version, actor, reason=options["reason"])
        return {"version": str(version), "yanked": version.yanked_at is not None}
