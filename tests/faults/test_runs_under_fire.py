"""Many runs of every kind while what they stand on is killed: each is accounted for, and happened once.

``FAULT_TIMES=17``: 510 runs and 34 faults, three times: on the services of the environment, where what a
script does outside tells how often it ran; on a Redis that is killed too; and in sandboxes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from http.client import HTTPException

import pytest

from tests import cluster
from tests.checks import not_none
from tests.faults.conftest import TIMES
from tests.faults.remains import children, fill, groups, is_alive, mounts, processes_of_runs, zombies

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.faults,
    pytest.mark.row("P5", "P9"),
]
RUNS, FAULTS, WORKERS = 30 * TIMES, 2 * TIMES, 2
ROOM = 300  # MB
TEAMS = ("ops", "dev")
TELLS = """
import json, os, sys, time
number, told = int(sys.argv[sys.argv.index("--number") + 1]), sys.argv[sys.argv.index("--told") + 1]
def tell(what):
    print(what, number, file=sys.stderr, flush=True)
    if told != "-":
        with open(told, "a") as file:
            file.write(f"{what} {number}\\n")
"""
ONCE = f"""{TELLS}
tell("begun")
time.sleep(0.15)
tell("done")
"""
PARENT = f"""{TELLS}
asking, answering = (int(n) for n in os.environ["SKILLQUAY_REQUEST_FDS"].split(","))
tell("begun")
wanted = sys.argv[sys.argv.index("--child") + 1]
child = {{"skill": wanted, "parameters": {{"number": number + 100_000, "told": told}}}}
os.write(asking, json.dumps(child).encode() + b"\\n")
print(os.fdopen(answering, "rb").readline().decode())
tell("done")
"""
REMEMBER = f"""{TELLS}
tell("begun")
time.sleep(0.1)
write = {{"ownerType": "user", "type": "fact", "importance": 3}}
write["content"] = f"number {{number}}"
print(json.dumps({{"memoryWrites": [write]}}))
"""
SKILLS = {
    "once": (ONCE, ""),
    "again": (ONCE, "retry_on_lost: true\n"),
    "parent": (PARENT, "requires: [ops/once, dev/once]\n"),
    "remember": (REMEMBER, "retry_on_lost: true\n"),
    "asks": (ONCE, "allowed-tools: [Bash]\n"),
}
SHARES = ("once", "once", "once", "again", "parent", "remember", "once", "again", "parent", "asks")
SOME_ENDS = {"succeeded", "lost", "failed", "cancelled"}


class Fire:
    """What is done to a site while it works."""

    def __init__(self, site, redis):
        self.site, self.redis, self.done = site, redis, Counter()
        self.broker = redis.start() if redis else None
        self.seen: set[int] = set()
        self.filler = site.folder / "var" / "filler"

    def look(self):
        """Keeps in mind who worked, for what they may have left."""
        for name in ("web", "worker", "reaper"):
            self.seen.update(self.site.pids(name)[-1:])
        with suppress(OSError):
            self.seen.update(children(self.site.pids("worker")[-1]))

    def _alive(self, name):
        """Its process, once there is one: a supervisor may have been killed just before."""
        self.site.wait_for(lambda: is_alive(self.site.pids(name)[-1]), seconds=60)
        return self.site.pids(name)[-1]

    def worker(self):
        pid = self._alive("worker")
        had = children(pid)
        os.kill(pid, signal.SIGKILL)
        self.site.wait_for(lambda: not any(map(is_alive, had)))
        self.site.wait_for(lambda: self.site.pids("worker")[-1] != pid, seconds=60)

    def child(self):
        """One of the processes that execute runs; the worker makes another."""
        with suppress(OSError, IndexError):
            os.kill(children(self.site.pids("worker")[-1])[-1], signal.SIGKILL)

    def supervisor(self):
        self.site.up.kill()
        self.site.up.wait()
        self.site.start()

    def web(self):
        pid = self._alive("web")
        os.kill(pid, signal.SIGKILL)
        self.site.wait_for(lambda: self.site.pids("web")[-1] != pid, seconds=60)

    def away(self):
        not_none(self.broker).kill()
        not_none(self.broker).wait()
        time.sleep(1.0)
        self.broker = self.redis.start()

    def full(self):
        fill(self.filler)
        time.sleep(1.5)
        self.filler.unlink()

    def rage(self, dice):
        kinds = ["worker", "supervisor"]
        if TIMES > 1:
            kinds = [*kinds, "child", "child", "child", "web", "full", *(["away"] if self.redis else [])]
            kinds = [kinds[number % len(kinds)] for number in range(FAULTS)]
            dice.shuffle(kinds)
        for number, kind in enumerate(kinds, 1):
            self._until(number * RUNS // (len(kinds) + 1))
            self.look()
            time.sleep(dice.uniform(0, 0.2))
            getattr(self, kind)()
            self.done[kind] += 1

    def _until(self, enough):
        """Goes on after a while also where the fire lets few end."""
        ended = "SELECT count(*) FROM worker_run WHERE finished_at IS NOT NULL AND depth = 0"
        with suppress(AssertionError):
            self.site.wait_for(lambda: self.site.rows(ended)[0][0] >= enough, seconds=15)


class Asking(threading.Thread):
    """Asks for all the runs, each until it is accepted, always under the same key.

    A key whose request died with the web process is under way for a while: the others come first.
    """

    def __init__(self, site, told):
        super().__init__(daemon=True)
        self.site, self.told, self.accepted, self.odd = site, told, {}, []

    def wait(self, seconds=120):
        """Until all are accepted, however long that takes, or none was for so long."""
        had = -1
        while self.is_alive() and had < len(self.accepted):
            had = len(self.accepted)
            self.join(seconds)

    def run(self):
        while open_ones := [number for number in range(RUNS) if number not in self.accepted]:
            for number in open_ones:
                with suppress(OSError, ValueError, HTTPException):
                    self._ask(number)
            time.sleep(0.2)

    def _ask(self, number):
        name, team = SHARES[number % len(SHARES)], TEAMS[number // len(SHARES) % 2]
        inputs = {"number": number, "told": str(self.told), "child": f"{team}/once"}
        body = {"skill": f"{team}/{name}", "inputs": inputs, "team": team}
        status, _, answer = self.site.ask("/api/v1/runs", body=body, Idempotency_Key=f"k{number}")
        if status in (200, 201, 202):
            self.accepted[number] = json.loads(answer)["id"]
        elif status not in (409, 503, 507):
            self.odd.append(answer)


@pytest.fixture(params=["environment", *(["redis", "isolated"] if TIMES > 1 else [])])
def site(request, make_site, disk):
    """Side effects outside the sandbox count executions, so two of these sites have none."""
    settings = {"SKILLQUAY_LEASE_SECONDS": "4", "SKILLQUAY_MAX_RUN_ATTEMPTS": "9"}
    settings["SKILLQUAY_SANDBOX"] = "auto" if request.param == "isolated" else "unsafe"
    redis = request.getfixturevalue("redis") if request.param == "redis" else None
    if redis:
        settings["REDIS_URL"] = redis.url
    site = make_site(disk(ROOM) if TIMES > 1 else None, **settings)
    site.fire, site.is_isolated = Fire(site, redis), request.param == "isolated"
    site.start()
    for team in TEAMS:
        for slug, (script, front) in SKILLS.items():
            site.publish(slug, script, team=team, front=front)
    return site


def test_runs_under_fire_are_accounted_for_and_happen_once(site, tmp_path):
    told, fire = tmp_path / "told", site.fire
    asking, dice = Asking(site, "-" if site.is_isolated else told), random.Random()
    asking.start()
    fire.rage(dice)
    asking.wait()
    assert (len(asking.accepted), asking.odd) == (RUNS, [])
    busy = "SELECT 1 FROM worker_run WHERE finished_at IS NULL AND status <> 'waiting_approval' LIMIT 1"
    site.wait_for(lambda: not site.rows(busy), seconds=60 + TIMES * 10)
    fire.look()
    rows = site.rows("SELECT uid, status, attempt, depth, cast(request AS text), skill_label FROM worker_run")
    rows = [(*row[:5], row[5].partition("/")[2]) for row in rows]
    _each_is_accounted_for(rows, asking.accepted)
    if not site.is_isolated:
        _nothing_happened_twice(rows, Counter(told.read_text().splitlines()))
    _memories_are_single(site, rows)
    lost = [row for row in rows if row[1] != "succeeded" and row[1] != "waiting_approval"]
    faults = sum(fire.done.values())
    print(f"\n{len(rows)} runs, {dict(fire.done)}: {Counter(row[1] for row in rows)}")
    assert len(lost) <= faults * WORKERS * 2, "no more than were under way, with their children"
    site.wait_for(site.answers, seconds=60)  # the last fault may have been its end
    _logs_are_readable(site, rows)
    _nothing_is_left(site, fire.seen)


def _each_is_accounted_for(rows, accepted):
    asked = {row[0]: row for row in rows if row[3] == 0}
    assert set(asked) == set(accepted.values())
    for _uid, status, attempt, _depth, _request, skill in asked.values():
        if skill == "asks":
            assert (status, attempt) == ("waiting_approval", 0)
        else:
            assert status in SOME_ENDS, (status, skill)
    assert {row[1] for row in rows if row[3]} <= SOME_ENDS


def _nothing_happened_twice(rows, counted):
    for _uid, status, attempt, _depth, request, skill in rows:
        number = json.loads(request)["inputs"]["number"]
        begun, done = counted[f"begun {number}"], counted[f"done {number}"]
        if skill in ("once", "parent"):
            assert done <= begun <= 1, "executed once at most"
        assert begun <= attempt, "never beside another attempt's count"
        if status == "succeeded" and skill != "remember":
            assert done >= 1, skill
        if skill == "asks":
            assert not begun


def _memories_are_single(site, rows):
    kept = Counter(text for (text,) in site.rows("SELECT content FROM worker_memory"))
    assert set(kept.values()) <= {1}
    assert {count for (count,) in site.rows("SELECT count FROM worker_memory")} <= {1}
    ended = [row for row in rows if row[5] == "remember" and row[1] == "succeeded"]
    assert (
        len(kept)
        == len(ended)
        == len(site.rows("SELECT 1 FROM worker_memorywrite WHERE state = 'committed'"))
    )


def _logs_are_readable(site, rows):
    for uid, status, attempt, _depth, request, skill in rows:
        for number in range(1, attempt + 1):
            code, _, body = site.ask(f"/api/v1/runs/{uid}/log?attempt={number}")
            assert code == 200, body
            document = json.loads(body)
        if attempt and status == "succeeded" and skill != "remember":
            text = "".join(piece["text"] for piece in document["chunks"])
            said = json.loads(request)["inputs"]["number"]
            assert text.startswith(f"begun {said}\n"), text
            assert document["ended"]


def _nothing_is_left(site, seen):
    site.wait_for(lambda: not processes_of_runs(site))
    site.wait_for(lambda: not zombies(sorted(seen)))
    site.wait_for(lambda: not groups(sorted(seen)))
    assert mounts(site.folder / "var") == []
    jobs, old = site.folder / "var" / "jobs", time.time() - 3600
    for folder in jobs.iterdir():
        with suppress(FileNotFoundError):  # the reaper sweeps them as well
            os.utime(folder, (old, old))
    site.manage(
        "shell", "--no-imports", "-c", "from worker.service.reaper import sweep_job_folders as s; s()"
    )
    site.wait_for(lambda: not list(jobs.iterdir()))
    assert not list((site.folder / "var").rglob(".coming-*"))
    if not cluster.is_postgres(site.environment["DATABASE_URL"]):
        assert site.rows("PRAGMA integrity_check") == [("ok",)]
