from typing import Any

from django.core.management.base import CommandParser

from registry.erasure.export import export_person
from registry.erasure.people import find_person
from registry.identity.actors import Actor
from registry.management.cli import ChangeCommand


class Command(ChangeCommand):
    help = "Print all stored data about a person."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", help="the user name")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        return export_person(find_person(options["username"], actor), actor)
