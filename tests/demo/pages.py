"""The addresses of all pages of the demo site that ``seed`` fills: each route, with the demo's records."""

from __future__ import annotations

import re

from registry.canonical.pins import set_canonical
from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from registry.models import Event, Import, Skill, Team, User, Version
from tests.addresses import filled, routes
from tests.demo import INVITATION, SERVICE_ACCOUNT, TOKEN
from tests.factories.runs import add_artifact, add_log, add_step
from worker.delivery import subscriptions
from worker.delivery.subscriptions import SubscriptionOptions
from worker.failures import recount
from worker.models import (
    ErrorGroup,
    Memory,
    MemoryWrite,
    NotificationKind,
    Run,
    RunBatchAction,
    RunStatus,
)
from worker.run_batches import change as run_batches
from worker.run_batches.selection import BatchRequest
from worker.schedules import change as schedules
from worker.schedules.change import ScheduleOptions
from worker.sharing.links import LinkOptions, create_link

TEAM, SKILL = "data-platform", "csv-profile"
SEARCHES = (
    "/skills/?q=report",
    "/skills/?q=zzzz",
    "/skills/?q=check+an+invoice",
    "/skills/?q=tea+on+mars",
    "/skills/?q=invoise",
    f"/skills/?team={TEAM}",
    "/skills/?sort=newest",
    "/skills/?page=2",
    "/skills/match/test/?q=check+an+invoice",
    "/find/?q=csv",
    "/docs/?q=secret",
    "/runs/?status=failed",
    f"/runs/?skill={TEAM}/{SKILL}",
    f"/runs/?team={TEAM}",
    f"/skills/{TEAM}/{SKILL}/runs/?version=1.0.0",
    "/runs/batches/new/?status=failure&action=repeat",
    "/runs/batches/new/?status=failure&version=1.1.0&failure_code=CODE_3&action=repeat",
    f"/schedules/new/?skill={TEAM}/{SKILL}",
)
SIGNED_OUT = ("/", "/skills/", "/sign-in/", "/skills/?q=report", "/skills/listing/", "/docs/")
_NOT_PAGES = re.compile(
    r"(api|static|hooks|clawhub|npm|sign-in/with|sign-in/passkey)/|account/export|live/events|site/sandbox|skills/listing/bundle|.*(\.git|/live)/"
)


def fill_records() -> dict[str, dict[str, str]]:
    """Creates records that ``seed`` does not create, and returns the parts of routes by the routes' start."""
    team, skill = Team.objects.get(slug=TEAM), Skill.objects.get(slug=SKILL, team__slug=TEAM)
    alice = User.objects.get(username="alice")
    by = Actor(user=alice)
    for _ in recount.group_earlier_runs():
        pass
    run, other = _runs(alice, skill)
    failed = Run.objects.filter(status=RunStatus.FAILED, team=team).exclude(error_key="").latest("pk")
    group = ErrorGroup.objects.get(key=failed.error_key)
    schedule = schedules.create(skill, ScheduleOptions(cron="0 6 * * 1-5", team=team), by)
    request = BatchRequest(RunBatchAction.REPEAT, {"skill": f"{TEAM}/{SKILL}"})
    batch = run_batches.create(request, by)
    options = SubscriptionOptions(channel="inbox", kinds=[NotificationKind.RUN_FAILED])
    subscription = subscriptions.create(options, by)
    link = create_link(run, LinkOptions(inputs=True, log=True, artifacts=True), by)[1]
    edit.create(team, "start", by, title="Start", chosen=[ChosenSkill(f"{TEAM}/{SKILL}")])
    administrator = Actor(user=User.objects.create_superuser("root"))
    public = Version.objects.filter(skill__visibility="public").latest("pk")
    set_canonical(public.skill.slug, public, administrator, reason="Most used")
    uid = {
        "account/tokens/": TOKEN,
        "events/": Event.objects.latest("pk").uid,
        "failures/": group.uid,
        "imports/": Import.objects.earliest("pk").uid,
        "memory/review/": MemoryWrite.objects.latest("pk").uid,
        "memory/": Memory.objects.latest("pk").uid,
        "notifications/settings/": subscription.uid,
        "runs/batches/": batch.uid,
        "schedules/": schedule.uid,
        "site/users/": alice.uid,
        "teams/": SERVICE_ACCOUNT,
    }
    found = {start: {"uid": value} for start, value in uid.items()}
    found["teams/"]["slug"] = TEAM
    run_parts = {"uid": run.uid, "other": other.uid, "path": "report.csv"}
    return found | {
        "canonical/": {"slug": public.skill.slug},
        "collections/": {"collection": "start"},
        "docs/reference/errors/": {"name": "NOT_FOUND"},
        "docs/": {"path": "start"},
        "join/": {"secret": INVITATION},
        "runs/": run_parts,
        "shared/": {"secret": link.rstrip("/").rpartition("/")[2]},
    }


def _runs(user: User, skill: Skill) -> tuple[Run, Run]:
    """A failed run with steps, a log and an artifact, and a succeeded one."""
    runs = Run.objects.filter(skill=skill)
    run, other = (runs.filter(status=each).latest("pk") for each in (RunStatus.FAILED, RunStatus.SUCCEEDED))
    Run.objects.filter(pk=run.pk).update(caller=user)
    run.refresh_from_db()
    add_log(run, ("stderr", "Reading orders.csv\nValueError: no column 'date'\n"))
    add_step(run, 1, "read", input={"path": "orders.csv"}, error="no column 'date'")
    add_artifact(run, "report.csv", b"a,b\n1,2\n")
    return run, other


def demo_pages(records: dict[str, dict[str, str]]) -> list[str]:
    """Every address of a page whose parts are known, for alice, who owns the teams."""
    values = {"team": TEAM, "slug": SKILL, "number": "1.2.0", "path": "SKILL.md"}
    values |= {"before": "1.0.0", "after": "1.2.0"}
    starts = sorted(records, key=len, reverse=True)
    paths = []
    for route in routes():
        start = next((start for start in starts if route.startswith(start)), "")
        parts = values | records.get(start, {})
        if not _NOT_PAGES.match(route) and set(re.findall(r"<\w+:(\w+)>", route)) <= set(parts):
            paths.append(f"/{filled(route, parts)}")
    return [*paths, *SEARCHES]
