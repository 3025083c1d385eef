"""The OIDC issuers that this site trusts, from the settings SKILLQUAY_OIDC_<NAME>_…"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from registry.core.errors import NOT_FOUND


@dataclass(frozen=True)
class Issuer:
    """An identity provider. ``groups`` are triples of group, team slug and role."""

    name: str  # in URLs of this site
    url: str  # the issuer identifier, compared exactly with ``iss``
    client_id: str
    client_secret: str
    label: str
    groups_claim: str
    groups: tuple[tuple[str, str, str], ...]
    administrator_group: str
    creates_users: bool

    @property
    def redirect_path(self) -> str:
        return f"/sign-in/with/{self.name}/callback/"


def issuers() -> list[Issuer]:
    """The issuers in the order of their names."""
    return [Issuer(name=name, **given) for name, given in sorted(settings.SKILLQUAY_OIDC.items())]


def find_issuer(name: str) -> Issuer:
    """The issuer with this name. Raises NOT_FOUND if there is none."""
    for issuer in issuers():
        if issuer.name == name:
            return issuer
    raise NOT_FOUND.refusal(what="page", name=name[:40])
