"""Credentials that an administrator names for a place; never the host's, and never to another place."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from django.conf import settings

from registry.models import Source
from registry.outbound.addresses import target
from registry.packages.problems import refuse


@dataclass(frozen=True)
class Credentials:
    """What ``SKILLQUAY_SOURCE_<NAME>_…`` says; all of it empty where a source names none."""

    endpoint: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def basic(self) -> dict[str, str]:
        """A token as git hosts take it: the password of a user whose name they do not look at."""
        if not self.token:
            return {}
        pair = f"{self.access_key or 'x-access-token'}:{self.token}"
        return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def credentials_of(source: Source) -> Credentials:
    """The named credentials, refused unless they are this team's."""
    name = str(source.options.get("credentials") or "")
    if not name:
        return Credentials()
    said = settings.SKILLQUAY_SOURCES.get(name.lower(), {})
    teams = {team.strip() for team in said.get("teams", "").split(",")}
    if not teams & {"*", source.team.slug}:
        raise refuse("SOURCE_CREDENTIALS", path="credentials", name=name[:80])
    fields = {key: said.get(key, "") for key in ("endpoint", "region", "access_key", "secret_key", "token")}
    return Credentials(**fields)


def credentials_for(source: Source) -> Credentials:
    """The same for an address: a token goes to the endpoint's own origin alone."""
    found = credentials_of(source)
    place = found.endpoint and target(found.endpoint).origin
    if found.token and place != target(source.location).origin:
        raise refuse("SOURCE_CREDENTIALS", path="credentials", name=str(source.options["credentials"])[:80])
    return found
