"""``python -m tests.worker.queue.claiming_at_once``: four processes claim and end runs until none is left.

Meanwhile a team goes. Prints a line of JSON for each claim, ``[player, team, run, of its team at once,
when]``, and one for each exception that a player met.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import traceback
from functools import partial
from typing import Any

import django

from tests.checks import not_none

PLAYERS = 4
QUEUED = {"much": 50, "little": 10, "held": 8, "going": 6, None: 10}  # team → runs, in this order


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.storage import blobs

    queue_run()
    django.db.connections.close_all()  # each child opens its own
    blobs.backend()
    context = multiprocessing.get_context("fork")
    gate, said = context.Barrier(PLAYERS + 1), context.SimpleQueue()
    players = [context.Process(target=play, args=(number, gate, said)) for number in range(PLAYERS)]
    players.append(context.Process(target=end_a_team, args=(gate, said)))
    for player in players:
        player.start()
    left = len(players)
    while left:
        if (told := said.get()) is None:
            left -= 1
        else:
            print(json.dumps(told))
    for player in players:
        player.join()


def queue_run() -> None:
    from django.utils import timezone

    from registry.models import Team
    from worker.models import Run, RunStatus, TeamLimits

    now = timezone.now()
    queued = {"request": {}, "status": RunStatus.QUEUED, "run_after": now, "created_at": now}
    teams = {slug: Team.objects.create(slug=slug, name=slug) if slug else None for slug in QUEUED}
    TeamLimits.objects.create(team=not_none(teams["held"]), concurrent_runs=1)
    Run.objects.bulk_create(
        Run(skill_label="a/b", team=teams[slug], **queued)
        for slug, count in QUEUED.items()
        for _ in range(count)
    )


def play(number: int, gate, said) -> None:
    from worker.executors.conductor import _retry_on_database_error
    from worker.models import Run, RunStatus
    from worker.queue import claims, states
    from worker.quotas import team_limits

    gate.wait(60)
    try:
        until = time.monotonic() + 20
        while Run.objects.filter(status=RunStatus.QUEUED).exists() and time.monotonic() < until:
            if (claim := claims.claim_next(f"here:{number}")) is None:
                time.sleep(0.005)  # what is left is of a team that may not have more at once
                continue
            team_id: Any = claim.team_id  # None is a lookup that the stubs of Django lack
            running = Run.objects.filter(team_id=team_id, status=RunStatus.RUNNING)
            slug, at_once, when = team_of(team_id), running.count(), time.time()
            said.put([number, slug, claim.run_id, at_once, when])

            def end(claim=claim):
                count = partial(team_limits.count_cpu, claim.team_id, 0.01)
                return states.finish(claim, states.Verdict(RunStatus.SUCCEEDED), write=count)

            assert _retry_on_database_error(end)
    except Exception:
        said.put(traceback.format_exc())
    said.put(None)


def team_of(key: Any) -> str | None:
    from registry.models import Team

    return Team.objects.filter(pk=key).values_list("slug", flat=True).first()


def end_a_team(gate, said) -> None:
    from django.db import DatabaseError

    from registry.models import Team

    gate.wait(60)
    for _ in range(20):
        try:
            time.sleep(0.02)
            Team.objects.filter(slug="going").delete()
            break
        except DatabaseError:
            continue
    said.put(None)


if __name__ == "__main__":
    main()
