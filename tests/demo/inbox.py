"""Work that waits on the demo site: approvals, a held version, imports, events and memories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from registry.events import webhooks
from registry.events.receive import IncomingEvent, receive
from registry.events.subscriptions import subscribe
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import ImportStatus, Membership, Role, Scope, Source, Team, User, Version
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.factories.scan_samples import CERTAIN
from tests.factories.skills import publish_files
from worker.models import Memory, MemoryWrite, Run, RunStatus
from worker.protocols.call import Request
from worker.runs.request import request_run

_APPROVED = "allowed-tools: [Bash]\nsecurity: {network: allowlist, network_allowlist: [chat.example.com]}\n"
_SCRIPT = b'import json\nprint(json.dumps({"sent": 3}))\n'
_INPUTS: tuple[dict[str, Any], ...] = (
    {"channel": "#orders", "text": "Import of October's orders finished: 4,120 rows."},
    {"channel": "#orders", "text": "2 orders have no customer."},
    {"channel": "#on-call", "text": "The warehouse answers slowly."},
)
_MEMORIES = (
    ("preference", 4, "Reports use the date format 2026-11-22 and euros."),
    ("fact", 3, "The fiscal year starts in April."),
    ("event", 2, "The warehouse moved to the new cluster on 3 November."),
)


def fill_inboxes(people: dict[str, User], teams: dict[str, Team]) -> None:
    """Work for alice, who owns the teams, from the agents and members of the teams."""
    alice, team = people["alice"], teams["data-platform"]
    for name in ("bob", "dana"):
        Membership.objects.get_or_create(team=team, user=people[name], defaults={"role": Role.MAINTAINER})
    _approvals(people["bob"], team)
    _held_version(people["bob"], team)
    _imports(alice, team)
    _events(alice, people["dana"], team)
    _memories(alice, team)


def _approvals(user: User, team: Team) -> None:
    skill = _skill("notify", "Post a message", "Posts a message to a team channel.", _APPROVED, team, user)
    night, report = (make_agent(user, team, name) for name in ("night-agent", "report-agent"))
    for agent, inputs in zip((night, night, report), _INPUTS, strict=True):
        request_run(actor=agent, version=skill, request=Request(inputs=inputs))


def make_agent(user: User, team: Team, name: str) -> Actor:
    """A token of the user that may run skills of the team."""
    until = timezone.now() + timedelta(days=30)
    by = Actor(user=user)
    scopes = [Scope.READ, Scope.RUN]
    token, _secret = tokens.issue(user, name=name, scopes=scopes, expires_at=until, by=by, team=team)
    return Actor(user=user, token=token, scopes=frozenset(token.scopes))


def _held_version(user: User, team: Team) -> None:
    """A version with a finding of high confidence, published by another maintainer than alice."""
    _rule, files = CERTAIN["a password three lines below"]
    files = files | {"SKILL.md": files["SKILL.md"].replace(b"name: sample", b"name: desktop-export")}
    publish(read_files(list(files.items())), team=team, actor=Actor(user=user))


def _imports(user: User, team: Team) -> None:
    source = Source.objects.create(
        team=team,
        kind="git",
        location="https://git.example.org/data/skills.git",
        options={"branch": "main", "path": "skills"},
        interval_s=24 * 3600,
        next_at=timezone.now() + timedelta(hours=9),
        created_by=user,
    )
    report = source.imports.create(status=ImportStatus.DONE, total=4, processed=4, requested_by=user)
    report.finished_at = timezone.now()
    report.save()
    problem = {"code": "FRONT_MATTER_INVALID", "path": "SKILL.md", "line": 3, "severity": "error"}
    problem["params"] = {"reason": "a bracket is open"}
    report.rows.create(
        path="skills/schema-diff", outcome="published", skill=f"{team}/schema-diff", version="1.2.0"
    )
    report.rows.create(
        path="skills/csv-profile", outcome="unchanged", skill=f"{team}/csv-profile", version="1.2.0"
    )
    report.rows.create(
        path="skills/forecast", outcome="refused", skill=f"{team}/forecast", problems=[problem]
    )
    skipped = [{"code": "IMPORT_NO_SKILL_MD", "params": {}, "severity": "notice"}]
    report.rows.create(path="skills/docs", outcome="skipped", problems=skipped)
    other = Source.objects.create(
        team=team, kind="url", location="https://files.example.org/skills.zip", created_by=user
    )
    problems = [{"code": "IMPORT_EMPTY", "params": {"location": other.location}, "severity": "error"}]
    other.imports.create(
        status=ImportStatus.FAILED, problems=problems, requested_by=user, finished_at=timezone.now()
    )


def _events(owner: User, sender: User, team: Team) -> None:
    front = "triggers:\n  event_types: [orders.imported]\n"
    for slug, name in (("order-report", "Order report"), ("order-alert", "Order alert")):
        version = _skill(slug, name, "Summarizes imported orders.", front, team, owner)
    skill = version.skill
    subscribe(team, skill, "orders.imported", "start", actor=Actor(user=owner))
    webhooks.create(team, name="Warehouse", prefix="warehouse.", actor=Actor(user=owner))
    receive(IncomingEvent("orders.imported", {"rows": 4120}, "evt_1"), Actor(user=sender), team=team)
    receive(IncomingEvent("stock.low", {"item": "A-12"}, "evt_2"), Actor(user=sender), team=team)


def _memories(user: User, team: Team) -> None:
    now = timezone.now()
    run = Run.objects.filter(team=team, status=RunStatus.SUCCEEDED).latest("pk")
    for place, (kind, importance, text) in enumerate(_MEMORIES):
        owner = {"owner_type": "user", "owner_user": user, "type": kind, "importance": importance}
        Memory.objects.create(
            **owner,
            content=text,
            owner_key=f"user:{user.pk}",
            content_key=str(place),
            skill_label=run.skill_label,
            version_number=run.version_number,
            created_at=now,
            updated_at=now,
        )
        MemoryWrite.objects.create(
            owner_type="group",
            owner_team=team,
            type=kind,
            importance=importance,
            content=text,
            run=run,
            attempt=1,
            seq=place,
            state="waiting",
            created_at=now,
        )


def _skill(slug: str, name: str, about: str, front: str, team: Team, user: User) -> Version:
    head = f"name: {slug}\ndisplayName: {name}\ndescription: {about}\nversion: 1.0.0\n{front}"
    text = f"---\n{head}---\n# {name}\n\n{about}\n"
    files = {"SKILL.md": text.encode(), "scripts/main.py": _SCRIPT}
    version = publish_files(files, team=team, user=user)
    return Version.objects.select_related("skill__team").get(pk=version.pk)
