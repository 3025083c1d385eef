from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_named
from registry.publishing import set_changelog
from registry.shell import ChangeCommand, exact


class Command(ChangeCommand):
    help = "Change what is said about a version; its bytes never change."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION")
        parser.add_argument("text")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        version = find_named(exact(options["version"]), actor, even_held=True)
        version = set_changelog(version, options["text"], actor)
        return {"version": str(version), "changelog": version.changelog}
