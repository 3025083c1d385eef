from typing import Any

from registry.accounts import second_factors
from registry.events import webhooks
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.management.cli import ChangeCommand
from registry.secrets.values import reseal


class Command(ChangeCommand):
    help = (
        "Encrypt all secrets again: those of teams with the first key in SKILLQUAY_SECRETS_KEYS, those of "
        "webhooks and second factors with SKILLQUAY_SECRET_KEY. The site can stay online."
    )

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if not actor.is_administrator:
            raise FORBIDDEN.refusal(action="reseal")
        return {
            "resealed": reseal(),
            "webhooks": webhooks.reseal(),
            "second_factors": second_factors.reseal(),
        }
