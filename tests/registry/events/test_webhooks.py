"""Webhooks: what a delivery must be signed with, when, and how often it counts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from registry.events import webhooks
from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Token, WebhookEndpoint
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def made(team, alice):
    return webhooks.create(team, name="Tracker", prefix="tracker.", actor=Actor(user=alice))


def code_of(act):
    with pytest.raises(Refusal) as refused:
        act()
    return refused.value.code


def signature(secret, body=b"{}", *, id="evt_1", timestamp=None):
    signed = f"{timestamp or int(time.time())}.{id}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest()).decode()


def check(endpoint, header, body=b"{}", *, id="evt_1", timestamp=None):
    headers = {"webhook-id": id, "webhook-timestamp": str(timestamp or int(time.time()))}
    envelope = webhooks.read_envelope({**headers, "webhook-signature": header})
    webhooks.check_signature(endpoint, envelope, body)


def test_delivery_with_wrong_signature_is_refused(made):
    endpoint, secret = made
    good = signature(secret)
    check(endpoint, good)
    check(endpoint, f"v1,AAAA v2,whatever {good}")
    for other in (
        lambda: check(endpoint, good, b"{} "),
        lambda: check(endpoint, good, id="evt_2"),
        lambda: check(endpoint, good, timestamp=int(time.time()) + 60),
        lambda: check(endpoint, signature(secret + "x")),
        lambda: check(endpoint, "v1,AAAA"),
    ):
        assert code_of(other) == "WEBHOOK_SIGNATURE_INVALID"


def test_signed_text_is_timestamp_id_and_body(made):
    endpoint, secret = made
    now = str(int(time.time()))
    standard = hmac.new(secret.encode(), f"evt_1.{now}.{{}}".encode(), hashlib.sha256).digest()
    header = "v1," + base64.b64encode(standard).decode()
    assert code_of(lambda: check(endpoint, header, timestamp=now)) == "WEBHOOK_SIGNATURE_INVALID"


@pytest.mark.parametrize("away", [-301, -86400, 302, 86400])
def test_more_than_five_minutes_in_the_past_or_future_is_refused(made, away):
    endpoint, secret = made
    at = int(time.time()) + away
    assert code_of(lambda: check(endpoint, signature(secret, timestamp=at), timestamp=at)) == "WEBHOOK_STALE"
    near = int(time.time()) + (280 if away > 0 else -280)
    check(endpoint, signature(secret, timestamp=near), timestamp=near)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"webhook-id": "a.b"},
        {"webhook-id": "é"},
        {"webhook-id": "x" * 129},
        {"webhook-timestamp": ""},
        {"webhook-timestamp": "12.5"},
        {"webhook-timestamp": "-5"},
        {"webhook-timestamp": "١٢٣"},
        {"webhook-timestamp": "9" * 13},
        {"webhook-signature": "v1"},
        {"webhook-signature": "v1,***"},
        {"webhook-signature": "v2,AAAA"},
        {"webhook-signature": "v1,é"},
    ],
)
def test_headers_that_cannot_be_read_are_refused(headers):
    good = {"webhook-id": "a", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
    given = {**good, **headers} if headers else {}
    assert code_of(lambda: webhooks.read_envelope(given)) == "WEBHOOK_HEADERS_INVALID"


def test_during_rotation_two_secrets_are_valid_until_the_old_one_ends(made, alice):
    endpoint, old = made
    new = webhooks.rotate(endpoint, Actor(user=alice))
    check(endpoint, signature(old))
    check(endpoint, signature(new))
    WebhookEndpoint.objects.update(previous_until=timezone.now() - timedelta(seconds=1))
    endpoint.refresh_from_db()
    check(endpoint, signature(new))
    assert code_of(lambda: check(endpoint, signature(old))) == "WEBHOOK_SIGNATURE_INVALID"


def test_a_secret_that_is_known_to_others_ends_at_once(made, alice):
    endpoint, old = made
    webhooks.rotate(endpoint, Actor(user=alice), overlap_h=0)
    assert code_of(lambda: check(endpoint, signature(old))) == "WEBHOOK_SIGNATURE_INVALID"
    for hours in (-1, 169):
        rotate = partial(webhooks.rotate, endpoint, Actor(user=alice), overlap_h=hours)
        assert code_of(rotate) == "WEBHOOK_OVERLAP_INVALID"


@pytest.mark.row("P2")
def test_a_secret_is_not_in_the_database_and_needs_the_sites_key(made, settings):
    endpoint, secret = made
    row = WebhookEndpoint.objects.values().get()
    assert secret not in str(row)
    assert secret.removeprefix("whsec_") not in str(row) + str(AuditEntry.objects.values())
    settings.SECRET_KEY = "another"
    assert code_of(lambda: check(endpoint, signature(secret))) == "SECRET_UNREADABLE"


def test_after_a_change_of_the_sites_key_a_rotation_mends_it(made, alice, settings):
    endpoint, _ = made
    settings.SECRET_KEY = "another"
    new = webhooks.rotate(endpoint, Actor(user=alice))
    check(endpoint, signature(new))
    assert code_of(lambda: check(endpoint, signature("whsec_x"))) == "WEBHOOK_SIGNATURE_INVALID"


@pytest.mark.row("P2")
def test_only_maintainers_in_person_make_rotate_and_delete(made, team, alice, bob, charlie):
    endpoint, _ = made
    token = Token(owner=alice, team=team, scopes=["read", "run", "publish"])
    for actor, code in (
        (Actor(user=alice, token=token), "FORBIDDEN"),
        (Actor(user=bob), "FORBIDDEN"),
        (Actor(user=charlie), "NOT_FOUND"),
    ):
        for act in (
            lambda actor=actor: webhooks.create(team, name="Mine", actor=actor),
            lambda actor=actor: webhooks.rotate(endpoint, actor),
            lambda actor=actor: webhooks.remove(endpoint, actor),
        ):
            assert code_of(act) == code
    assert code_of(lambda: webhooks.find_endpoint(endpoint.uid, Actor(user=charlie))) == "NOT_FOUND"
    webhooks.remove(endpoint, Actor(user=alice))
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["webhook.create", "webhook.delete"]


@pytest.mark.row("P2")
def test_an_endpoint_acts_as_its_maker_for_one_team_and_may_only_run(made, team, alice):
    endpoint, _ = made
    actor = webhooks.endpoint_actor(endpoint)
    assert (actor.user, set(actor.team_ids), actor.scopes) == (alice, {team.pk}, frozenset({"run"}))
    assert not actor.is_administrator


@pytest.mark.row("P2")
@pytest.mark.parametrize("lost", ["role", "membership", "account"])
def test_an_endpoint_has_no_more_than_its_maker_has_now(made, alice, lost):
    endpoint, _ = made
    if lost == "role":
        Membership.objects.filter(user=alice).update(role=Role.VIEWER)
    elif lost == "membership":
        Membership.objects.filter(user=alice).delete()
    else:
        type(alice).objects.filter(pk=alice.pk).update(is_active=False)
    endpoint = webhooks.delivery_endpoint(endpoint.uid)
    assert code_of(lambda: webhooks.endpoint_actor(endpoint)) == "WEBHOOK_OWNER_MISSING"


def test_an_administrator_who_is_not_on_the_team_makes_none(team, administrator):
    make = lambda: webhooks.create(team, name="Mine", actor=Actor(user=administrator))  # noqa: E731
    assert code_of(make) == "WEBHOOK_OWNER_MISSING"
    assert not WebhookEndpoint.objects.exists()
