from typing import Any

from django.core.management.base import CommandParser

from registry.accounts.users import find_user, reset_password
from registry.identity.actors import Actor
from registry.management.cli import ChangeCommand


class Command(ChangeCommand):
    help = "Print a link with which a user can set a new password once. The current password stops working."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="NAME", help="the user name")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        return {"url": reset_password(find_user(options["username"], actor), actor)}
