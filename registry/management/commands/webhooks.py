from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import catalog
from registry.actors import Actor
from registry.api.webhooks import endpoint_document
from registry.events import webhooks
from registry.shell import WRONG_CALL, ChangeCommand


class Command(ChangeCommand):
    help = (
        "Webhook endpoints: list them, make one (--as says in whose name its events act), change its secret."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--add", metavar="NAME")
        which.add_argument("--rotate", metavar="ID")
        which.add_argument("--remove", metavar="ID")
        parser.add_argument("--team", default="", help="whose the new one is")
        parser.add_argument("--prefix", default="", help="stands before the types that come by the new one")
        parser.add_argument(
            "--overlap",
            type=int,
            default=webhooks.OVERLAP_H,
            metavar="HOURS",
            help="how long the secret before signs, too",
        )

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        secret = None
        if options["add"] is not None:
            if not options["team"]:
                raise CommandError("Say whose it is: --team.", returncode=WRONG_CALL)
            team = catalog.find_team(options["team"], actor)
            _, secret = webhooks.create(team, name=options["add"], prefix=options["prefix"], actor=actor)
        if options["rotate"]:
            endpoint = webhooks.find(options["rotate"], actor)
            secret = webhooks.rotate(endpoint, actor, overlap_h=options["overlap"])
        if options["remove"]:
            webhooks.remove(webhooks.find(options["remove"], actor), actor)
        told: dict[str, Any] = {"webhooks": [*map(endpoint_document, webhooks.endpoints(actor))]}
        return {"secret": secret, **told} if secret else told
