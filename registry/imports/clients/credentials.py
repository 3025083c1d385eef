"""Named credentials for sources, which administrators configure. A token is sent only to the origin of its
configured endpoint.
"""

import base64
from dataclasses import dataclass, field

from django.conf import settings

from registry.http_client.addresses import parse_target
from registry.imports.readers.errors import SOURCE_CREDENTIALS
from registry.models import Source


@dataclass(frozen=True)
class Credentials:
    """The values of the settings ``SKILLQUAY_SOURCE_<NAME>_…``; all empty if the source names
    no credentials.
    """

    endpoint: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def basic(self) -> dict[str, str]:
        """The header of Basic authentication at a git host, as a dict; {} without a token. Without an access
        key, the user name is ``x-access-token``.
        """
        if not self.token:
            return {}
        pair = f"{self.access_key or 'x-access-token'}:{self.token}"
        return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def load_credentials(source: Source) -> Credentials:
    """The credentials that the source names, or empty ones if it names none. Raises SOURCE_CREDENTIALS if
    they are not configured for the source's team.
    """
    name = str(source.options.get("credentials") or "")
    if not name:
        return Credentials()
    values = settings.SKILLQUAY_SOURCES.get(name.lower(), {})
    teams = {team.strip() for team in values.get("teams", "").split(",")}
    if not teams & {"*", source.team.slug}:
        raise SOURCE_CREDENTIALS.refusal(name=name[:80]).at("credentials")
    fields = {key: values.get(key, "") for key in ("endpoint", "region", "access_key", "secret_key", "token")}
    return Credentials(**fields)


def load_url_credentials(source: Source) -> Credentials:
    """Like ``load_credentials``, but also raises SOURCE_CREDENTIALS if there is a token and the credentials'
    endpoint has another origin than the source.
    """
    credentials = load_credentials(source)
    origin = credentials.endpoint and parse_target(credentials.endpoint).origin
    if credentials.token and origin != parse_target(source.location).origin:
        raise SOURCE_CREDENTIALS.refusal(name=str(source.options["credentials"])[:80]).at("credentials")
    return credentials
