"""Events of runs, and a server that receives their deliveries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.servers.http import run_server
from worker.delivery import expand, subscriptions
from worker.delivery.subscriptions import SubscriptionOptions
from worker.models import NotificationKind, Run, RunStatus
from worker.queue import retries, states
from worker.queue.claims import claim_next
from worker.queue.states import Verdict

SECRET = "a-secret-of-the-tests"


@pytest.fixture
def end_run(hello, queue_run):
    """``end_run("failed")``: a run of Bob or ``by`` that ends with this status, and its events' delivery."""

    def make(status, *, by, expanded=True, **more):
        run = queue_run(hello, by=by, no_cache=True, **more)
        claim = claim_next("host:1", run_id=run.pk)
        code = "" if status == "succeeded" else "SCRIPT_FAILED"
        assert claim
        assert states.finish(claim, Verdict(RunStatus(status), code), write=lambda: None)
        if expanded:
            expand.expand_pending()
        return run

    return make


@pytest.fixture
def lose_run(hello, queue_run):
    """``lose_run(by=bob)``: a run whose lease expires once, with ``cancelled`` after a request to cancel."""

    def make(version=hello, *, by, cancelled=False):
        run = queue_run(version, by=by, no_cache=True)
        assert claim_next("host:1", run_id=run.pk)
        if cancelled:
            states.cancel(run.pk)
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert retries.expire_leases(timezone.now()) == [run.uid]
        expand.expand_pending()
        return run

    return make


@pytest.fixture
def receiver(settings):
    """A server on loopback; ``statuses`` are those of its responses, the last one is repeated."""
    with run_server() as server:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{server.port}"]
        server.default_responder = server.send_next_status
        yield server


@pytest.fixture
def subscribe(actor_of):
    """``subscribe(alice, "slack", address)``: a subscription to every kind of notification."""

    def make(user, channel, address="", *, team=None, **options):
        options = {"kinds": NotificationKind.values, **options}
        if channel == "webhook":
            options.setdefault("secret", SECRET)
        chosen = SubscriptionOptions(channel, address=address, **options)
        return subscriptions.create(chosen, actor_of(user), team)

    return make
