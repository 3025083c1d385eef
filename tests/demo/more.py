"""Fills the pages that people see less often: a canonical version, a collection, saved views, an import in
progress, runs with images, and runs of one agent that wait for approval.
"""

from __future__ import annotations

import struct
import zlib
from datetime import timedelta

from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from registry.models import Event, Import, ImportStatus, Skill, Source, Team, User
from tests.checks import not_none
from tests.demo.inbox import make_agent
from tests.factories.runs import add_artifact, make_run
from tests.factories.skills import publish_files
from worker.failures.recount import group_earlier_runs
from worker.models import Memory, MemoryWrite
from worker.protocols.call import Request
from worker.runs.request import request_run
from worker.saved_views.saved_views import save_view

_WAITING = 8  # runs of one agent


def fill_more() -> dict[str, str]:
    """Adds the rows to a seeded site, and returns the pages' addresses by name."""
    alice, bob = (User.objects.get(username=name) for name in ("alice", "bob"))
    team = Team.objects.get(slug="data-platform")
    by = Actor(user=alice)
    _set_canonical("invoice-check")
    chosen = [ChosenSkill.parse(f"{each}") for each in team.skills.order_by("pk")[:4]]
    edit.create(team, "month-end", by, title="Month end", description="What the close needs.", chosen=chosen)
    save_view(alice, "Failures of CSV profile", "skill=data-platform%2Fcsv-profile&status=failure")
    save_view(alice, "Agents, last week", "caller=agents&since=7d")
    source = Source.objects.create(
        team=team, kind="git", location="https://git.example.org/tools.git", created_by=alice
    )
    report = Import.objects.create(
        source=source,
        requested_by=alice,
        status=ImportStatus.RUNNING,
        total=24,
        processed=9,
        started_at=timezone.now(),
    )
    for slug in ("log-search", "rate-lookup"):
        report.rows.create(
            path=f"skills/{slug}", outcome="published", skill=f"{team}/{slug}", version="1.0.0"
        )
    waiting = team.skills.get(slug="notify").latest
    agent = make_agent(bob, team, "month-end-agent")
    for number in range(_WAITING):
        inputs = {"channel": "#orders", "text": f"Invoice {4120 + number} has no customer."}
        request_run(actor=agent, version=not_none(waiting), request=Request(inputs=inputs))
    done = Import.objects.filter(status=ImportStatus.DONE).latest("pk")
    failed = Import.objects.filter(status=ImportStatus.FAILED).latest("pk")
    waiting_write = MemoryWrite.objects.filter(state="waiting").earliest("pk")
    list(group_earlier_runs())
    return {
        "canonical-one": "/canonical/invoice-check/",
        "collection": f"/collections/{team.slug}/month-end/",
        "collection-edit": f"/collections/{team.slug}/month-end/edit/",
        "import-running": f"/imports/{report.uid}/",
        "import-done": f"/imports/{done.uid}/",
        "import-failed": f"/imports/{failed.uid}/",
        "event": f"/events/{Event.objects.earliest('pk').uid}/",
        "memory-one": f"/memory/{Memory.objects.earliest('pk').uid}/",
        "memory-proposal": f"/memory/review/{waiting_write.uid}/",
        "compare-images": _compared_images(alice, team),
    }


def _set_canonical(slug: str) -> None:
    latest = Skill.objects.get(slug=slug).latest
    administrator = Actor(user=User.objects.get(username="admin"))
    set_canonical(slug, not_none(latest), administrator, reason="Our handbook names this skill.")


def _compared_images(user: User, team: Team) -> str:
    """The comparison of two runs whose images differ."""
    front = "---\nname: sales-map\ndisplayName: Sales map\ndescription: Draws sales.\nversion: 1.0.0\n---\n"
    version = publish_files(
        {"SKILL.md": front.encode(), "scripts/main.py": b"print(1)\n"}, team=team, user=user
    )
    runs = []
    for month, level in (("October", 90), ("November", 180)):
        now = timezone.now()  # so that no run with a smaller id is newer
        start = now - timedelta(seconds=2)
        times = {"created_at": start, "run_after": start, "started_at": start, "finished_at": now}
        run = make_run(version, user, team, request={"inputs": {"month": month}}, **times)
        add_artifact(run, "map.png", _gradient(480, 270, level))
        add_artifact(run, "regions.csv", f"region,sales\nNorth,{level}\nSouth,40\n".encode())
        runs.append(run)
    return f"/runs/{runs[0].uid}/compare/{runs[1].uid}/"


def _gradient(width: int, height: int, level: int) -> bytes:
    """A PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (
        b"\0" + bytes(n for x in range(width) for n in (x * 255 // width, y * 255 // height, level))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
