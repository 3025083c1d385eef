from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.catalog import find_named, find_skill
from registry.publishing import remove_channel, set_channel
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Let a channel such as stable name a version, or --remove the channel."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="TEAM/SLUG[@VERSION]")
        parser.add_argument("channel")
        parser.add_argument("--remove", action="store_true")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if options["remove"]:
            skill = find_skill(options["name"].partition("@")[0], actor)
            remove_channel(skill, options["channel"], actor)
            return {"channel": options["channel"], "version": None}
        channel = set_channel(options["channel"], find_named(options["name"], actor), actor)
        return {"channel": channel.name, "version": str(channel.version)}
