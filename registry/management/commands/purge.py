from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_named, find_skill
from registry.publishing import purge_skill, purge_version
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Purge a version, or a whole skill, for good: bytes, search terms and what its runs made."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="TEAM/SLUG[@VERSION]")
        parser.add_argument("--reason", metavar="TEXT", required=True, help="told to who asks for it later")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        name, reason = options["name"], options["reason"]
        if "@" in name:
            version = find_named(name, actor, even_held=True)
            stone = purge_version(version, actor, reason=reason)
            return {"purged": f"{version.skill}@{stone.number}", "digest": stone.digest}
        return {"purged": str(purge_skill(find_skill(name, actor), actor, reason=reason))}
