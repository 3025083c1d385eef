"""Memory changes of earlier releases that are still to be delivered when a site is upgraded."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from worker.models import Delivery, NotificationSubscription

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P9")]
AT = datetime(2026, 1, 2, tzinfo=UTC)
queue_memory_changes = import_module("worker.migrations.0015_memory_deliveries").queue_memory_changes


@pytest.fixture
def before(settings):
    """The models before the migration, with the table that it deletes."""
    settings.MIGRATION_MODULES = {}  # the suite runs without migrations
    state = MigrationLoader(connection).project_state(("worker", "0014_deliveries")).apps
    with connection.schema_editor() as editor:
        editor.create_model(state.get_model("worker", "MemoryChange"))
    yield state
    with connection.schema_editor() as editor:
        editor.delete_model(state.get_model("worker", "MemoryChange"))


def test_undelivered_memory_changes_become_deliveries(before):
    change = before.get_model("worker", "MemoryChange")
    change.objects.create(uid="a" * 26, memory_uid="m" * 26, due_at=AT, created_at=AT)
    failed = {"attempts": 3, "failure": "e" * 300, "deleted": True}
    change.objects.create(uid="b" * 26, memory_uid="n" * 26, due_at=AT, created_at=AT, **failed)
    queue_memory_changes(before, None)
    assert NotificationSubscription.objects.get().channel == "memory"
    columns = ("uid", "kind", "payload", "attempts", "error", "state", "due_at", "created_at")
    assert list(Delivery.objects.order_by("pk").values_list(*columns)) == [
        ("a" * 26, "memory", {"memory": "m" * 26, "deleted": False}, 0, "", "queued", AT, AT),
        ("b" * 26, "memory", {"memory": "n" * 26, "deleted": True}, 3, "e" * 300, "queued", AT, AT),
    ]


def test_site_without_undelivered_memory_changes_gets_no_subscription(before):
    queue_memory_changes(before, None)
    assert not NotificationSubscription.objects.exists()
