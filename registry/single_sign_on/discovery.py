"""Requests to an issuer: metadata, keys, tokens and claims. Nothing is cached, so that rotated keys work."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from registry.core.addresses import absolute_url
from registry.http_client.addresses import parse_target
from registry.http_client.fetch import fetch
from registry.packages.problems import LazyMessage, Refusal
from registry.packages.problems import gettext_noop as _
from registry.single_sign_on.errors import IDENTITY_INVALID
from registry.single_sign_on.issuers import Issuer

MAX_BYTES = 256 * 1024
TIMEOUT = 10.0  # seconds per request
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_log = logging.getLogger(__name__)
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Metadata:
    """The issuer's endpoints. ``userinfo`` is "" if the issuer has none."""

    authorization: str
    token: str
    keys: str
    userinfo: str
    posts_secret: bool  # the secret goes into the body instead of the Authorization header
    sends_iss: bool  # each response to the browser names the issuer (RFC 9207)


def invalid(issuer: Issuer, reason: str) -> Refusal:
    """Logs the reason and returns an IDENTITY_INVALID refusal with it."""
    _log.warning("Refused a sign-in from the issuer %s: %s", issuer.name, reason)
    return IDENTITY_INVALID.refusal(issuer=issuer.label, reason=LazyMessage(reason))


def _is_secure(url: str) -> bool:
    """Whether the URL is https, or http on this machine. Raises OUTBOUND_ADDRESS for other forms."""
    target = parse_target(url)
    return target.scheme == "https" or target.host in _LOOPBACK


def discover(issuer: Issuer) -> Metadata:
    """Reads the issuer's metadata. Raises IDENTITY_INVALID if it names another issuer or an insecure
    endpoint, and OUTBOUND_… if it can't be read.
    """
    found = _get(issuer, f"{issuer.url.rstrip('/')}/.well-known/openid-configuration")
    if found.get("issuer") != issuer.url:
        raise invalid(
            issuer, _("the issuer in its OpenID configuration differs from the one set on this site")
        )
    methods = found.get("token_endpoint_auth_methods_supported")
    return Metadata(
        authorization=_endpoint(issuer, found, "authorization_endpoint"),
        token=_endpoint(issuer, found, "token_endpoint"),
        keys=_endpoint(issuer, found, "jwks_uri"),
        userinfo=_endpoint(issuer, found, "userinfo_endpoint") if found.get("userinfo_endpoint") else "",
        posts_secret=isinstance(methods, list) and "client_secret_basic" not in methods,
        sends_iss=found.get("authorization_response_iss_parameter_supported") is True,
    )


def _endpoint(issuer: Issuer, found: Mapping[str, Any], name: str) -> str:
    url = found.get(name)
    if not isinstance(url, str) or not _is_secure(url):
        raise invalid(issuer, _("its configuration has an invalid address"))
    return url


def read_keys(issuer: Issuer, metadata: Metadata) -> list[dict[str, Any]]:
    keys = _get(issuer, metadata.keys).get("keys")
    if not isinstance(keys, list):
        raise invalid(issuer, _("its signing keys are invalid"))
    return [key for key in keys if isinstance(key, dict)]


def redeem_code(issuer: Issuer, metadata: Metadata, code: str, verifier: str) -> tuple[str, str]:
    """Exchanges the code for an ID token and an access token. Raises IDENTITY_INVALID if the issuer refuses
    the code or sends no valid tokens, and OUTBOUND_… if it can't be reached.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": absolute_url(issuer.redirect_path),
        "code_verifier": verifier,
    }
    headers = {"content-type": _FORM, "accept": "application/json"}
    if issuer.client_secret and not metadata.posts_secret:
        pair = f"{quote(issuer.client_id, safe='')}:{quote(issuer.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = issuer.client_id
        if issuer.client_secret:
            form["client_secret"] = issuer.client_secret
    response = fetch(
        metadata.token,
        method="POST",
        headers=headers,
        body=urlencode(form).encode(),
        limit=MAX_BYTES,
        timeout=TIMEOUT,
        follow=False,
    )
    if response.status != 200:
        raise invalid(issuer, _("it refused the authorization code"))
    tokens = _document(issuer, response.body)
    pair_of_tokens = tokens.get("id_token"), tokens.get("access_token")
    if not all(
        isinstance(token, str) and token.isascii() and token.isprintable() for token in pair_of_tokens
    ):
        raise invalid(issuer, _("it sent no ID token"))
    return str(pair_of_tokens[0]), str(pair_of_tokens[1])


def read_userinfo(issuer: Issuer, metadata: Metadata, access_token: str) -> dict[str, Any]:
    """Further claims about the person; {} if the issuer has no endpoint for them."""
    if not metadata.userinfo:
        return {}
    return _get(issuer, metadata.userinfo, {"authorization": f"Bearer {access_token}"})


def _get(issuer: Issuer, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    response = fetch(
        url,
        headers={"accept": "application/json", **(headers or {})},
        limit=MAX_BYTES,
        timeout=TIMEOUT,
        follow=False,
    )
    if response.status != 200:
        raise invalid(issuer, _("the identity provider did not send its configuration, keys or claims"))
    return _document(issuer, response.body)


def _document(issuer: Issuer, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise invalid(issuer, _("its response is not a JSON object"))
    return found
