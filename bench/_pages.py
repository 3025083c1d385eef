"""Measures every page of a large site: queries, bytes, CPU time, and the first paint in chromium."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import logging
import os
import random
import sys
import time
from statistics import median

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import sync_playwright

from bench._bodies import serve
from bench._pages_site import TEAMS, WORDS, Site
from registry.models import Membership, Role, Skill, Team, Term, User
from tests.demo.pages import SKILL, TEAM, demo_pages, fill_records
from tests.demo.seed import seed
from worker.daily_runs.roll_up import figures_of, totals_of
from worker.failures import recount
from worker.failures.recording import failure_of
from worker.models import (
    DailyRuns,
    ErrorGroup,
    Notification,
    NotificationEvent,
    NotificationKind,
    Run,
    SkillRunCounter,
)

CHROMIUM = "/usr/bin/chromium"
SETTLE_MS = 300_000
_SKILL_PAGE = f"/skills/{TEAM}/{SKILL}/"
PAINTED = (
    "/", "/skills/", "/skills/?q=check+an+invoice", _SKILL_PAGE, f"{_SKILL_PAGE}run/", f"{_SKILL_PAGE}usage/",
    f"{_SKILL_PAGE}versions/", "/runs/", "/approvals/", "/schedules/", "/failures/", "/notifications/",
)  # fmt: skip


class LargeSite(Site):
    """The demo site with many more skills and runs. Alice owns the measured skill's team, and three others.

    A tenth of the runs belong to one skill, a twentieth were started by alice, and a fifth failed.
    """

    def __init__(self):
        seed()
        self.records = fill_records()
        self.dice = random.Random(18)
        self.member = User.objects.get(username="alice")
        self.admin = User.objects.get(username="root")
        self.teams = [
            Team.objects.get(slug=TEAM),
            *(Team.objects.create(slug=f"team{n}", name=f"Team {n}") for n in range(1, TEAMS)),
        ]
        for team in self.teams[1:4]:
            Membership.objects.create(team=team, user=self.member, role=Role.OWNER)
        self.version = Skill.objects.get(slug=SKILL, team__slug=TEAM).latest
        Term.objects.bulk_create([Term(text=word) for word in WORDS], ignore_conflicts=True)
        self.terms = dict(Term.objects.filter(text__in=WORDS).values_list("text", "pk"))
        counter, _ = SkillRunCounter.objects.get_or_create(
            skill=self.version.skill, defaults={"last_number": 0}
        )
        SkillRunCounter.objects.filter(pk=counter.pk).update(last_number=10_000)

    def _run(self, number, skill, run_number, now):
        run = super()._run(number, skill, run_number, now)
        run.version_number = ("1.0.0", "1.1.0", "1.2.0")[number // 10 % 3]
        failure = failure_of(run, run.status, run.failure_code, f"Step {number % 40} failed")
        run.error_key = failure.key if failure else ""
        return run

    def count(self):
        """Counts the runs per day and in groups, and notifies alice of some failures."""
        runs = Run.objects.filter(is_counted=False)
        days = figures_of(list(runs.values_list("pk", flat=True)))
        DailyRuns.objects.all().delete()
        DailyRuns.objects.bulk_create(
            DailyRuns(**key._asdict(), runs=each.runs, durations=dict(each.durations), outcomes=each.outcomes)
            for key, each in (days | totals_of(days)).items()
        )
        runs.update(is_counted=True)
        known = set(ErrorGroup.objects.values_list("key", flat=True))
        failed = {
            run.error_key: run
            for run in Run.objects.exclude(error_key="").exclude(error_key__in=known).order_by("pk")
        }
        ErrorGroup.objects.bulk_create(
            ErrorGroup(
                key=key, skill_id=run.skill_id, failure_code=run.failure_code, count=0,
                first_seen=run.finished_at, last_seen=run.finished_at,
            )
            for key, run in failed.items()
        )  # fmt: skip
        recount.recount(failed)
        self._notify(failed.values())

    def _notify(self, runs):
        events = NotificationEvent.objects.bulk_create(
            NotificationEvent(kind=NotificationKind.RUN_FAILED, at=run.finished_at, skill_id=run.skill_id,
                              team_id=run.team_id, run=run, expanded_at=run.finished_at)
            for run in list(runs)[:300]
        )  # fmt: skip
        Notification.objects.bulk_create(
            Notification(event=event, user=self.member, created_at=event.at) for event in events
        )


def measure(site):
    """Queries, bytes and CPU milliseconds of each page of alice or an administrator; the second request
    counts.
    """
    clients = {user.username: Client() for user in (site.member, site.admin)}
    for user in (site.member, site.admin):
        clients[user.username].force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    rows = []
    for path in demo_pages(site.records):
        client = clients["root" if path.startswith("/site/") else "alice"]
        answer = client.get(path)
        if answer.status_code != 200 or "html" not in answer["Content-Type"]:
            continue
        with CaptureQueriesContext(connection) as queries:
            started = time.process_time()
            size = len(client.get(path).getvalue())
            cpu_ms = (time.process_time() - started) * 1000
        row = {"path": path, "queries": len(queries), "kb": round(size / 1000, 1), "cpu_ms": round(cpu_ms)}
        rows.append(row | {"paint_ms": None})
    return rows, clients["alice"].cookies["sessionid"].value


def paint(rows, session, rounds):
    """Adds the median time of the first contentful paint in chromium, for the pages that people keep open."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright runs an event loop in this thread
    with serve() as (port, _pid), sync_playwright() as playwright:
        url = f"http://127.0.0.1:{port}"
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        context = browser.new_context(base_url=url, bypass_csp=True)  # for wait_for_function
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        page.set_default_timeout(SETTLE_MS)
        _settle(page)
        for row in rows:
            if row["path"] in PAINTED or (row["path"].startswith("/runs/") and row["path"].count("/") == 3):
                row["paint_ms"] = round(median(_paint(page, row["path"]) for _ in range(rounds)))
        browser.close()


def _settle(page):
    """Waits until the reaper, which first works through all that was created, lets sessions be written."""
    until = time.monotonic() + SETTLE_MS / 1000
    while time.monotonic() < until:
        started = time.monotonic()
        page.goto("/")
        if time.monotonic() - started < 3:
            return


def _paint(page, path):
    page.goto(path)
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")


def main():
    options = json.loads(sys.argv[1])
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["*"]
    settings.SKILLQUAY_RATE_LIMITS = dict.fromkeys(settings.SKILLQUAY_RATE_LIMITS, 0)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    call_command("migrate", verbosity=0)
    site = LargeSite()
    site.grow(options["skills"], options["runs"])
    site.count()
    print(f"{options['skills']} skills and {options['runs']} runs made", file=sys.stderr, flush=True)
    rows, session = measure(site)
    if options["rounds"]:
        paint(rows, session, options["rounds"])
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
