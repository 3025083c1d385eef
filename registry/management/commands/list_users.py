from typing import Any

from registry.accounts.users import list_users
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.management.cli import ChangeCommand


class Command(ChangeCommand):
    help = "List all user accounts, without erased ones."

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        users = list_users(actor).order_by("username")
        return {
            "users": [
                {
                    "username": user.username,
                    "email": user.email,
                    "active": user.is_active,
                    "administrator": user.is_superuser,
                    "last_sign_in_at": rfc3339(user.last_login) if user.last_login else None,
                }
                for user in users
            ]
        }
