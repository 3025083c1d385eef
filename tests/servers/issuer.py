"""An OIDC issuer on loopback. It follows the rules until a test changes its fields."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.servers.http import Handler, Server, run_server

CLIENT_ID, CLIENT_SECRET = "skillquay", "issuer-secret"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
Claims = dict[str, Any]


class Issuer:
    """``claims`` are those of the next person; ``edit_token`` changes the ID token's claims, and ``sign``
    replaces the signature.
    """

    def __init__(self, server: Server) -> None:
        self.server, self.url = server, server.url
        self.metadata: Claims = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        self.claims: Claims = {"sub": "mei-1", "preferred_username": "mei"}
        self.userinfo: Claims = {}
        self.edit_token: Callable[[Claims], object] = lambda claims: None
        self.sign: Callable[[Claims], str] = sign
        self.keys: list[Claims] = [public_jwk(KEY)]
        self.codes: dict[str, dict[str, str]] = {}
        self.refused: list[str] = []
        for path, responder in {
            "/.well-known/openid-configuration": lambda handler: reply(handler, self.metadata),
            "/jwks": lambda handler: reply(handler, {"keys": self.keys}),
            "/token": self.redeem,
            "/userinfo": lambda handler: reply(handler, {"sub": self.claims["sub"], **self.userinfo}),
        }.items():
            server.responders[path] = responder

    def authorize(self, url: str) -> dict[str, str]:
        """What the browser brings back to the site: the issuer signs in the person of ``claims``."""
        query = dict(parse_qsl(urlsplit(url).query))
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**query, "claims": json.dumps(self.claims)}
        return {"code": code, "state": query["state"]}

    def redeem(self, handler: Handler) -> None:
        form = {name: values[0] for name, values in parse_qs(handler.recorded.body.decode()).items()}
        started = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        reason = (
            "code"
            if started is None
            else "verifier"
            if (started.get("code_challenge"), started.get("code_challenge_method")) != (challenge, "S256")
            else "client"
            if handler.recorded.headers.get("authorization") != f"Basic {basic}"
            else "redirect_uri"
            if started["redirect_uri"] != form.get("redirect_uri")
            else ""
        )
        if reason:
            self.refused.append(reason)
            reply(handler, {"error": "invalid_grant"}, status=400)
            return
        assert started
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": started.get("nonce"),
        }
        claims |= json.loads(started["claims"])
        self.edit_token(claims)
        reply(handler, {"access_token": "access", "token_type": "Bearer", "id_token": self.sign(claims)})


@contextmanager
def run_issuer() -> Iterator[Issuer]:
    with run_server() as server:
        yield Issuer(server)


def settings_of(issuer: Issuer | str, **more: Any) -> Claims:
    """The issuer's entry in SKILLQUAY_OIDC."""
    return {
        "url": issuer if isinstance(issuer, str) else issuer.url,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "label": "Acme",
        "groups_claim": "groups",
        "groups": (),
        "administrator_group": "",
        "creates_users": True,
        **more,
    }


def sign(claims: Claims, key: Any = KEY, algorithm: str = "RS256", **header: Any) -> str:
    return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": "1", **header})


def public_jwk(key: Any, **more: Any) -> Claims:
    return {
        **jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True),
        "kid": "1",
        "use": "sig",
        **more,
    }


def reply(handler: Handler, document: Any, status: int = 200) -> None:
    handler.send(status, json.dumps(document).encode(), content_type="application/json")


def callback_path(name: str, answer: dict[str, str]) -> str:
    return f"/sign-in/with/{name}/callback/?{urlencode(answer)}"
