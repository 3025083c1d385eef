"""A security key in memory. It returns the answers that a browser with a real key would send."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


class SecurityKey:
    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(32)
        self.user_handle = b""

    def create(self, options: dict[str, Any], *, origin: str, passkey: bool = False) -> str:
        """The answer to the options for a new key, as JSON."""
        public = options["publicKey"]
        self.user_handle = websafe_decode(public["user"]["id"])
        cose = cbor.encode(dict(ES256.from_cryptography_key(self.private.public_key())))
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cose
        data = _data(public["rp"]["id"], PRESENT | VERIFIED | ATTESTED) + attested
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        answer = {
            "clientDataJSON": _client("webauthn.create", public["challenge"], origin),
            "attestationObject": websafe_encode(attestation),
        }
        return self._credential(answer, {"credProps": {"rk": passkey}})

    def get(self, options: dict[str, Any], *, origin: str, flags: int = PRESENT | VERIFIED) -> str:
        """The answer to the options for a sign-in, as JSON."""
        public = options["publicKey"]
        data = _data(public["rpId"], flags)
        client = _client("webauthn.get", public["challenge"], origin)
        signed = data + hashlib.sha256(websafe_decode(client)).digest()
        answer = {
            "clientDataJSON": client,
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(self.private.sign(signed, ec.ECDSA(hashes.SHA256()))),
            "userHandle": websafe_encode(self.user_handle),
        }
        return self._credential(answer, {})

    def _credential(self, answer: dict[str, str], results: dict[str, Any]) -> str:
        key = websafe_encode(self.id)
        return json.dumps(
            {
                "id": key,
                "rawId": key,
                "type": "public-key",
                "response": answer,
                "clientExtensionResults": results,
            }
        )


def _data(host: str, flags: int) -> bytes:
    return hashlib.sha256(host.encode()).digest() + bytes([flags]) + bytes(4)


def _client(kind: str, challenge: str, origin: str) -> str:
    return websafe_encode(json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode())
