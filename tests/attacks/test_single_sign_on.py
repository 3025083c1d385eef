"""Attacks on sign-in with an issuer: by the issuer, by another issuer, by the network and by other people."""

from __future__ import annotations

import base64
import hmac
import json
import time
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client

from portal import env
from registry.models import AuditEntry, Membership, Team, User
from tests.pages import parts, select
from tests.servers.issuer import (
    CLIENT_ID,
    CLIENT_SECRET,
    KEY,
    OTHER_KEY,
    callback_path,
    public_jwk,
    run_issuer,
    settings_of,
    sign,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def issuer(settings, monkeypatch):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    monkeypatch.setattr("registry.single_sign_on.discovery.TIMEOUT", 1.0)
    with run_issuer() as issuer:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer)}
        yield issuer


@pytest.fixture
def configure(issuer, settings):
    """``configure(creates_users=False)``: changes the settings of the issuer."""

    def change(**more):
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer, **more)}

    return change


def start(client, name="acme", **form):
    """The address at the issuer to which the browser goes."""
    page = client.post(f"/sign-in/with/{name}/", form)
    assert page.status_code == 200, page.content
    (link,) = select(page, "a", data_action="continue")
    return link["href"]


def finish(client, answer, name="acme"):
    return client.get(callback_path(name, answer))


def sign_in(client, issuer, **form):
    return finish(client, issuer.authorize(start(client, **form)))


def signed_in_name(client):
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else None


def codes(page):
    return [part.attributes.get("data-code") for part in parts(page)]


def refused(client, answer, code):
    """Whether the next page shows this code, and nobody was signed in or created."""
    assert answer["Location"] == "/sign-in/"
    return (
        code in codes(client.get("/sign-in/"))
        and signed_in_name(client) is None
        and not SocialAccount.objects.exists()
    )


def test_person_signs_in_with_nonce_and_pkce(issuer):
    client = Client()
    query = parse_qs(urlsplit(start(client)).query)
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["nonce"][0]) > 40
    assert sign_in(client, issuer).status_code == 302
    assert (signed_in_name(client), issuer.refused) == ("mei", [])
    assert not User.objects.get(username="mei").has_usable_password()
    assert AuditEntry.objects.get(action="user.create").detail == {"issuer": issuer.url}


@pytest.mark.parametrize("verified", [False, True])
def test_email_address_of_another_account_takes_nothing_over(issuer, alice, verified):
    User.objects.filter(pk=alice.pk).update(email="alice@example.com")
    issuer.claims = {"sub": "x", "preferred_username": "alice", "email": "alice@example.com"}
    issuer.claims["email_verified"] = verified
    client = Client()
    sign_in(client, issuer)
    assert signed_in_name(client) == "alice-2"
    assert User.objects.get(username="alice-2").email == ("alice@example.com" if verified else "")
    assert not Membership.objects.filter(user__username="alice-2").exists()


def test_same_subject_at_another_issuer_is_another_person(issuer, settings):
    sign_in(Client(), issuer)
    with run_issuer() as other:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer), "evil": settings_of(other)}
        client = Client()
        finish(client, other.authorize(start(client, "evil")), "evil")
        assert signed_in_name(client) == "mei-2"


def test_issuer_under_the_name_of_a_former_one_gets_none_of_its_people(issuer, settings):
    sign_in(Client(), issuer)
    with run_issuer() as other:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(other, creates_users=False)}
        client = Client()
        sign_in(client, other)
        assert signed_in_name(client) is None


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


def test_state_works_once(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    finish(client, answer)
    client.logout()
    assert finish(client, answer)["Location"] == "/sign-in/"
    assert signed_in_name(client) is None


def test_state_works_once_after_a_failure(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    finish(client, {**answer, "code": "guessed"})
    assert refused(client, finish(client, answer), "SIGN_IN_EXPIRED")


def test_state_of_another_session_is_refused(issuer):
    """Otherwise an attacker could sign a victim in as the attacker."""
    answer = issuer.authorize(start(Client()))
    victim = Client()
    start(victim)
    assert refused(victim, finish(victim, answer), "SIGN_IN_EXPIRED")


@pytest.mark.parametrize("state", [{}, {"state": ""}, {"state": "guessed"}])
def test_callback_without_a_started_sign_in_is_refused(issuer, state):
    client = Client()
    assert refused(client, finish(client, {"code": "x", **state}), "SIGN_IN_EXPIRED")


def test_state_of_another_issuer_is_refused(issuer, settings):
    """Mix-up: the code of the honest issuer would go to the hostile one."""
    with run_issuer() as evil:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer), "evil": settings_of(evil)}
        client = Client()
        answer = issuer.authorize(start(client, "evil"))
        assert refused(client, finish(client, answer, "acme"), "SIGN_IN_EXPIRED")


def test_code_of_another_sign_in_is_refused_by_its_verifier(issuer):
    stolen = issuer.authorize(start(Client()))["code"]
    client = Client()
    state = parse_qs(urlsplit(start(client)).query)["state"][0]
    assert refused(client, finish(client, {"code": stolen, "state": state}), "IDENTITY_INVALID")
    assert issuer.refused == ["verifier"]


def test_used_code_is_refused(issuer):
    first = Client()
    used = issuer.authorize(start(first))
    finish(first, used)
    client = Client()
    state = parse_qs(urlsplit(start(client)).query)["state"][0]
    finish(client, {"code": used["code"], "state": state})
    assert (signed_in_name(client), issuer.refused) == (None, ["code"])


def test_response_that_names_another_issuer_is_refused(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    assert refused(client, finish(client, {**answer, "iss": "https://evil.example"}), "IDENTITY_INVALID")


def test_response_without_the_promised_issuer_is_refused(issuer):
    issuer.metadata["authorization_response_iss_parameter_supported"] = True
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")
    answer = issuer.authorize(start(client))
    finish(client, {**answer, "iss": issuer.url})
    assert signed_in_name(client) == "mei"


def test_error_of_the_issuer_is_not_repeated_on_the_page(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    text = "Call-0900-SCAM"
    answer = {"error": "access_denied", "error_description": text, "state": answer["state"]}
    assert text not in (page := client.get(callback_path("acme", answer), follow=True)).content.decode()
    assert "SIGN_IN_CANCELLED" in codes(page)


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\t//evil.example"],
)
def test_next_never_leaves_the_site(issuer, url):
    assert sign_in(Client(), issuer, next=url)["Location"] == "/"


def test_next_leads_to_a_page_of_the_site(issuer):
    assert sign_in(Client(), issuer, next="/runs/")["Location"] == "/runs/"


def test_query_of_the_start_changes_no_parameter(issuer):
    page = Client().post(
        "/sign-in/with/acme/?redirect_uri=https://evil.example&auth_params=redirect_uri%3Dx&scope=a"
    )
    query = parse_qs(urlsplit(select(page, "a", data_action="continue")[0]["href"]).query)
    assert query["redirect_uri"] == ["http://127.0.0.1:8000/sign-in/with/acme/callback/"]
    assert query["scope"] == ["openid profile email"]


def test_host_header_changes_no_address(issuer):
    page = Client().post("/sign-in/with/acme/", headers={"host": "evil.example"})
    assert b"evil.example" not in page.content


def test_sign_in_is_not_started_by_a_link_or_another_site(issuer):
    assert Client().get("/sign-in/with/acme/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/sign-in/with/acme/").status_code == 403


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://issuer.example/token"},
        {"jwks_uri": "http://issuer.example/jwks"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "http://issuer.example/authorize"},
        {"token_endpoint": None},
        {"userinfo_endpoint": 1},
    ],
)
def test_configuration_with_a_wrong_address_is_refused(issuer, change):
    issuer.metadata |= change
    client = Client()
    answer = client.post("/sign-in/with/acme/")
    assert refused(
        client, answer, "OUTBOUND_ADDRESS" if "javascript:alert(1)" in change.values() else "IDENTITY_INVALID"
    )


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/userinfo", "/token"])
def test_redirect_of_the_issuer_is_not_followed(issuer, path):
    client = Client()
    answer = issuer.authorize(start(client))
    target = f"{issuer.url}/private"
    issuer.server.responders[path] = lambda handler: handler.send(307, location=target)
    assert refused(client, finish(client, answer), "IDENTITY_INVALID")
    assert "/private" not in [request.path for request in issuer.server.requests]


@pytest.mark.parametrize("name", ["token_endpoint", "jwks_uri", "userinfo_endpoint"])
def test_private_address_of_the_configuration_is_not_contacted(issuer, name):
    client = Client()
    answer = issuer.authorize(start(client))
    issuer.metadata[name] = "https://169.254.169.254/latest/meta-data"
    assert refused(client, finish(client, answer), "OUTBOUND_REFUSED")


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/userinfo", "/token"])
@pytest.mark.parametrize("body", [b" " * 300_000, b"[" * 100_000, b"[]", b"\xff", b""])
def test_huge_or_broken_answer_is_refused(issuer, path, body):
    client = Client()
    answer = issuer.authorize(start(client))
    issuer.server.responders[path] = lambda handler: handler.send(200, body)
    code = "OUTBOUND_TOO_LARGE" if len(body) > 256 * 1024 else "IDENTITY_INVALID"
    assert refused(client, finish(client, answer), code)


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token"])
def test_slow_answer_is_cut_off(issuer, path, monkeypatch):
    monkeypatch.setattr("registry.single_sign_on.discovery.TIMEOUT", 0.3)
    client = Client()
    answer = issuer.authorize(start(client))

    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(20):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)

    issuer.server.responders[path] = drip
    began = time.monotonic()
    assert refused(client, finish(client, answer), "OUTBOUND_TIMEOUT")
    assert time.monotonic() - began < 1.5


def test_claims_about_another_person_are_refused(issuer):
    issuer.userinfo = {"sub": "root"}
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("alice", "alice-2"),
        ("ALICE", "ALICE-2"),
        ("ａlice", "alice-2"),
        ("erased-01h", "user"),
        ("a\nb\0c", "abc"),
        ("a b/c", "a-b-c"),
        ("x" * 10_000, "x" * 140),
        ("<script>", "script"),
        ("\u202eetihw", "etihw"),
        ("", "user"),
        (7, "user"),
        (["root"], "user"),
    ],
)
def test_hostile_user_name_becomes_a_valid_free_one(issuer, alice, wanted, given):
    issuer.claims["preferred_username"] = wanted
    client = Client()
    sign_in(client, issuer)
    assert signed_in_name(client) == given


def test_hostile_names_and_addresses_are_stored_as_plain_text(issuer):
    issuer.claims |= {"name": "a\0\u202eb" * 200, "email": "no address\n", "email_verified": True}
    sign_in(Client(), issuer)
    user = User.objects.get(username="mei")
    assert user.email == ""
    assert len(user.first_name) <= 150
    assert user.first_name.isprintable()


@pytest.mark.parametrize("groups", [{"leads": 1}, 7, None, [["leads"]], [1]])
def test_groups_of_a_wrong_type_are_refused(issuer, configure, team, groups):
    configure(groups=(("leads", "docs", "owner"),))
    issuer.claims["groups"] = groups
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def test_groups_that_were_left_out_are_refused(issuer, configure, team):
    configure(groups=(("leads", "docs", "owner"),))
    issuer.claims["_claim_names"] = {"groups": "src1"}
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def test_group_gives_no_role_in_other_teams(issuer, configure, team, charlie):
    configure(groups=(("leads", "docs", "member"),))
    issuer.claims["groups"] = ["leads", "elsewhere", "leads=elsewhere:owner", "*"]
    sign_in(Client(), issuer)
    roles = Membership.objects.filter(user__username="mei").values_list("team__slug", "role")
    assert list(roles) == [("docs", "member")]
    assert not User.objects.get(username="mei").is_superuser


def test_groups_without_a_map_change_nothing(issuer, team):
    issuer.claims["groups"] = ["docs", "administrators", ""]
    sign_in(Client(), issuer)
    assert not Membership.objects.filter(user__username="mei").exists()
    assert not User.objects.get(username="mei").is_superuser


def test_deactivated_person_is_refused(issuer):
    sign_in(Client(), issuer)
    User.objects.filter(username="mei").update(is_active=False)
    client = Client()
    sign_in(client, issuer)
    assert "IDENTITY_INACTIVE" in codes(client.get("/sign-in/"))
    assert signed_in_name(client) is None


def test_erased_person_is_refused_and_not_created_again(issuer, root):
    from registry.erasure.people import erase_person

    sign_in(Client(), issuer)
    erase_person(User.objects.get(username="mei"), root)
    assert "mei-1" not in SocialAccount.objects.get().uid
    client = Client()
    sign_in(client, issuer)
    assert "IDENTITY_INACTIVE" in codes(client.get("/sign-in/"))
    assert signed_in_name(client) is None
    assert User.objects.count() == 2


def test_subject_that_looks_like_a_sealed_one_is_another_person(issuer, root):
    from registry.erasure.people import erase_person

    sign_in(Client(), issuer)
    erase_person(User.objects.get(username="mei"), root)
    issuer.claims = {"sub": SocialAccount.objects.get().uid, "preferred_username": "eve"}
    client = Client()
    sign_in(client, issuer)
    assert "IDENTITY_INACTIVE" in codes(client.get("/sign-in/"))
    assert signed_in_name(client) is None


def test_unknown_person_is_refused_if_the_issuer_creates_no_users(issuer, configure):
    configure(creates_users=False)
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_UNKNOWN")
    assert not User.objects.exists()


def test_session_key_changes_at_sign_in(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    before = client.session.session_key
    finish(client, answer)
    assert client.session.session_key != before
    assert Client(headers={"cookie": f"sessionid={before}"}).get("/account/").status_code == 302


def link(client, issuer, password):
    page = client.post("/account/identities/", {"issuer": "acme", "password": password})
    if page.status_code != 200:
        return page
    (button,) = select(page, "a", data_action="continue")
    return finish(client, issuer.authorize(button["href"]))


def test_link_requires_the_password(issuer, alice):
    client = Client()
    client.force_login(alice)
    assert link(client, issuer, "wrong").status_code == 422
    assert not SocialAccount.objects.exists()
    link(client, issuer, "alice-password")
    assert SocialAccount.objects.get().user == alice
    mine = Client()
    sign_in(mine, issuer)
    assert signed_in_name(mine) == "alice"


def test_link_is_not_completed_in_the_session_of_another_user(issuer, alice, bob):
    client = Client()
    client.force_login(alice)
    page = client.post("/account/identities/", {"issuer": "acme", "password": "alice-password"})
    answer = issuer.authorize(select(page, "a", data_action="continue")[0]["href"])
    session = client.session
    session["_auth_user_id"], session["_auth_user_hash"] = str(bob.pk), bob.get_session_auth_hash()
    session.save()
    finish(client, answer)
    assert "SIGN_IN_EXPIRED" in codes(client.get("/account/identities/"))
    assert not SocialAccount.objects.exists()


def test_identity_of_another_account_is_not_linked(issuer, alice):
    sign_in(Client(), issuer)
    client = Client()
    client.force_login(alice)
    link(client, issuer, "alice-password")
    assert SocialAccount.objects.get().user.username == "mei"


def test_only_the_owner_unlinks_and_never_the_last_way_in(issuer, alice):
    theirs = Client()
    sign_in(theirs, issuer)
    linked = SocialAccount.objects.get()
    other = Client()
    other.force_login(alice)
    other.post("/account/identities/unlink/", {"identity": linked.pk})
    theirs.post("/account/identities/unlink/", {"identity": linked.pk})
    assert SocialAccount.objects.exists()
    user = linked.user
    user.set_password("correct horse battery")
    user.save()
    theirs.force_login(user)
    theirs.post("/account/identities/unlink/", {"identity": linked.pk})
    assert not SocialAccount.objects.exists()


def test_last_owner_and_last_administrator_stay_and_it_is_recorded(issuer, configure, team):
    configure(groups=(("leads", "docs", "owner"),), administrator_group="admins")
    issuer.claims["groups"] = ["leads", "admins"]
    sign_in(Client(), issuer)
    issuer.claims["groups"] = []
    sign_in(Client(), issuer)
    user = User.objects.get(username="mei")
    assert (user.is_superuser, Membership.objects.get(user=user).role) == (True, "owner")
    kept = AuditEntry.objects.filter(action__contains="keep").values_list("action", flat=True)
    assert set(kept) == {"member.keep", "user.keep_administrator"}


@pytest.mark.parametrize(
    "value",
    ["http://issuer.example", "ftp://issuer.example", "issuer.example", "https://", "https://a.example/?x=1"],
)
def test_setting_refuses_an_insecure_issuer(monkeypatch, value):
    monkeypatch.setenv("SKILLQUAY_OIDC_ACME_ISSUER", value)
    monkeypatch.setenv("SKILLQUAY_OIDC_ACME_CLIENT_ID", "x")
    with pytest.raises(env.ImproperlyConfigured, match="SKILLQUAY_OIDC_ACME_ISSUER"):
        env.issuers()


def test_too_many_attempts_are_refused(issuer, rate_limits):
    rate_limits(sign_in=2)
    assert [Client().post("/sign-in/with/acme/").status_code for _ in range(3)] == [200, 200, 429]


def test_team_of_the_map_that_does_not_exist_is_skipped(issuer, configure):
    configure(groups=(("leads", "nowhere", "owner"),))
    issuer.claims["groups"] = ["leads"]
    client = Client()
    sign_in(client, issuer)
    assert signed_in_name(client) == "mei"
    assert not Team.objects.exists()


def test_second_factor_is_required_after_the_issuer(issuer):
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    sign_in(Client(), issuer)
    TOTP.activate(User.objects.get(username="mei"), generate_totp_secret())
    client = Client()
    answer = sign_in(client, issuer)
    assert client.get(answer["Location"]).status_code == 200
    assert signed_in_name(client) is None
    assert client.get("/account/").status_code == 302
