"""Measures how long a team's work takes while a hostile run of another team is running."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from datetime import timedelta
from statistics import median

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Role, Scope, Team, User

HELLO = 'import json\nprint(json.dumps({"hello": "world"}))\n'
KINDS = {
    "processes": """
import os
for _ in range(50):
    if os.fork() == 0:
        while True: pass
while True: pass
""",
    "disk": """
import os
while True:
    held = []
    try:
        for number in range(200):
            held.append(open(f"output/{number}", "wb", buffering=0))
            for _ in range(64): held[-1].write(bytes(1 << 20))
    except OSError:
        pass
    for file in held: os.unlink(file.name); file.close()
""",
    "memory": "held = []\nwhile True: held.append(b'x' * (8 << 20))\n",
    "files": """
import itertools, os
for number in itertools.count():
    try:
        open(f"output/{number}", "w").close()
    except OSError:
        for name in os.listdir("output"): os.unlink(f"output/{name}")
""",
    "output": "import os\nwhile True: os.write(1, b'x' * 65536)\n",
}
TIMEOUT_S = 120


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    site = _Site({name: _token(name) for name in ("red", "blue")})
    up = subprocess.Popen(
        [sys.executable, "manage.py", "up"], cwd=settings.BASE_DIR, stdout=subprocess.DEVNULL
    )
    try:
        site.wait()
        site.publish("blue", "hello", HELLO)
        for kind, script in KINDS.items():
            site.publish("red", kind, script)
        print(json.dumps(_measured(site, options["times"])))
    finally:
        up.terminate()
        up.wait()


def _token(name):
    user, team = User.objects.create_user(name), Team.objects.create(slug=name, name=name)
    Membership.objects.create(team=team, user=user, role=Role.OWNER)
    until = timezone.now() + timedelta(days=1)
    return tokens.issue(user, name="bench", scopes=Scope.values, expires_at=until, by=Actor(user=user))[1]


def _measured(site, times):
    site.work()  # warms up
    alone = _medians(site, times)
    before, least = shutil.disk_usage(settings.SKILLQUAY_VAR).free, []
    over = threading.Event()
    watcher = threading.Thread(target=_watch_disk, args=(least, over))
    watcher.start()
    rows = []
    for kind in KINDS:
        with _Hostile(site, kind) as hostile:
            beside = _medians(site, times)
        ratio = {name: round(beside[name] / alone[name], 2) for name in alone}
        rows.append({"kind": kind, "ms": beside, "ratio": ratio, "ended": hostile.endings()})
    over.set()
    watcher.join()
    share = round(min(least) / before, 4)
    return {"alone_ms": alone, "rows": rows, "server_errors": site.server_errors, "min_free_share": share}


def _medians(site, times):
    measured = [site.work() for _ in range(times)]
    return {name: round(median(one[name] for one in measured), 1) for name in measured[0]}


def _watch_disk(least, over):
    while not over.wait(0.01):
        least.append(shutil.disk_usage(settings.SKILLQUAY_VAR).free)


class _Hostile:
    """A context manager that keeps one hostile run active: when the run ends, it starts another."""

    def __init__(self, site, kind):
        self.site, self.kind, self.over, self.runs = site, kind, threading.Event(), []
        self.thread = threading.Thread(target=self._go_on)

    def __enter__(self):
        self.thread.start()
        time.sleep(1)
        return self

    def _go_on(self):
        while not self.over.is_set():
            run = self.site.ask("red", "/api/v1/runs", body={"skill": f"red/{self.kind}"})
            self.runs.append(run)
            while not self.over.wait(0.2) and run["status"] in ("queued", "running"):
                run = self.site.ask("red", f"/api/v1/runs/{run['id']}")
            self.runs[-1] = run

    def __exit__(self, *_error):
        self.over.set()
        self.thread.join()
        self.site.ask("red", f"/api/v1/runs/{self.runs[-1]['id']}/cancel", body={})
        time.sleep(1)

    def endings(self):
        return sorted({run["failure_code"] or run["status"] for run in self.runs})


class _Site:
    def __init__(self, tokens):
        self.tokens, self.server_errors, self.number = tokens, 0, itertools.count(1)
        self.url = f"http://127.0.0.1:{os.environ['SKILLQUAY_PORT']}"

    def wait(self):
        until = time.monotonic() + TIMEOUT_S
        while time.monotonic() < until:
            try:
                self.ask("blue", "/api/v1/me")
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("the site does not answer")

    def ask(self, team, path, *, body=None, kind="application/json"):
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        headers = {"Authorization": f"Bearer {self.tokens[team]}", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, data=content, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            self.server_errors += error.code >= 500
            raise SystemExit(f"{path}: {error.code} {error.read()[:500]!r}") from None

    def publish(self, team, slug, script, extra=b""):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            head = f"---\nname: {slug}\ndescription: For measuring.\nversion: 1.0.0\n---\n# {slug}\n"
            archive.writestr(f"{slug}/SKILL.md", head)
            archive.writestr(f"{slug}/scripts/{slug}.py", script)
            archive.writestr(f"{slug}/assets/data.bin", extra)
        path = f"/api/v1/packages?team={team}&visibility=private"
        self.ask(team, path, body=buffer.getvalue(), kind="application/zip")

    def work(self):
        """The milliseconds in which team ``blue`` publishes 200 kB, uploads 5 MiB and runs a script."""
        number = next(self.number)
        return {
            "publish": _timed(lambda: self.publish("blue", f"other-{number}", HELLO, os.urandom(200_000))),
            "upload": _timed(lambda: self.upload(os.urandom(5 << 20))),
            "run": _timed(self.run),
        }

    def upload(self, content):
        self.ask("blue", "/api/v1/inputs?name=data.bin", body=content, kind="application/octet-stream")

    def run(self):
        run = self.ask("blue", "/api/v1/runs?wait=60", body={"skill": "blue/hello"})
        if run["status"] != "succeeded":
            raise SystemExit(f"the run of the other team ended as {run['status']}: {run['message']}")


def _timed(action):
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
