"""``python -m tests.worker.retention.many_runs RUNS``: removes nine of ten runs next to reads.

Prints a JSON object: the runs that are left, the median time and CPU time of the reads before the removal and
during it, and the seconds that the removal took. On a busy machine, compare the CPU times.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from datetime import timedelta

import django

_ROWS = 2000


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.test import Client

    runs = int(sys.argv[1])
    from worker.daily_runs.roll_up import roll_up_all

    version, alice = create_skill()
    create_runs(version, alice, runs)
    roll_up_all()  # on a site, the loop counts runs within a minute; statistics of uncounted runs are slow
    client = Client(headers={"host": "localhost"})
    client.force_login(alice)
    newest = client.get("/api/v1/runs").json()["items"][0]["id"]
    addresses = (
        "/api/v1/runs",
        f"/api/v1/runs/{newest}",
        f"/runs/?skill={version.skill}",
        f"/api/v1/skills/{version.skill}/statistics",
    )

    def read() -> tuple[float, float]:
        began, used = time.perf_counter(), time.process_time()
        for address in addresses:
            assert client.get(address).status_code == 200, address
        return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - used)

    read()
    before = [read() for _ in range(20)]
    began = time.monotonic()
    removal = subprocess.Popen(
        [sys.executable, "manage.py", "remove_runs", "--json"], stdout=subprocess.PIPE, text=True
    )
    times = []
    while removal.poll() is None:
        times.append(read())
        time.sleep(0.2)
    seconds = time.monotonic() - began
    assert removal.stdout
    from worker.models import DailyRuns, Run
    from worker.models.daily_runs import TOTAL_KEY

    print(
        json.dumps(
            {
                "removal": json.loads(removal.stdout.read()),
                "left": Run.objects.count(),
                "counted": sum(DailyRuns.objects.filter(team_key=TOTAL_KEY).values_list("runs", flat=True)),
                "seconds": seconds,
                "before_ms": statistics.median(wall for wall, _cpu in before),
                "during_ms": statistics.median(wall for wall, _cpu in times),
                "before_cpu_ms": statistics.median(cpu for _wall, cpu in before),
                "during_cpu_ms": statistics.median(cpu for _wall, cpu in times),
            }
        )
    )


def create_skill():
    """A version, and the owner of its team; the site keeps succeeded runs for 30 days."""
    from registry.identity.actors import Actor, administrator_actor
    from registry.models import Membership, Role, Team, User
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish
    from worker.retention.policies import set_policy

    alice = User.objects.create_user("alice")
    team = Team.objects.create(slug="docs", name="Docs")
    Membership.objects.create(user=alice, team=team, role=Role.OWNER)
    set_policy(None, {"succeeded_days": 30}, administrator_actor())
    head = b"---\nname: many\ndescription: For many runs.\nversion: 1.0.0\n---\n"
    package = read_files([("SKILL.md", head), ("scripts/main.py", b"print('{}')\n")])
    return publish(package, team=team, actor=Actor(user=alice)).version, alice


def create_runs(version, alice, number: int) -> None:
    """Nine of ten are too old to stay, except every thousandth one, which is pinned."""
    from django.utils import timezone

    from tests.factories.runs import make_run
    from worker.models import Attempt, LogChunk, Run

    pattern, now = make_run(version, alice, version.skill.team), timezone.now()
    Run.objects.all().delete()
    fields = {
        field.attname: getattr(pattern, field.attname)
        for field in Run._meta.concrete_fields
        if field.attname not in ("id", "uid", "number")
    }
    for start in range(0, number, _ROWS):
        rows = []
        for n in range(start, min(start + _ROWS, number)):
            age = timedelta(days=31 + n % 50 if n < number * 0.9 else n % 20, minutes=1)
            times = dict.fromkeys(("created_at", "run_after", "started_at"), now - age)
            pinned = now if n % 1000 == 0 else None
            more = {
                "finished_at": now - age + timedelta(seconds=2),
                "number": n + 1,
                "pinned_at": pinned,
                "log_bytes": 5,
            }
            rows.append(Run(**fields | times | more))
        made = Run.objects.bulk_create(rows)
        Attempt.objects.bulk_create(
            Attempt(run=run, number=1, worker="w", started_at=run.created_at) for run in made
        )
        LogChunk.objects.bulk_create(
            LogChunk(run=run, attempt=1, seq=0, stream="stdout", offset=0, data=b"done\n") for run in made
        )


if __name__ == "__main__":
    main()
