"""A site with its own PostgreSQL and Redis and two worker groups of two slots, under load."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.faults.remains import children, is_alive
from tests.site import ROOT, Site, free_port

SLOTS, WAITING = 2, 200
GROUPS = ("first", "second")
SCRIPT = """
import argparse, pathlib, time
parser = argparse.ArgumentParser()
for name in ("--number", "--record", "--output-dir", "--data-path"):
    parser.add_argument(name)
args = parser.parse_args()
def record(what):
    with open(args.record, "a") as file:
        file.write(f"{what} {args.number}\\n")
record("begun")
time.sleep(0.8)
pathlib.Path(args.output_dir).mkdir(exist_ok=True)
pathlib.Path(args.output_dir, "number.txt").write_text(args.number)
record("done")
"""
REQUEST = """
from registry.identity.actors import Actor
from registry.lookup.skills import find_skill, find_version
from registry.models import User
from worker.files.inputs import store_input
from worker.protocols.call import Request
from worker.runs.request import request_run
actor = Actor(user=User.objects.get(username="admin"))
version = find_version(find_skill("ops/busy", actor), None, actor)
for number in range({first}, {last}):
    data = store_input([str(number).encode()], "number.txt", actor)
    inputs = {{"number": str(number), "record": "{record}", "output_dir": "here"}}
    inputs["data_path"] = {{"input": data.uid}}
    request_run(actor=actor, version=version, request=Request(inputs=inputs))
"""
SECOND = """
import django
django.setup()
from pathlib import Path
from portal.management.commands import up
from portal.supervisor import Supervisor
Supervisor([up._worker()], folder=Path.cwd(), grace_s=5).run()
"""


class PostgresServer:
    """A PostgreSQL server of the test's own, run by the user ``postgres`` if the test runs as root."""

    def __init__(self) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not programs:
            pytest.skip("no PostgreSQL server is installed")
        self.bin, self.port = programs[-1], free_port()
        self.user = "postgres" if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="skillquay-postgres-"))
        if self.user:
            shutil.chown(self.folder, self.user)
        argv: list[str | Path] = [
            self.bin / "initdb",
            "-D",
            self.folder,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "-N",
        ]
        subprocess.run(argv, user=self.user, check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        self.start()

    def start(self) -> None:
        argv: list[str | Path] = [
            self.bin / "postgres",
            "-D",
            self.folder,
            "-p",
            str(self.port),
            "-k",
            "",
            "-F",
        ]
        null = subprocess.DEVNULL
        self.process = subprocess.Popen(argv, user=self.user, cwd="/", stdout=null, stderr=null)
        ready: list[str | Path] = [self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready, check=False).returncode:
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)


class RestartSite:
    """The site, its load, and the faults by name."""

    def __init__(self, site: Site, postgres: PostgresServer, redis, record: Path) -> None:
        self.site, self.postgres, self.redis, self.record = site, postgres, redis, record
        self.broker, self.requested = redis.started[-1], 0
        self.before_repair: Callable[[], object] = lambda: None  # called while a service is away
        environment = {**site.environment, "DJANGO_SETTINGS_MODULE": "portal.settings"}
        with (site.folder / "second.log").open("ab") as log:
            argv = [sys.executable, "-c", SECOND]
            self.second = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def pid(self, group: str) -> int:
        """The main process of the group's worker."""
        if group == "first":
            return self.site.pids("worker")[-1]
        text = (self.site.folder / "second.log").read_text()
        return int(text.rpartition("worker started, pid ")[2].split()[0])

    def slots(self, group: str, since: float) -> dict[str, list[float]]:
        """The starts of attempts since then, by slot of the group."""
        with suppress(OSError, ValueError):
            own = set(map(str, children(self.pid(group))))
            return {slot: moments for slot, moments in self.starts(since).items() if slot in own}
        return {}

    def starts(self, since: float) -> dict[str, list[float]]:
        """The starts of attempts since then, by slot."""
        moment = datetime.fromtimestamp(since, UTC).isoformat()
        found: dict[str, list[float]] = {}
        rows = self.site.rows(f"SELECT worker, started_at FROM worker_attempt WHERE started_at >= '{moment}'")
        for worker, started_at in rows:
            found.setdefault(worker.rpartition(":")[2], []).append(started_at.timestamp())
        return found

    def count(self, status: str) -> int:
        return self.site.rows(f"SELECT count(*) FROM worker_run WHERE status = '{status}'")[0][0]

    def fill(self) -> None:
        """Requests runs until 200 wait and every slot is busy."""
        while self.count("queued") < WAITING + 20:
            first, self.requested = self.requested, self.requested + 100
            text = REQUEST.format(first=first, last=self.requested, record=self.record)
            self.site.manage("shell", "--no-imports", "-c", text)
        self.site.wait_for(lambda: self.count("running") == SLOTS * len(GROUPS))
        assert self.count("queued") >= WAITING

    def seconds_until_all_work(self, since: float, groups=GROUPS, *, limit: float) -> float:
        """Seconds from then until each slot of the groups has started a run; asserts the limit."""
        while True:
            with suppress(Exception):  # the database may be restarting
                slots = [self.slots(group, since) for group in groups]
                if all(len(each) == SLOTS for each in slots):
                    return max(min(moments) for each in slots for moments in each.values()) - since
            assert time.time() - since < limit, self.site.log.read_text()[-3000:]
            time.sleep(0.1)

    def slowness(self) -> float:
        """How much longer a worker needs to start than on a quiet machine, as others use this one, too."""
        since = time.monotonic()
        imports = "import worker.celery, django; django.setup(); import worker.service.tasks"
        environment = {**self.site.environment, "DJANGO_SETTINGS_MODULE": "portal.settings"}
        subprocess.run([sys.executable, "-c", imports], cwd=ROOT, env=environment, check=True)
        return max(1.0, (time.monotonic() - since) / 2)

    def longest_pause(self, group: str, since: float, until: float) -> float:
        """The longest time in which one of the group's slots started no run."""
        pauses = []
        for moments in self.slots(group, since - 5).values():
            moments = [since, *sorted(moment for moment in moments if since < moment < until), until]
            pauses += [later - earlier for earlier, later in pairwise(moments)]
        return max(pauses)

    # Faults: each returns the moment from which the slots must work again -----------------------------------
    def restart_redis(self) -> float:
        self.broker.kill()
        self.broker.wait()
        time.sleep(4)
        self.before_repair()
        self.broker = self.redis.start()
        return time.time()

    def restart_postgres(self) -> float:
        self.postgres.stop()
        time.sleep(4)
        self.before_repair()
        self.postgres.start()
        return time.time()

    def take_storage(self) -> float:
        """What a lost mount looks like: whatever is done with the folder fails."""
        blobs = self.site.folder / "var" / "blobs"
        blobs.rename(blobs.with_name("away"))
        blobs.write_text("")
        time.sleep(6)
        self.before_repair()
        blobs.unlink()
        blobs.with_name("away").rename(blobs)
        return time.time()

    def kill(self, group: str) -> float:
        pid = self.pid(group)
        os.killpg(pid, signal.SIGKILL)
        moment = time.time()
        self.site.wait_for(lambda: not is_alive(pid))
        return moment

    def outcome(self) -> Counter:
        """Statuses of all runs, once every run has ended; asserts that no script ran twice."""
        self.site.wait_for(lambda: not self.count("queued") and not self.count("running"), seconds=180)
        recorded = Counter(self.record.read_text().splitlines())
        rows = self.site.rows("SELECT status, cast(request AS text), failure_code FROM worker_run")
        assert len(rows) == self.requested
        assert set(recorded.values()) <= {1}, "no script runs twice"
        return Counter((status, code) for status, _request, code in rows)

    def stop(self) -> None:
        self.second.terminate()
        self.second.wait()
        self.site.stop()
        self.site.up = None
        self.postgres.remove()


def make_restart_site(make_site, redis, folder: Path) -> RestartSite:
    """A started site; skips without PostgreSQL or Redis on this machine."""
    postgres = PostgresServer()
    try:
        redis.start()
        settings = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url, "STORAGE_URL": ""}
        site = make_site(None, **settings, SKILLQUAY_SANDBOX="unsafe", SKILLQUAY_WORKERS=str(SLOTS))
        site.start()
        site.publish("busy", SCRIPT, team="ops")
        return RestartSite(site, postgres, redis, folder / "record")
    except BaseException:
        postgres.remove()
        raise
