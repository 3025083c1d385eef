"""Uses that a web process notes are counted like those that are written at once."""

import asyncio
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from portal.streaming.lifespan import run_lifespan
from registry import batched_writes
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.lookup.canonical import note_canonical_use
from registry.models import CanonicalUse, Scope, Use, UseDay
from registry.usage.recording import note_use, record_use, use_of
from tests.event_loops import run_in_loop

pytestmark = [pytest.mark.django_db, pytest.mark.row("D9")]


@pytest.fixture
def web_process(monkeypatch):
    """The writer of a web process without its thread: only ``flush`` writes values."""
    monkeypatch.setattr(batched_writes.writer, "is_running", True)
    yield
    batched_writes.flush()


def test_noted_uses_are_counted_once_per_caller_by_the_next_write(
    web_process, publish_skill, django_assert_num_queries
):
    version = publish_skill()
    use = use_of(version, "install")
    with django_assert_num_queries(0):
        for caller in ("user:1", "user:2", "user:1"):
            note_use(use, caller)
    batched_writes.flush()
    version.skill.refresh_from_db()
    assert version.skill.usage_count == UseDay.objects.get().count == 2
    note_use(use, "user:1")
    batched_writes.flush()
    assert not record_use(version.skill, "user:2", "run")
    assert sum(Use.objects.values_list("count", flat=True)) == 2


def test_uses_of_a_removed_skill_are_dropped_and_others_counted(web_process, publish_skill):
    removed, kept = publish_skill("removed"), publish_skill("kept")
    for version in (removed, kept):
        note_use(use_of(version, "install"), "user:1")
    kept_skill = kept.skill
    removed.skill.delete()
    batched_writes.flush()
    assert [use.skill for use in Use.objects.all()] == [kept_skill]


def test_uses_are_kept_while_the_database_does_not_answer(web_process, publish_skill, monkeypatch):
    def fail(values):
        raise OperationalError("database is locked")

    note_use(use_of(publish_skill(), "install"), "user:1")
    with monkeypatch.context() as patch:
        for batch in batched_writes._batches:
            patch.setattr(batch, "write", fail)
        batched_writes.flush()
    assert not Use.objects.exists()
    batched_writes.flush()
    assert Use.objects.get().count == 1


def test_canonical_and_token_uses_are_written_with_the_next_batch(
    web_process, alice, django_assert_num_queries
):
    expires_at = timezone.now() + timedelta(days=1)
    actor = Actor(user=alice)
    token, _ = tokens.issue(alice, name="ci", scopes=[Scope.READ], expires_at=expires_at, by=actor)
    with django_assert_num_queries(0):
        for _ in range(2):
            note_canonical_use("report", "user:1", "load")
            tokens.note_token_use(token.pk, "192.0.2.7")
    batched_writes.flush()
    token.refresh_from_db()
    assert token.last_used_at
    assert token.last_used_address == "192.0.2.7"
    assert CanonicalUse.objects.get().count == 1


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_web_process_writes_what_is_pending(publish_skill):
    use = use_of(publish_skill(), "install")

    async def serve():
        sent = []
        end = asyncio.Event()

        async def receive():
            if sent:
                await end.wait()
            return {"type": "lifespan.startup"}

        async def send(message):
            sent.append(message["type"])

        process = asyncio.create_task(run_lifespan(receive, send))
        while not sent:
            await asyncio.sleep(0)
        assert batched_writes.writer.is_running
        note_use(use, "user:1")
        end.set()
        await process
        return sent

    assert run_in_loop(serve()) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert not batched_writes.writer.is_running
    assert Use.objects.get().count == 1
