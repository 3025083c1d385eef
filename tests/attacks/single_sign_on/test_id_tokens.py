"""ID tokens with wrong claims, signatures and keys."""

from __future__ import annotations

import base64
import hmac
import json
import time
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client

from tests.attacks.single_sign_on.browser import refused, sign_in, signed_in_name
from tests.servers.issuer import (
    CLIENT_ID,
    CLIENT_SECRET,
    KEY,
    OTHER_KEY,
    public_jwk,
    sign,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


TOKEN_ATTACKS = {
    "wrong issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "wrong audience": {"aud": "another-app"},
    "several audiences without azp": {"aud": [CLIENT_ID, "another-app"]},
    "azp of another application": {"azp": "another-app"},
    "azp of another application in a list": {"aud": [CLIENT_ID, "x"], "azp": "x"},
    "expired": {"exp": int(time.time()) - 3600},
    "no expiry": {"exp": None},
    "infinite expiry": {"exp": float("inf")},
    "expiry of a wrong type": {"exp": {"a": 1}},
    "issued in the future": {"iat": int(time.time()) + 3600},
    "not valid yet": {"nbf": int(time.time()) + 3600},
    "wrong nonce": {"nonce": "guessed"},
    "no nonce": {"nonce": None},
    "nonce of a wrong type": {"nonce": ["x"]},
    "no subject": {"sub": None},
    "empty subject": {"sub": ""},
    "subject of a wrong type": {"sub": 1},
    "subject that is too long": {"sub": "x" * 192},
    "subject with a line break": {"sub": "mei-1\n"},
}


@pytest.mark.parametrize("claims", TOKEN_ATTACKS.values(), ids=TOKEN_ATTACKS)
def test_id_token_with_a_wrong_claim_is_refused(issuer, claims):
    def edit(token):
        token.update(claims)
        for name in [name for name, value in claims.items() if value is None]:
            del token[name]

    issuer.metadata["userinfo_endpoint"] = ""
    issuer.edit_token = edit
    issuer.sign = sign_raw
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def sign_raw(claims, header=None, signer=None):
    """Signs what PyJWT would refuse to sign."""
    head = {"alg": "RS256", "kid": "1", **(header or {})}
    text = b".".join(encoded(json.dumps(each).encode()) for each in (head, claims))
    return (text + b"." + encoded((signer or rs256)(text))).decode()


def rs256(text, key=KEY):
    return key.sign(text, PKCS1v15(), SHA256())


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def hs256(secret):
    return lambda text: hmac.new(secret, text, sha256).digest()


PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


SIGNATURE_ATTACKS = {
    "none": lambda claims: sign_raw(claims, {"alg": "none"}, lambda text: b""),
    "None": lambda claims: sign_raw(claims, {"alg": "None"}, lambda text: b""),
    "no algorithm": lambda claims: sign_raw(claims, {"alg": None}),
    "HS256 with the public key": lambda claims: sign_raw(claims, {"alg": "HS256"}, hs256(PEM)),
    "HS256 with the client secret": lambda claims: sign_raw(
        claims, {"alg": "HS256"}, hs256(CLIENT_SECRET.encode())
    ),
    "another key": lambda claims: sign(claims, OTHER_KEY),
    "another key by name": lambda claims: sign(claims, OTHER_KEY, kid="2"),
    "key inside the token": lambda claims: sign(claims, OTHER_KEY, jwk=public_jwk(OTHER_KEY)),
    "another algorithm of the same key": lambda claims: sign_raw(claims, {"alg": "PS256"}),
    "changed claims": lambda claims: swap_claims(sign(claims), {**claims, "sub": "root"}),
    "no signature": lambda claims: sign(claims).rpartition(".")[0] + ".",
    "critical extension": lambda claims: sign_raw(claims, {"crit": ["exp"]}),
    "encrypted": lambda claims: "a.b.c.d.e",
    "deep header": lambda claims: f"{encoded(b'[' * 100_000).decode()}.e30.x",
    "not a token": lambda claims: "x",
}


def swap_claims(token, claims):
    head, _body, signature = token.split(".")
    return f"{head}.{encoded(json.dumps(claims).encode()).decode()}.{signature}"


@pytest.mark.parametrize("forge", SIGNATURE_ATTACKS.values(), ids=SIGNATURE_ATTACKS)
def test_id_token_without_a_valid_signature_is_refused(issuer, forge):
    issuer.sign = forge
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


SMALL_KEY = rsa.generate_private_key(public_exponent=65537, key_size=1024)


KEY_ATTACKS = {
    "symmetric key": [{"kty": "oct", "kid": "1", "k": "c2VjcmV0"}],
    "key for encryption": [public_jwk(KEY, use="enc")],
    "key of another algorithm": [public_jwk(KEY, alg="RS512")],
    "two keys of one name": [public_jwk(OTHER_KEY), public_jwk(KEY)],
    "damaged key": [{"kty": "RSA", "kid": "1", "n": 1, "e": "AQAB"}],
    "no key": [],
    "key of a wrong type": ["1"],
}


@pytest.mark.parametrize("keys", KEY_ATTACKS.values(), ids=KEY_ATTACKS)
def test_keys_that_can_not_sign_are_not_used(issuer, keys):
    issuer.keys = keys
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def test_key_that_is_too_short_is_refused(issuer):
    issuer.keys = [public_jwk(SMALL_KEY)]
    issuer.sign = lambda claims: sign_raw(claims, signer=lambda text: rs256(text, SMALL_KEY))
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def test_id_token_of_an_earlier_sign_in_is_refused(issuer):
    tokens = []
    issuer.sign = lambda claims: tokens.append(sign(claims)) or tokens[0]
    sign_in(Client(), issuer)
    client = Client()
    sign_in(client, issuer)
    assert (len(tokens), signed_in_name(client)) == (2, None)
