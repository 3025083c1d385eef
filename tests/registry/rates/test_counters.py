"""Counters of several processes that share one store: one counter stands for one process."""

from __future__ import annotations

import os
import secrets
import threading

import pytest
from django.db import connection

from registry.models import RateCount
from registry.rates import counters
from registry.rates.counters import FRACTION, WINDOW_S, RateCounter
from registry.rates.limits import network_of

pytestmark = pytest.mark.row("P9")
PROCESSES, THREADS = 4, 2


@pytest.fixture
def clock(monkeypatch):
    """``clock[0]``: the time in Unix seconds, which only the test moves."""
    now = [4_000_000_000.0]  # later than Redis's own time, at which it deletes ended counts
    monkeypatch.setattr(counters, "time", lambda: now[0])
    return now


@pytest.fixture
def database(settings, db):
    """The store is the database, also where the suite runs on Redis."""
    settings.REDIS_URL = ""


@pytest.fixture(params=["database", "redis"])
def store(request, settings, transactional_db):
    """The store, and a prefix that no other test uses."""
    settings.REDIS_URL = ""
    if request.param == "redis":
        redis = pytest.importorskip("redis")
        settings.REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/15")
        try:
            redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1).ping()
        except redis.RedisError:
            pytest.skip("no Redis answers: name one in REDIS_URL")
    return f"{secrets.token_hex(8)}:"


def _admitted(counter, limit):
    """How many requests a process admits before it refuses one."""
    number = 0
    while counter.count("caller", limit).count <= limit:
        number += 1
    return number


@pytest.mark.parametrize("limit", [5, 40, 1000])
def test_processes_together_admit_the_limit_and_no_fraction_more(store, clock, limit):
    processes = [RateCounter(store) for _ in range(PROCESSES)]
    admitted: list[int] = []

    def serve(counter):
        admitted.append(_admitted(counter, limit))
        connection.close()

    threads = [threading.Thread(target=serve, args=(each,)) for each in processes for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Threads that share their counts together are refused together.
    most = limit if limit < 2 * FRACTION else limit + PROCESSES * (limit // FRACTION)
    assert limit - PROCESSES * THREADS <= sum(admitted) <= most


def test_process_learns_what_others_counted(store, clock):
    first, second = RateCounter(store), RateCounter(store)
    assert _admitted(first, 5) == 5
    assert _admitted(second, 5) == 0
    assert first.count("somebody", 5).count == 1


def test_count_starts_again_with_the_next_window(database, clock):
    counter = RateCounter()
    assert _admitted(counter, 3) == 3
    status = counter.count("caller", 3)
    assert (status.remaining, 0 < status.reset_s <= WINDOW_S) == (0, True)
    clock[0] += status.reset_s - 0.5
    assert counter.count("caller", 3).count > 3
    clock[0] += 0.5
    assert counter.count("caller", 3).remaining == 2


def test_slow_caller_is_never_written_and_refused_one_no_more(database, clock, django_assert_num_queries):
    counter = RateCounter()
    with django_assert_num_queries(0):
        for _ in range(1000 // FRACTION - 1):
            counter.count("caller", 1000)
    assert not RateCount.objects.exists()
    _admitted(counter, 1000)
    with django_assert_num_queries(0):
        assert counter.count("caller", 1000).count > 1000


def test_ended_counts_are_deleted(database, clock, monkeypatch):
    monkeypatch.setattr(counters, "monotonic", lambda: clock[0])
    counter = RateCounter()
    counter.count("early", 1)
    clock[0] += 2 * WINDOW_S
    counter.count("late", 1)
    assert [row.key.split(":")[0] for row in RateCount.objects.all()] == ["late"]


def test_memory_holds_a_bounded_number_of_callers(database, clock, monkeypatch):
    monkeypatch.setattr(counters, "MAX_CALLERS", 10)
    counter = RateCounter()
    for number in range(30):
        counter.count(f"caller {number}", 1000)
    assert list(counter.windows) == [f"caller {number}" for number in range(20, 30)]


def test_without_its_store_a_process_counts_alone(db, settings, clock, caplog):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    counter = RateCounter()
    assert _admitted(counter, 5) == 5
    assert len(caplog.records) == 1, "one attempt, then a pause"
    settings.REDIS_URL = ""
    counter.store_from = 0.0
    counter.windows["caller"].unshared = 4
    assert counter.count("caller", 5).count == 5
    assert RateCount.objects.get().count == 5


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("", ""),
        ("x" * 100, "x" * 64),
    ],
)
def test_network_of_address(address, network):
    assert network_of(address) == network
