"""Deliveries: the channels, retries, digests, mute, and endpoints that fail."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from registry.models import Membership
from tests.checks import not_none
from tests.refusing import code
from tests.servers.mail import run_mail_server
from tests.worker.delivery.conftest import SECRET
from worker.delivery import erase, expand, inbox, log, subscriptions
from worker.delivery.sending import claims, transport
from worker.delivery.sending.send import deliver, send_due
from worker.models import Delivery, NotificationEvent, NotificationSubscription

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6")]


def bodies(receiver):
    return [json.loads(request.body) for request in receiver.requests]


def states():
    return list(Delivery.objects.order_by("pk").values_list("state", flat=True))


def make_due():
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    NotificationSubscription.objects.update(retry_at=None)


def test_webhook_is_signed_and_repeated_with_the_same_id(receiver, subscribe, end_run, bob):
    subscribe(bob, "webhook", f"{receiver.url}/hook")
    run = end_run("failed", by=bob)
    receiver.statuses = [500, 204]
    assert send_due() == 1
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.last_status, row.error) == ("queued", 1, 500, "HTTP 500")
    assert send_due() == 0  # not before its time
    make_due()
    assert send_due() == 1
    first, second = receiver.requests
    document = json.loads(second.body)
    assert (document["type"], document["data"]["run"]) == ("notification.first_failure", run.uid)
    ids = {each.headers["skillquay-delivery"] for each in (first, second)}
    assert ids == {second.headers["webhook-id"]} == {document["id"]} == {row.uid}
    signed = f"{second.headers['webhook-timestamp']}.{row.uid}.".encode() + second.body
    digest = base64.b64encode(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()).decode()
    assert second.headers["webhook-signature"] == f"v1,{digest}"
    assert states() == ["sent"]


def test_chats_of_team_and_skill_get_what_they_chose(receiver, subscribe, end_run, alice, bob, team):
    receiver.default_responder = lambda handler: handler.send(200, b'{"code": 9499, "errcode": 310000}')
    for channel in ("slack", "teams", "feishu", "dingtalk"):
        subscribe(alice, channel, f"{receiver.url}/{channel}", team=team, kinds=["run_failed"])
    subscribe(alice, "slack", f"{receiver.url}/none", team=team, kinds=["recovered"])
    end_run("failed", by=bob)
    end_run("failed", by=bob)
    send_due()
    assert sorted({request.path for request in receiver.requests}) == [
        "/dingtalk",
        "/feishu",
        "/slack",
        "/teams",
    ]
    sent = set(Delivery.objects.filter(state="sent").values_list("subscription__channel", flat=True))
    assert sent == {"slack", "teams"}
    failed = Delivery.objects.filter(attempts=1, state="queued").values_list("error", flat=True)
    assert set(failed) == {"feishu 9499", "dingtalk 310000"}
    assert Delivery.objects.count() == 8


def test_mail_reaches_a_real_server(settings, subscribe, end_run, bob):
    bob.email = "bob@example.com"
    bob.save()
    with run_mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.server_address[1]
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        subscribe(bob, "email")
        server.refuses = True
        run = end_run("failed", by=bob)
        send_due()
        assert Delivery.objects.get().error.startswith("SMTP")
        server.refuses = False
        make_due()
        send_due()
        (mail,) = server.messages
    assert mail["To"] == "bob@example.com"
    assert mail["Skillquay-Delivery"] == Delivery.objects.get().uid
    assert Delivery.objects.get().uid in mail["Message-ID"]
    assert f"/runs/{run.uid}/" in mail.get_content()
    assert states() == ["sent"]


def test_digest_is_one_message_with_the_same_members_each_time(receiver, subscribe, end_run, bob):
    subscribe(bob, "webhook", f"{receiver.url}/hook", digest="hourly")
    for _ in range(3):
        end_run("failed", by=bob)
    assert send_due() == 0
    make_due()
    receiver.statuses = [500, 200]
    assert send_due() == 1
    end_run("failed", by=bob)  # joins the next digest
    make_due()
    assert send_due() == 2
    first, second, third = bodies(receiver)
    assert first == second
    assert [each["kind"] for each in first["data"]["notifications"]] == ["first_failure", *["run_failed"] * 2]
    assert third["type"] == "notification.run_failed"
    assert states() == ["sent"] * 4


def test_dead_endpoint_delays_only_itself(receiver, subscribe, end_run, bob, monkeypatch):
    release = threading.Event()
    receiver.responders["/dead"] = lambda handler: release.wait(10) and handler.send()
    monkeypatch.setattr(transport, "TIMEOUT_S", 0.2)
    dead = subscribe(bob, "webhook", f"{receiver.url}/dead")
    for number in range(2):
        subscribe(bob, "webhook", f"{receiver.url}/{number}")
    end_run("failed", by=bob)
    claim = not_none(claims.claim_next(failing=False))
    assert claim.subscription == dead  # its lease keeps others away from it, and nothing else
    assert send_due() == 2
    assert deliver(claim)
    release.set()
    end_run("failed", by=bob)
    assert send_due() == 2
    dead.refresh_from_db()
    assert (dead.failures, states().count("queued")) == (1, 2)
    NotificationSubscription.objects.update(retry_at=None)
    assert claims.claim_next(failing=False) is None
    assert not_none(claims.claim_next(failing=True)).subscription == dead


def test_lost_lease_records_nothing_and_the_id_stays(receiver, subscribe, end_run, bob):
    subscribe(bob, "webhook", f"{receiver.url}/hook")
    end_run("failed", by=bob)
    stale = not_none(claims.claim_next(failing=False))
    NotificationSubscription.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    claim = not_none(claims.claim_next(failing=False))
    deliver(stale)  # the process was only slow
    assert states() == ["queued"]
    deliver(claim)
    assert states() == ["sent"]
    assert len({request.headers["skillquay-delivery"] for request in receiver.requests}) == 1


def test_failed_delivery_can_be_retried_and_replayed(receiver, subscribe, end_run, bob, actor_of):
    subscribe(bob, "webhook", f"{receiver.url}/hook")
    end_run("failed", by=bob)
    receiver.statuses = [503]
    Delivery.objects.update(attempts=claims.MAX_ATTEMPTS - 1)
    send_due()
    row, actor = Delivery.objects.get(), actor_of(bob)
    assert (row.state, row.attempts) == ("failed", claims.MAX_ATTEMPTS)
    receiver.statuses = [200]
    assert log.retry(row, actor).state == "queued"
    send_due()
    row.refresh_from_db()
    assert row.state == "sent"
    assert code(log.retry, row, actor) == "DELIVERY_NOT_FAILED"
    again = log.replay(row, actor)
    assert code(log.replay, again, actor) == "DELIVERY_NOT_REPLAYABLE"
    send_due()
    ids = [request.headers["skillquay-delivery"] for request in receiver.requests]
    assert ids == [row.uid, row.uid, again.uid]


def test_muted_and_left_people_get_nothing(receiver, subscribe, end_run, bob, actor_of):
    row = subscribe(bob, "webhook", f"{receiver.url}/hook", digest="daily")
    end_run("failed", by=bob)
    until = timezone.now() + timedelta(days=1)
    subscriptions.mute(row, until, actor_of(bob))
    inbox_row = subscribe(bob, "inbox", muted_until=until)
    end_run("failed", by=bob)
    assert inbox.unread_count(actor_of(bob)) == 1
    make_due()
    assert send_due() == 0
    assert list(Delivery.objects.values_list("state", "error")) == [("skipped", "MUTED")]
    subscriptions.mute(row, None, actor_of(bob))
    subscriptions.mute(inbox_row, None, actor_of(bob))
    end_run("failed", by=bob)
    assert inbox.unread_count(actor_of(bob)) == 2  # each failure, because every kind was chosen
    Membership.objects.filter(user=bob).delete()
    bob.is_active = False
    bob.save()
    make_due()
    send_due()
    assert Delivery.objects.order_by("-pk")[0].error == "NOT_VISIBLE"
    assert receiver.requests == []


def test_private_address_is_never_contacted(receiver, subscribe, end_run, bob, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    subscribe(bob, "webhook", f"{receiver.url}/hook")
    end_run("failed", by=bob)
    send_due()
    assert Delivery.objects.get().error.startswith("OUTBOUND_")
    assert receiver.requests == []


def test_invalid_settings_are_refused(subscribe, bob, settings, monkeypatch, actor_of):
    page = "https://x.example/"
    for channel, options, expected in (
        ("fax", {}, "SUBSCRIPTION_KIND_UNKNOWN"),
        ("inbox", {"kinds": ["other"]}, "SUBSCRIPTION_KIND_UNKNOWN"),
        ("inbox", {"kinds": []}, "SUBSCRIPTION_KINDS_MISSING"),
        ("slack", {"address": "ftp://x.example/"}, "SUBSCRIPTION_ADDRESS_INVALID"),
        ("slack", {}, "SUBSCRIPTION_ADDRESS_INVALID"),
        ("inbox", {"address": page}, "SUBSCRIPTION_ADDRESS_NOT_USED"),
        ("webhook", {"address": page, "secret": "short"}, "SUBSCRIPTION_SECRET_INVALID"),
        ("slack", {"address": page, "secret": "x" * 20}, "SUBSCRIPTION_SECRET_INVALID"),
        ("email", {}, "MAIL_NOT_CONFIGURED"),
    ):
        assert code(subscribe, bob, channel, **options) == expected
    settings.EMAIL_HOST = "mail.example"
    assert code(subscribe, bob, "email") == "SUBSCRIPTION_EMAIL_MISSING"
    row = subscribe(bob, "inbox")
    assert code(log.send_test, row, actor_of(bob)) == "SUBSCRIPTION_NOT_TESTABLE"
    assert code(subscribe, bob, "inbox") == "SUBSCRIPTION_INBOX_EXISTS"
    monkeypatch.setattr(subscriptions, "MAX_SUBSCRIPTIONS", 1)
    assert code(subscribe, bob, "slack", page) == "SUBSCRIPTIONS_TOO_MANY"


def test_permanent_database_error_of_one_event_does_not_block_later_ones(end_run, bob, monkeypatch, actor_of):
    end_run("failed", by=bob, expanded=False)
    poison = NotificationEvent.objects.get()
    end_run("failed", by=bob, expanded=False)
    real = expand._expand

    def broken(event):
        if event.pk == poison.pk:
            raise OperationalError("always")
        real(event)

    monkeypatch.setattr(expand, "_expand", broken)
    for _ in range(expand._MAX_ATTEMPTS):
        with pytest.raises(OperationalError):
            expand.expand_pending()
    assert expand.expand_pending() == 1
    assert inbox.unread_count(actor_of(bob)) == 1


def test_old_deliveries_and_those_of_erased_people_are_deleted(receiver, subscribe, end_run, bob):
    subscribe(bob, "webhook", f"{receiver.url}/hook")
    end_run("failed", by=bob)
    Delivery.objects.update(created_at=timezone.now() - erase.KEEP * 2)
    erase.sweep()
    assert Delivery.objects.count() == 1  # still queued
    (exported,) = erase.export_person(bob)["notification_subscriptions"]
    assert exported["address"] == f"{receiver.url}/hook"
    send_due()
    erase.sweep()
    assert not Delivery.objects.exists()
    erase.erase_person(bob)
    assert not NotificationSubscription.objects.exists()
