from typing import Any

from django.core.management.base import CommandParser

from registry.erasure.people import erase_person, find_person
from registry.identity.actors import Actor
from registry.management.cli import ChangeCommand


class Command(ChangeCommand):
    help = "Permanently erase a person's account, tokens, sessions and run contents; published versions stay."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", help="the user name")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        erased = erase_person(find_person(options["username"], actor), actor)
        return {"erased": erased.username}
