from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry.actors import Actor
from registry.api.bodies import strict_json
from registry.events.documents import event_document
from registry.events.receiving import Happening, receive, team_of
from registry.models import EventMode
from registry.packages.problems import Refused
from registry.shell import WRONG_CALL, ChangeCommand


class Command(ChangeCommand):
    help = "Tell an event: the skills that declare its type are started or proposed."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("type", metavar="TYPE")
        parser.add_argument("--payload", default="{}", metavar="JSON")
        parser.add_argument("--team", default="", help="whose event it is")
        parser.add_argument("--id", default="", help="the same id again is the same event")
        parser.add_argument("--propose", action="store_true", help="start nothing")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        mode = EventMode.PROPOSE if options["propose"] else EventMode.START
        told = Happening(options["type"], _payload(options["payload"]), options["id"], mode)
        event = receive(told, actor, team=team_of(actor, options["team"])).event
        return event_document(event, actor)


def _payload(text: str) -> Any:
    try:
        return strict_json(text.encode("utf-8", "surrogateescape"))
    except Refused as error:
        raise CommandError(str(error), returncode=WRONG_CALL) from None
