"""Signs in with second factors, as a browser would."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client

from tests.factories.security_key import SecurityKey
from tests.pages import part, select

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
ORIGIN = "https://quay.example"
STEP = "/sign-in/second-factor/"


def code_of_app(secret: str = SECRET, periods: int = 0) -> str:
    """The authenticator app's code for the current period, or for one that is ``periods`` later."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + periods)))


def sign_in(username: str = "bob", **more: str) -> tuple[Client, Any]:
    """A new client after the password step, and the response to that step."""
    client = Client()
    answer = client.post("/sign-in/", {"username": username, "password": f"{username}-password", **more})
    return client, answer


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def options(page: Any) -> Any:
    """The options for the browser's passkey dialog in the page."""
    (script,) = select(page, "script", id="webauthn-options")
    return json.loads(script.text)


def recovery_codes(page: Any) -> list[str]:
    digits = part(page, "recovery-codes").tags("pre")[0].text
    return re.findall(r"\d{4} \d{4}", digits)


def add_app(client: Client) -> tuple[Any, str]:
    """Adds an authenticator app and returns the response and the secret."""
    page = client.get("/account/security/app/")
    secret = select(page, "pre", id="secret")[0].text.replace(" ", "")
    assert part(page, "qr-code").tags("svg")
    return client.post("/account/security/app/", {"code": code_of_app(secret)}), secret


def add_key(client: Client, key: SecurityKey, name: str = "Blue key", **form: str) -> Any:
    page = client.get("/account/security/keys/new/")
    credential = key.create(options(page), origin=ORIGIN, passkey=bool(form))
    return client.post("/account/security/keys/new/", {"name": name, "credential": credential, **form})
