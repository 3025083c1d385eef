from typing import Any

from django.core.management.base import CommandParser

from registry.accounts.users import create_user
from registry.identity.actors import Actor
from registry.management.cli import ChangeCommand


class Command(ChangeCommand):
    help = "Create a user account and show its one-time password once."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="NAME", help="the user name")
        parser.add_argument("--email", metavar="E", default="", help="the user's e-mail address")
        parser.add_argument("--administrator", action="store_true", help="give administrator rights")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        new = create_user(
            options["username"], actor, email=options["email"], is_administrator=options["administrator"]
        )
        return {
            "username": new.user.username,
            "one_time_password": new.one_time_password,
            "administrator": new.user.is_superuser,
        }
