"""Fills an empty site for screenshots: 6 people, 4 teams, 40 skills, 300 runs of every outcome.

Some runs are real: the site's worker executes them. The others are rows, spread over 30 days.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import cycle
from random import Random
from typing import Any

from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Skill, Team, UseKind, User, Version
from registry.pins.pins import pin
from registry.usage.recording import record_use
from registry.versions.lifecycle.yank import yank
from tests.demo import PASSWORD, SERVICE_ACCOUNT
from tests.demo.accounts import fill_accounts
from tests.demo.inbox import fill_inboxes
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from worker.models import Run, RunStatus

PEOPLE = ("alice", "bob", "charlie", "dana", "mei", "tom")
TEAMS = {"data-platform": "Data Platform", "finance": "Finance", "support": "Support"}
SKILLS = 40
RUNS = 300
# slug | display name | description | tags
_OWN = """
csv-profile | CSV profile | Counts rows, empty cells and distinct values of each column. | csv data
nightly-sync | Nightly sync | Copies changed records from the warehouse to the report store. | sync
invoice-check | Invoice check | Compares an invoice with its order and lists differences. | finance
expense-report | 报销单整理 | 整理报销单并核对金额，月底报销时使用。 | finance 报销
ticket-triage | Ticket triage | Sorts support tickets by product and urgency. | support tickets
reply-draft | Reply draft | Drafts a reply to a customer from notes. | support writing
log-search | Log search | Finds error lines in service logs and groups them. | logs errors
site-crawl | Site crawl | Checks the links of a site and lists broken ones. | web links
weekly-summary | 周报生成 | 根据任务记录生成周报。 | writing 周报
schema-diff | Schema diff | Compares two table schemas and lists breaking changes. | data schema
rate-lookup | Exchange rates | Converts an amount between currencies at a given rate. | finance
meeting-notes | 会议纪要 | 把会议记录整理成纪要和待办事项。 | writing 会议
image-resize | Image resize | Scales images to the widths that a page needs. | images
contract-dates | Contract dates | Lists the dates and notice periods of a contract. | legal
style-guide | Writing style | How texts of this company are written. | writing
on-call | On-call handbook | What to do first when a service alerts. | operations
forecast | Demand forecast | Projects next month's demand from past orders. | data orders
"""
_SCRIPT = """import json
print(json.dumps({"rows": 120, "columns": ["date", "city", "amount"], "empty": 3}))
"""
_FAILING = """import csv, io, sys
def read(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    print(f"Reading {len(rows)} rows", file=sys.stderr)
    return [row["date"] for row in rows]
for step in range(30):
    print(f"{step * 3}% complete", file=sys.stderr)
read("city,amount\\nBerlin,3\\n")
"""
_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "title": "File", "description": "Path of the file to read."},
        "limit": {"type": "integer", "minimum": 1, "default": 100, "description": "Rows to read at most."},
    },
}
_MAX_AGE = 29 * 24 * 60  # minutes; the first versions are older
_FILES = ("orders.csv", "customers.csv", "invoices-2026-10.csv", "tickets.json", "metrics.csv")
_FAILURES = (
    ("SCRIPT_FAILED", "failed", "KeyError: 'date'"),
    ("SCRIPT_FAILED", "failed", "ValueError: no column 'amount'"),
    ("TIMEOUT", "timed_out", "The run exceeded its time limit."),
    ("MEMORY_LIMIT", "failed", "The script exceeded its memory limit and was stopped."),
    ("OUTPUT_INVALID", "failed", "/rows: 'many' is not an integer"),
    ("WORKER_LOST", "lost", "The worker stopped responding during the run, so the outcome is unknown."),
)


def seed(runs: int = RUNS) -> dict[str, Any]:
    """Fills the site and returns the numbers of its skills and runs."""
    people = {name: _person(name) for name in PEOPLE}
    _person("newcomer")  # without a team
    teams = {slug: Team.objects.create(slug=slug, name=name) for slug, name in TEAMS.items()}
    roles = cycle((Role.MEMBER, Role.MAINTAINER, Role.VIEWER))
    for place, (name, user) in enumerate(people.items()):
        for slug in TEAMS if name == "alice" else list(TEAMS)[place % 3 :][:2]:
            role = Role.OWNER if name == "alice" else next(roles)
            Membership.objects.create(team=teams[slug], user=user, role=role)
    versions = _publish_all(teams, people["alice"])
    by = Actor(user=people["alice"])
    yank(versions[0].skill.versions.get(number="1.0.0"), by, reason="Counted empty cells twice.")
    pin(people["alice"], versions[0].skill)
    pin(people["alice"], versions[6].skill)
    fill_accounts(teams["data-platform"], by)
    _make_runs(versions, people | {"ci": User.objects.get(uid=SERVICE_ACCOUNT)}, runs)
    fill_inboxes(people, teams)
    return {"skills": Skill.objects.count(), "runs": Run.objects.count()}


def _rows() -> list[list[str]]:
    return [line.split(" | ") for line in _OWN.strip().splitlines()]


def _person(name: str) -> User:
    return User.objects.create_user(name, password=PASSWORD, must_change_password=False)


def _publish_all(teams: dict[str, Team], user: User) -> list[Version]:
    """Publishes one to three versions of each skill in the order of their dates; returns the latest ones."""
    latest = {}
    for minor in range(3):
        for place, row in enumerate(_rows()):
            if minor < 3 - place % 3:
                age = timedelta(days=30 - 9 * minor) - timedelta(hours=place)
                latest[row[0]] = _publish(row, teams, user, place, f"1.{minor}.0", timezone.now() - age)
    return list(latest.values())


def _publish(
    row: list[str], teams: dict[str, Team], user: User, place: int, number: str, at: datetime
) -> Version:
    slug, name, about, tags = row
    head = f"name: {slug}\ndisplayName: {name}\ndescription: {about}\nversion: {number}\n"
    head += f"tags: [{', '.join(tags.split())}]"
    body = f"# {name}\n\n{about}\n\n## How it works\n\n1. Reads the input.\n2. Reports.\n"
    files = {}
    if slug not in ("style-guide", "on-call", "reply-draft"):
        files["scripts/main.py"] = (_FAILING if slug == "nightly-sync" else _SCRIPT).encode()
        head += f"\ninput_schema: {json.dumps(_SCHEMA)}"
    files["SKILL.md"] = f"---\n{head}\n---\n{body}".encode()
    team, visibility = list(teams.values())[place % len(teams)], ("private", "site", "public")[place % 3]
    version = publish_files(files, team=team, user=user, visibility=visibility)
    Version.objects.filter(pk=version.pk).update(created_at=at)
    AuditEntry.objects.filter(action="version.publish", target=f"{version.skill}@{number}").update(at=at)
    return version


def _make_runs(versions: list[Version], people: dict[str, User], count: int) -> None:
    """Mostly successes, failures of each kind, and two that run; the newest last."""
    random = Random(7)
    now = timezone.now()
    runnable = [version for version in versions if version.files.filter(path="scripts/main.py").exists()]
    ages = sorted((min(random.expovariate(1 / 6000), _MAX_AGE) + 3 for _ in range(count)), reverse=True)
    for place, age in enumerate(ages):
        skill_version = runnable[min(int(random.expovariate(0.4)), len(runnable) - 1)]
        at = now - timedelta(minutes=age)
        version = random.choice(list(skill_version.skill.versions.filter(created_at__lt=at)))
        fields = _result(random) | {
            "created_at": at,
            "run_after": at,
            "started_at": at + timedelta(seconds=0.3),
        }
        fields["finished_at"] = at + timedelta(seconds=0.3 + random.lognormvariate(0.2, 0.9))
        if place >= count - 2:
            fields |= {"status": RunStatus.RUNNING, "finished_at": None, "result": None, "progress": 40}
            fields["lease_until"] = now + timedelta(hours=1)
        elif place % 5 == 4:
            fields |= _failure(place // 5)
        elif place % 37 == 6:
            fields |= {"status": RunStatus.CANCELLED, "failure_code": "CANCELLED", "result": None}
        caller = random.choice(list(people.values()))
        make_run(version, caller, version.skill.team, **fields)
        record_use(version.skill, Actor(user=caller).caller, UseKind.RUN, version=version.number, now=at)


def _result(random: Random) -> dict[str, Any]:
    inputs = {"path": random.choice(_FILES), "limit": random.randrange(10, 500, 10)}
    outputs = {"rows": random.randrange(20, 4000), "empty": random.randrange(9)}
    return {
        "request": {"inputs": inputs, "script": None, "stdin": None, "debug": False},
        "result": {"output": None, "outputs": outputs},
        "message": "",
        "progress": None,
    }


def _failure(place: int) -> dict[str, Any]:
    code, status, message = _FAILURES[place % len(_FAILURES)]
    kind, _, text = message.partition(": ") if code == "SCRIPT_FAILED" else (code, "", message)
    return {
        "status": status,
        "failure_code": code,
        "message": message,
        "exit_code": 1 if code == "SCRIPT_FAILED" else None,
        "result": None,
        "cause": {"type": kind, "message": text, "file": "", "line": None},
    }
