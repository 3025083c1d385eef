from typing import Any

from registry.identity import audit, site_key
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.management.cli import ChangeCommand


class Command(ChangeCommand):
    help = "Record this host's SKILLQUAY_SECRET_KEY as the site's key, after you rotated or lost the key."

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if not actor.is_administrator:
            raise FORBIDDEN.refusal(action="accept a secret key")
        changed = site_key.replace()
        if changed:
            audit.record(actor, "site.accept_key", "")
        return {"changed": changed}
