"""``python -m tests.registry.transfer.fill SKILLS RUNS``: fills the site of the environment."""

from __future__ import annotations

import os
import sys
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from registry.audit_chain.links import link_pending  # noqa: E402
from registry.identity import site_key  # noqa: E402
from registry.identity.actors import Actor  # noqa: E402
from registry.models import Team, User  # noqa: E402
from registry.versions.publishing.publish import publish  # noqa: E402
from tests.registry.conftest import make_package  # noqa: E402
from worker.models import Attempt, LogChunk, Run  # noqa: E402

WORDS = ["budget", "report", "invoice", "harbour", "weather", "chart", "北京", "天气", "表格", "archive"]
_BATCH = 1000
_OUTPUT = b"done \xff\n" * 20


def main(skills: int, runs: int) -> None:
    site_key.record()
    user = User.objects.create_superuser("admin", password="not-used-here")
    team = Team.objects.create(slug="docs", name="Docs")
    versions = []
    for number in range(skills):
        words = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 5, 7)]
        package = make_package(f"skill-{number}", description=f"Makes {' '.join(words)} {number}.")
        versions.append(publish(package, team=team, actor=Actor(user=user)).version)
    for start in range(0, runs, _BATCH):
        _add_runs(range(start, min(runs, start + _BATCH)), versions, team, user)
    link_pending()


def _add_runs(numbers: range, versions: list, team: Team, user: User) -> None:
    now = timezone.now()
    rows = []
    for number in numbers:
        version = versions[number % len(versions)]
        rows.append(
            Run(
                skill_id=version.skill_id,
                skill_label=f"docs/{number}",
                version_number=version.number,
                digest=version.digest,
                team=team,
                caller=user,
                number=number // len(versions) + 1,
                request={"inputs": {"z": number, "a": [1.0, None, "雪"]}},
                result={"outputs": {"rows": number, "share": number / 7}},
                status="succeeded",
                run_after=now,
                created_at=now + timedelta(milliseconds=number),
            )
        )
    made = Run.objects.bulk_create(rows)
    Attempt.objects.bulk_create(
        Attempt(run=run, number=1, worker="w", started_at=now, finished_at=now) for run in made
    )
    LogChunk.objects.bulk_create(
        LogChunk(run=run, attempt=1, seq=1, stream="stdout", offset=0, data=_OUTPUT) for run in made
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
