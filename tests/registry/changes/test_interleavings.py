"""Writers and readers in threads, each with a connection of its own: no reader finds an older answer."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from registry.changes.dependency import COMMON
from registry.changes.numbers import open_numbers
from registry.models import ChangeKind, Skill
from tests.event_loops import run_in_loop
from tests.registry.changes.conftest import connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P9")]
READS = int(os.environ.get("INTERLEAVINGS", "300"))
WRITERS = READERS = 3


class _Board:
    """The skills' last committed values, as their writers know them."""

    def __init__(self, skills):
        self.values = dict.fromkeys(skills, 0.0)
        self.lock = threading.Lock()
        self.reads = 0
        self.older = []

    def committed(self, skill, value):
        with self.lock:
            self.values[skill] = max(self.values[skill], value)


def _write(board, seed):
    draw = random.Random(seed)
    with connected() as database:
        while board.reads < READS:
            skill = draw.choice(sorted(board.values))
            database.execute("BEGIN IMMEDIATE" if connection.vendor == "sqlite" else "BEGIN")
            update = (
                f"UPDATE registry_skill SET priority = priority + 1 WHERE id = {skill} RETURNING priority"
            )
            (value,) = database.execute(update).fetchone()
            time.sleep(draw.random() * 0.002)
            if draw.random() < 0.2:
                database.execute("ROLLBACK")
            else:
                database.execute("COMMIT")
                board.committed(skill, value)
            time.sleep(draw.random() * 0.003)


async def _read(board, seed):
    draw, answers, last = random.Random(seed), {}, -1
    numbers = open_numbers(connection)
    with connected() as database:
        while board.reads < READS:
            await asyncio.sleep(0)  # each request has a task of its own, which runs after it was received
            skill = draw.choice(sorted(board.values))
            at_least = board.values[skill]
            log = await numbers.advance()
            board.reads += log.number != last  # counts the reads after a change
            last = log.number
            seen, value = answers.get(skill, (-2, 0.0))
            if not log.is_current(seen, {COMMON, (ChangeKind.SKILL.value, skill)}):
                seen = log.number
                await asyncio.sleep(draw.random() * 0.001)
                query = f"SELECT priority FROM registry_skill WHERE id = {skill}"
                (value,) = database.execute(query).fetchone()
                answers[skill] = (seen, value)
            if value < at_least:
                board.older.append((skill, value, at_least))
    await numbers.close()


def test_no_reader_finds_an_older_answer(publish_skill, settings):
    for number in range(4):
        publish_skill(f"skill-{number}")
    board = _Board(Skill.objects.values_list("pk", flat=True))
    Skill.objects.update(priority=0.0)
    with ThreadPoolExecutor(WRITERS + READERS) as pool:
        calls = [pool.submit(_write, board, f"writer {number}") for number in range(WRITERS)]
        calls += [
            pool.submit(lambda seed: asyncio.run(_read(board, seed)), f"reader {number}")
            for number in range(READERS)
        ]
        for call in calls:
            call.result()
    assert board.older == []
    assert board.reads >= READS
    assert any(board.values.values())


def test_readers_that_arrive_together_share_a_read(publish_skill):
    async def arrive():
        numbers = open_numbers(connection)
        try:
            return await asyncio.gather(*(numbers.advance() for _ in range(20)))
        finally:
            await numbers.close()

    logs = run_in_loop(arrive())
    assert len({log.number for log in logs}) == 1
    assert logs[0].number > 0


def test_request_that_is_received_after_a_change_does_not_share_an_earlier_read(publish_skill):
    skill = publish_skill("report").skill_id

    async def arrive():
        numbers, found = open_numbers(connection), []
        try:
            with connected() as database:
                for _ in range(5):
                    await numbers.advance()
                    database.execute(f"UPDATE registry_skill SET priority = priority + 1 WHERE id = {skill}")
                    found.append((await asyncio.create_task(numbers.advance())).number)
        finally:
            await numbers.close()
        return found

    found = run_in_loop(arrive())
    assert found == sorted(set(found))


@pytest.mark.cluster
@pytest.mark.postgresql
def test_writers_that_lock_each_others_skills_do_not_deadlock(publish_skill):
    """The numbers are raised after all that a transaction still waits for, such as checks of foreign keys."""
    own = [publish_skill(f"skill-{number}").skill_id for number in range(3)]
    shared = publish_skill("shared")
    start = threading.Barrier(4)

    def run(*statements):
        with connected() as database:
            for turn in range(15):
                start.wait(20)
                database.execute("BEGIN")
                for statement in statements:
                    database.execute(statement.replace("{turn}", str(turn)))
                    time.sleep(0.003)
                database.execute("COMMIT")

    change = "UPDATE registry_skill SET description = '{turn}' WHERE id = "
    lock = f"SELECT 1 FROM registry_skill WHERE id = {shared.skill_id} FOR UPDATE"
    refer = (
        "INSERT INTO registry_channel (skill_id, name, version_id) "
        f"VALUES ({shared.skill_id}, 'c%s-{{turn}}', {shared.pk})"
    )
    writers = [
        (lock, f"{change}{shared.skill_id}", "SELECT 1"),
        (f"{change}{own[0]}", lock),
        (f"{change}{own[1]}", refer % 1),
        (f"{change}{own[2]}", refer % 2),
    ]
    with ThreadPoolExecutor(4) as pool:
        for call in [pool.submit(run, *statements) for statements in writers]:
            call.result()
    with connected() as database:
        assert database.execute("SELECT count(*) FROM registry_pendingchange").fetchone() == (0,)
        assert database.execute("SELECT count(*) FROM registry_channel").fetchone() == (30,)


@pytest.mark.full
def test_four_publishers_at_once(publish_skill, team):
    versions = [publish_skill(f"skill-{number}") for number in range(4)]

    def publish(version):
        try:
            for number in range(1, 6):
                publish_skill(version.skill.slug, version=f"1.{number}.0")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(publish, versions))
    assert set(Skill.objects.values_list("latest__number", flat=True)) == {"1.5.0"}
