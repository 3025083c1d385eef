"""Measures a site while clients follow the logs of runs: the delay of lines, and page times."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import urllib.request
from datetime import timedelta
from pathlib import Path

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from bench._followers import Follower
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Role, Scope, Team, User
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish

SKILL = b"---\nname: ticker\ndescription: Prints lines with their time.\nversion: 1.0.0\n---\n# Ticker\n"
SCRIPT = b"""import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--pause", type=float)
options = parser.parse_args()
for number in range(10_000):
    print("line", number, time.time(), flush=True)
    time.sleep(options.pause)
"""
PAUSE_S = 0.25
TIMEOUT_S = 120


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    member = _Member()
    log = Path(settings.SKILLQUAY_VAR, "up.log")
    with log.open("wb") as file:
        up = subprocess.Popen([sys.executable, "manage.py", "up"], stdout=file, stderr=file)
    try:
        member.wait_for_site(log)
        web = _Web(int(re.findall(r"web started, pid (\d+)", log.read_text())[-1]))
        rounds = [_round(number, member, web, options) for number in range(options["rounds"])]
    finally:
        up.terminate()
        up.wait()
    print(json.dumps({"rounds": rounds}))


def _round(number, member, web, options):
    """The figures of one round: page requests while runs print lines, first without and then with
    followers.
    """
    uids = [member.start() for _ in range(options["runs"])]
    member.wait_until_all_run(uids)
    before = web.rss_mb()
    alone = _Pages(member, web, uids, for_s=options["seconds"]).look()
    dice = random.Random(number)
    followers = [
        Follower(
            *(settings.SKILLQUAY_PORT, uids[i % len(uids)], member.token, dice),
            stays=_stays(dice, options),
            cookie=member.cookie if i < options["pages"] else "",
        )
        for i in range(options["followers"])
    ]
    pages = _Pages(member, web, uids, for_s=options["seconds"])
    watching = threading.Thread(target=pages.look)
    watching.start()
    ending = threading.Timer(options["seconds"] + 3, lambda: [member.cancel(uid) for uid in uids])
    ending.start()
    asyncio.run(_all(followers, dice))
    watching.join()
    printed = {uid: member.printed(uid) for uid in uids}
    whole = sum(sorted(f.numbers) == printed[f.uid] for f in followers)
    _log(f"round {number + 1} of {options['rounds']}: {whole} of {len(followers)} received each line once")
    return {
        "alone": alone.figures(),
        "followed": pages.figures(),
        "rss_mb": {"before": before, "most": max(pages.rss), "high_water": web.high_water_mb()},
        "lines": sum(len(f.numbers) for f in followers),
        "lost": sum(len(set(printed[f.uid]) - set(f.numbers)) for f in followers),
        "doubled": sum(len(f.numbers) - len(set(f.numbers)) for f in followers),
        "refused": sum(f.refused for f in followers),
        "visits": sum(f.visits for f in followers),
        "looks": [look for f in followers for look in f.looks],
        "delays": [delay for f in followers for delay in f.delays],
    }


def _stays(dice, options):
    return [dice.uniform(1.0, options["seconds"] / (options["leaves"] + 1)) for _ in range(options["leaves"])]


async def _all(followers, dice):
    async def come(follower):
        await asyncio.sleep(dice.uniform(0, 3))
        await follower.follow()

    await asyncio.gather(*(come(follower) for follower in followers))


class _Member:
    """A user with a token, a session, and a team that has published ``SKILL``. Sends requests to the site."""

    def __init__(self):
        user = User.objects.create_user("bench", password=None)
        team = Team.objects.create(slug="bench", name="Bench")
        Membership.objects.create(team=team, user=user, role=Role.OWNER)
        actor = Actor(user=user)
        publish(read_files([("SKILL.md", SKILL), ("scripts/ticker.py", SCRIPT)]), team=team, actor=actor)
        expires_at = timezone.now() + timedelta(days=1)
        self.token = tokens.issue(user, name="bench", scopes=Scope.values, expires_at=expires_at, by=actor)[1]
        client = Client()
        client.force_login(user)
        self.cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"

    def ask(self, path, *, body=None, page=False):
        request = urllib.request.Request(f"http://127.0.0.1:{settings.SKILLQUAY_PORT}{path}")
        request.add_header(*(("Cookie", self.cookie) if page else ("Authorization", f"Bearer {self.token}")))
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.read()

    def start(self):
        inputs = {"pause": PAUSE_S}
        return json.loads(self.ask("/api/v1/runs", body={"skill": "bench/ticker", "inputs": inputs}))["id"]

    def cancel(self, uid):
        self.ask(f"/api/v1/runs/{uid}/cancel", body={})

    def printed(self, uid):
        log = self.ask(f"/runs/{uid}/log/?raw=1", page=True).decode()
        return [int(line.split()[1]) for line in log.splitlines() if line.startswith("line ")]

    def wait_for_site(self, log):
        def answers():
            try:
                return self.ask("/", page=True)
            except OSError:
                return False

        _until(answers, lambda: log.read_text()[-2000:])

    def wait_until_all_run(self, uids):
        status = lambda uid: json.loads(self.ask(f"/api/v1/runs/{uid}"))["status"]  # noqa: E731
        _until(lambda: all(status(uid) == "running" for uid in uids), lambda: "the runs do not start")


class _Web:
    def __init__(self, pid):
        self.pid = pid

    def rss_mb(self):
        return self._status("VmRSS")

    def high_water_mb(self):
        return self._status("VmHWM")

    def _status(self, name):
        text = Path(f"/proc/{self.pid}/status").read_text()
        return round(int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024, 1)

    def cpu_s(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Pages:
    """Opens one page after the other and samples the web process."""

    def __init__(self, member, web, uids, *, for_s):
        self.member, self.web, self.for_s = member, web, for_s
        self.paths = ["/", "/skills/", "/skills/bench/ticker/", "/runs/", f"/runs/{uids[0]}/?refresh=0"]
        self.times, self.rss, self.cpu = [], [], 0.0

    def look(self):
        begun, used = time.monotonic(), self.web.cpu_s()
        while time.monotonic() - begun < self.for_s:
            path = self.paths[len(self.times) % len(self.paths)]
            started = time.monotonic()
            self.member.ask(path, page=True)
            self.times.append((time.monotonic() - started) * 1000)
            self.rss.append(self.web.rss_mb())
            time.sleep(0.05)
        self.cpu = (self.web.cpu_s() - used) / (time.monotonic() - begun)
        return self

    def figures(self):
        return {"times": self.times, "cores": round(self.cpu, 3)}


def _until(done, why):
    deadline = time.monotonic() + TIMEOUT_S
    while not done():
        if time.monotonic() > deadline:
            raise SystemExit(why())
        time.sleep(0.2)


def _log(line):
    print(f"  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
