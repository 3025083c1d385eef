"""The authorization code flow with PKCE and a nonce. Builds the issuer's sign-in URL, and identifies the
person from the issuer's response.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from registry.core.addresses import absolute_url
from registry.packages.problems import gettext_noop as _
from registry.single_sign_on import discovery
from registry.single_sign_on.discovery import invalid
from registry.single_sign_on.errors import SIGN_IN_CANCELLED
from registry.single_sign_on.id_tokens import verified_claims
from registry.single_sign_on.issuers import Issuer

_SCOPES = "openid profile email"


@dataclass(frozen=True)
class SignInSecrets:
    """The secrets of one sign-in, which stay in the session."""

    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> SignInSecrets:
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True)
class Identity:
    """A person at an issuer, identified by issuer and subject only. ``groups`` is None if the site does not
    read them.
    """

    issuer: Issuer
    subject: str
    username: str
    first_name: str
    last_name: str
    email: str  # "" unless the issuer verified it
    groups: frozenset[str] | None


def authorization_url(issuer: Issuer, attempt: SignInSecrets, state: str) -> str:
    """The issuer's URL to which the browser is redirected. Requests the issuer's metadata and raises the
    errors of ``discover``.
    """
    metadata = discovery.discover(issuer)
    query = {
        "response_type": "code",
        "client_id": issuer.client_id,
        "redirect_uri": absolute_url(issuer.redirect_path),
        "scope": _SCOPES,
        "state": state,
        "nonce": attempt.nonce,
        "code_challenge": attempt.challenge,
        "code_challenge_method": "S256",
    }
    separator = "&" if "?" in metadata.authorization else "?"
    return f"{metadata.authorization}{separator}{urlencode(query)}"


def identify(issuer: Issuer, attempt: SignInSecrets, answer: Mapping[str, str]) -> Identity:
    """The person that the issuer signed in. ``answer`` is the query of the issuer's redirect to this site.

    Raises SIGN_IN_CANCELLED if ``answer`` has an error or no code, IDENTITY_INVALID if a check fails, and
    OUTBOUND_… if the issuer can't be reached.
    """
    metadata = discovery.discover(issuer)
    if answer.get("iss", None if metadata.sends_iss else issuer.url) != issuer.url:
        raise invalid(issuer, _("the response comes from another identity provider"))
    if "error" in answer or not answer.get("code"):
        raise SIGN_IN_CANCELLED.refusal(issuer=issuer.label)
    id_token, access_token = discovery.redeem_code(issuer, metadata, answer["code"], attempt.verifier)
    keys = discovery.read_keys(issuer, metadata)
    claims = verified_claims(id_token, issuer, keys, nonce=attempt.nonce)
    more = discovery.read_userinfo(issuer, metadata, access_token)
    if more and more.get("sub") != claims["sub"]:
        raise invalid(issuer, _("its ID token and its user information belong to different users"))
    return _identity(issuer, {**more, **claims})


def _identity(issuer: Issuer, claims: Mapping[str, Any]) -> Identity:
    first, last = _text(claims, "given_name"), _text(claims, "family_name")
    return Identity(
        issuer=issuer,
        subject=claims["sub"],
        username=_text(claims, "preferred_username"),
        first_name=first or ("" if last else _text(claims, "name")),
        last_name=last,
        email=_text(claims, "email") if claims.get("email_verified") is True else "",
        groups=_groups(issuer, claims),
    )


def _text(claims: Mapping[str, Any], name: str) -> str:
    """The claim as one line of text with at most 150 characters. "" if the claim is not a text."""
    value = claims.get(name)
    return "".join(filter(str.isprintable, value[:150])).strip() if isinstance(value, str) else ""


def _groups(issuer: Issuer, claims: Mapping[str, Any]) -> frozenset[str] | None:
    """The person's groups; empty without the claim. Raises IDENTITY_INVALID if the claim is not a list of
    texts, or if the issuer omitted it because the list is too long.
    """
    if not issuer.groups and not issuer.administrator_group:
        return None
    value = claims.get(issuer.groups_claim, [])
    if isinstance(value, str):
        value = [value]
    names = claims.get("_claim_names")
    if isinstance(names, dict) and issuer.groups_claim in names:
        raise invalid(issuer, _("the identity provider left out the groups, because the user is in too many"))
    if not isinstance(value, list) or not all(isinstance(group, str) for group in value):
        raise invalid(issuer, _("the groups that the identity provider sent are not a list of strings"))
    return frozenset(value)
