"""A process killed between sending a delivery and recording it: the receiver can see the repetition."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.servers.http import run_server

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("a site's own database"),
    pytest.mark.faults,
    pytest.mark.row("P6", "P9"),
]

QUEUE = """
from registry.identity.actors import administrator_actor
from registry.models import Team
from worker.delivery import log, subscriptions
team = Team.objects.get(slug="ops")
options = subscriptions.SubscriptionOptions("slack", ["recovered"], address={address!r})
row = subscriptions.create(options, administrator_actor(), team)
for _ in range(3):
    log.send_test(row, administrator_actor())
"""
EXPIRE = """
from worker.models import NotificationSubscription
NotificationSubscription.objects.exclude(lease_until=None).update(lease_until="2020-01-01T00:00:00Z")
"""


def test_each_delivery_arrives_once_or_again_with_the_same_id(make_site):
    with run_server() as server:
        site = make_site(SKILLQUAY_OUTBOUND_ALLOW=f"127.0.0.1:{server.port}")
        site.manage("shell", "--no-imports", "-c", QUEUE.format(address=f"{server.url}/hook"))
        processes: list[subprocess.Popen[bytes]] = []

        def kill_first(handler):
            if len(server.requests) == 2:  # the second delivery has arrived; its outcome is not recorded
                processes[0].kill()
            handler.send()

        server.default_responder = kill_first
        argv = [sys.executable, "manage.py", "reap_runs"]
        processes.append(subprocess.Popen(argv, cwd=ROOT, env={**os.environ, **site.environment}))
        assert processes[0].wait(60) == -9
        assert sorted(state for (state,) in site.rows("SELECT state FROM worker_delivery")).count("sent") == 1
        site.manage("shell", "--no-imports", "-c", EXPIRE)
        site.manage("reap_runs", "--once")
        received = Counter(request.headers["skillquay-delivery"] for request in server.requests)
        stored = dict(site.rows("SELECT uid, state FROM worker_delivery"))
        assert set(stored.values()) == {"sent"}
        assert set(received) == set(stored)
        assert sorted(received.values()) == [1, 1, 2]
        assert all(json.loads(request.body)["text"] for request in server.requests)
