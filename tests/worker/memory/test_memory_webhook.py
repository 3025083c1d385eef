"""Another memory system gets each change, signed, from the delivery loop, again until it confirms it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from portal import env
from tests.checks import not_none
from tests.servers.http import run_server
from tests.worker.memory.remembering import ran, write
from worker.delivery.sending import claims, transport
from worker.delivery.sending.send import send_due
from worker.memory import find
from worker.memory.store import store
from worker.models import Delivery, Memory, NotificationSubscription
from worker.retention import erase

pytestmark = pytest.mark.row("C10")


@pytest.fixture
def elsewhere(settings):
    """A memory system on loopback; ``statuses`` are those of its responses, the last one is repeated."""
    with run_server() as server:
        settings.SKILLQUAY_MEMORY_URL = f"http://127.0.0.1:{server.port}/memory"
        settings.SKILLQUAY_MEMORY_KEY = "memory-key"
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{server.port}"]
        server.responders["/memory"] = server.send_next_status
        yield server


def received(server):
    return [json.loads(request.body) for request in server.requests]


def due_again():
    queued().update(due_at=timezone.now() - timedelta(seconds=1))
    NotificationSubscription.objects.update(retry_at=None)


def queued():
    return Delivery.objects.filter(kind="memory", state="queued")


def test_what_is_kept_is_told_with_a_signature(elsewhere, hello, alice):
    ran(hello, alice, write("用户喜欢喝拿铁"))
    assert elsewhere.requests == []  # no run waits for it
    send_due()
    (request,) = elsewhere.requests
    document = json.loads(request.body)
    assert (document["type"], document["data"]["content"]) == ("memory.kept", "用户喜欢喝拿铁")
    signed = (
        f"{request.headers['webhook-timestamp']}.{request.headers['webhook-id']}.".encode() + request.body
    )
    expected = base64.b64encode(hmac.new(b"memory-key", signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    assert request.headers["webhook-id"] == document["id"]
    assert request.headers["skillquay-delivery"] == document["id"]
    assert queued().count() == send_due() == 0


def test_a_deletion_and_an_erasure_are_told_by_id_alone(elsewhere, hello, alice, actor_of):
    run = ran(hello, alice, write("a"), write("b"))
    send_due()
    find.delete(Memory.objects.get(content="a"), actor_of(alice))
    erase.erase_run(run, actor=actor_of(alice))
    send_due()
    assert [(each["type"], list(each["data"])) for each in received(elsewhere)[2:]] == [
        ("memory.deleted", ["id"])
    ] * 3


def test_only_restored_memories_are_sent(elsewhere, hello, alice, actor_of):
    ran(hello, alice, write("a"), write("b"))
    find.delete(Memory.objects.get(content="a"), actor_of(alice))
    find.restore(Memory.objects.get(content="b").uid, actor_of(alice))
    send_due()
    sent = len(received(elsewhere))
    assert store().restore(Memory.objects.all()) == 1
    send_due()
    assert [each["data"]["content"] for each in received(elsewhere)[sent:]] == ["a"]
    assert sent == 3


def test_what_was_erased_before_it_was_told_is_never_received(elsewhere, hello, alice, actor_of):
    run = ran(hello, alice, write("a secret"))
    erase.erase_run(run, actor=actor_of(alice))
    send_due()
    assert b"a secret" not in b"".join(request.body for request in elsewhere.requests)


@pytest.mark.parametrize("status", [500, 503, 404, 301])
def test_what_is_not_heard_is_told_again_until_it_is(elsewhere, hello, alice, status):
    elsewhere.statuses = [status, status, 200]
    ran(hello, alice, write("a"), write("b"))
    for left in (2, 2, 0):
        due_again()
        send_due()
        assert queued().count() == left
    ids = [request.headers["webhook-id"] for request in elsewhere.requests]
    assert len(set(ids)) == 2  # the same change has the same id each time


def test_a_system_that_is_down_loses_nothing_and_is_asked_less_and_less(hello, alice, settings):
    with run_server() as gone:
        address = f"127.0.0.1:{gone.port}"
    settings.SKILLQUAY_MEMORY_URL, settings.SKILLQUAY_MEMORY_KEY = f"http://{address}/", "key"
    settings.SKILLQUAY_OUTBOUND_ALLOW = [address]
    ran(hello, alice, write())
    pauses = []
    for _ in range(3):
        due_again()
        send_due()
        change = queued().get()
        pauses.append((change.due_at - timezone.now()).total_seconds())
    assert change.attempts == 3
    assert change.error.startswith("OUTBOUND_")
    assert pauses == sorted(pauses)
    assert pauses[0] > 5


def test_a_slow_system_is_abandoned_after_the_time_limit(elsewhere, hello, alice, monkeypatch):
    import threading

    release = threading.Event()
    elsewhere.responders["/memory"] = lambda handler: release.wait(10) and handler.send()
    monkeypatch.setattr(transport, "TIMEOUT_S", 0.3)
    ran(hello, alice, write("a"), write("b"))
    assert send_due() == 1
    release.set()
    assert set(queued().values_list("error", flat=True)) == {"", "OUTBOUND_TIMEOUT"}
    assert queued().count() == 2


def test_a_private_address_that_is_not_listed_is_not_asked(elsewhere, hello, alice, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    ran(hello, alice, write())
    send_due()
    assert elsewhere.requests == []
    assert queued().get().error.startswith("OUTBOUND_")


def test_two_loops_send_it_once(elsewhere, hello, alice):
    ran(hello, alice, write())
    first = not_none(claims.claim_next(failing=False))
    assert claims.claim_next(failing=False) is None
    assert first.deliveries[0].payload == {"memory": Memory.objects.get().uid, "deleted": False}


def test_without_an_address_nothing_is_noted(hello, alice):
    ran(hello, alice, write())
    assert queued().count() == send_due() == 0


def test_an_address_without_a_key_ends_the_start(monkeypatch):
    monkeypatch.setenv("SKILLQUAY_MEMORY_URL", "https://memory.example/")
    with pytest.raises(ImproperlyConfigured, match="SKILLQUAY_MEMORY_KEY"):
        env.secret("SKILLQUAY_MEMORY_KEY", needed_by="SKILLQUAY_MEMORY_URL")
