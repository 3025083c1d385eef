"""Checks ID tokens: signature, issuer, audience, times and nonce."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any

import jwt

from registry.packages.problems import gettext_noop as _
from registry.single_sign_on.discovery import invalid
from registry.single_sign_on.issuers import Issuer

# Never "none", and no HMAC: with it, a public key or the client secret could sign.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
MAX_SUBJECT = 191  # characters that allauth's table holds
_LEEWAY = 60  # seconds by which clocks may differ
_REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]
# What PyJWT raises for hostile JSON besides its own errors, such as numbers that are infinite.
_ERRORS = (jwt.PyJWTError, AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


def verified_claims(
    token: str, issuer: Issuer, keys: Sequence[dict[str, Any]], *, nonce: str
) -> dict[str, Any]:
    """The claims of the ID token. Raises IDENTITY_INVALID unless one of the keys signed it for this site, in
    this sign-in.
    """
    try:
        claims = _decode(token, issuer, keys)
    except _ERRORS:
        raise invalid(issuer, _("its ID token is not valid")) from None
    audience, authorized = claims["aud"], claims.get("azp")
    if authorized != issuer.client_id and (
        authorized is not None or not _is_only(audience, issuer.client_id)
    ):
        raise invalid(issuer, _("its ID token was issued to another application"))
    if not isinstance(claims["nonce"], str) or not hmac.compare_digest(
        claims["nonce"].encode("utf-8", "replace"), nonce.encode()
    ):
        raise invalid(issuer, _("its ID token belongs to another sign-in"))
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT or not subject.isprintable():
        raise invalid(issuer, _("its ID token has no valid `sub` claim"))
    return claims


def _decode(token: str, issuer: Issuer, keys: Sequence[dict[str, Any]]) -> dict[str, Any]:
    header = jwt.get_unverified_header(token)
    key = jwt.PyJWK(_signing_key(header, keys), algorithm=str(header["alg"]))
    return jwt.decode(
        token,
        key,
        algorithms=ALGORITHMS,
        audience=issuer.client_id,
        issuer=issuer.url,
        leeway=_LEEWAY,
        options={"require": _REQUIRED, "enforce_minimum_key_length": True},
    )


def _signing_key(header: dict[str, Any], keys: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The key that the header names. If it names none, the only key. Raises ValueError unless exactly one key
    matches.
    """
    usable = [
        key
        for key in keys
        if key.get("use", "sig") == "sig"
        and key.get("alg", header["alg"]) == header["alg"]
        and key.get("kid") == header.get("kid", key.get("kid"))
    ]
    if header["alg"] not in ALGORITHMS or len(usable) != 1:
        raise ValueError("no usable key")
    return usable[0]


def _is_only(audience: object, client_id: str) -> bool:
    return audience in (client_id, [client_id])
