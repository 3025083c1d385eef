"""Measures the memory of a site under ``manage.py up`` over many runs of several kinds."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import django

django.setup()

from django.conf import settings
from django.core.management import call_command

from registry.identity.actors import Actor
from registry.models import Team, User
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from worker.models import Run
from worker.protocols.call import Request
from worker.queue import states
from worker.runs import request as runs

WRITE = '{"ownerType": "user", "ownerId": "", "type": "fact", "importance": 3, "content": "run"}'
KINDS = {
    "plain": 'import json\nprint("a line", flush=True)\nprint(json.dumps({"done": True}))\n',
    "fails": 'import sys\nprint("no", file=sys.stderr)\nsys.exit(3)\n',
    "leaves": 'open("/job/output/left.txt", "w").write("x" * 20000)\nprint("{}")\n',
    "remembers": f"print('{{\"memoryWrites\": [{WRITE}]}}')\n",
    "talks": 'print("words " * 20000)\nprint("{}")\n',
}
BATCH = 50
TIMEOUT_S = 600


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    actor, versions = _publish()
    site = _start(options["processes"])
    try:
        print(json.dumps(list(_samples(options, site.pid, actor, versions))))
    finally:
        site.terminate()
        site.wait()


def _publish():
    actor = Actor(user=User.objects.create_superuser("bench", password=None))
    team, versions = Team.objects.create(slug="bench", name="Bench"), []
    for slug, script in KINDS.items():
        head = f"---\nname: {slug}\ndescription: For measuring.\nversion: 1.0.0\n---\n# {slug}\n"
        package = read_files([("SKILL.md", head.encode()), (f"scripts/{slug}.py", script.encode())])
        versions.append(publish(package, team=team, actor=actor).version)
    return actor, versions


def _start(processes):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    environment = {**os.environ, "SKILLQUAY_PORT": port, "SKILLQUAY_WORKERS": str(processes)}
    command = [sys.executable, "manage.py", "up"]
    return subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stdout=subprocess.DEVNULL)


def _samples(options, supervisor, actor, versions):
    done = 0
    while done < options["runs"]:
        for _ in range(0, options["every"], BATCH):
            _batch(actor, versions)
            done += BATCH
        look = {"runs": done, **_resident_mb(supervisor)}
        print(f"  {look}", file=sys.stderr, flush=True)
        yield look


def _batch(actor, versions):
    for number in range(BATCH):
        version = versions[number % len(versions)]
        runs.request_run(actor=actor, version=version, request=Request(inputs={}))
    until = time.monotonic() + TIMEOUT_S
    while Run.objects.exclude(status__in=states.ENDED).exists():
        if time.monotonic() > until:
            raise SystemExit("the worker does not finish its runs")
        time.sleep(0.1)


def _resident_mb(supervisor):
    """Memory in MiB of supervisor, worker and the largest pool process; ``pool`` has the pool's pids."""
    worker = next(pid for pid in _children(supervisor) if b"celery" in _words(pid))
    pool = [pid for pid in _children(worker) if b"celery" in _words(pid)]
    return {
        "supervisor": _resident(supervisor),
        "worker": _resident(worker),
        "children": max(map(_resident, pool), default=0.0),
        "pool": sorted(pool),
    }


def _children(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _words(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _resident(pid):
    """Resident memory of a process in MiB; 0 if the process no longer exists."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


if __name__ == "__main__":
    main()
