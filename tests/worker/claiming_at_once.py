"""``python -m tests.worker.claiming_at_once``: four processes that claim and end runs until none is left.

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

import django

PLAYERS = 4
QUEUED = {"much": 50, "little": 10, "held": 8, "going": 6, None: 10}  # team → runs, in this order


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry import storage

    ask()
    django.db.connections.close_all()  # each child opens its own
    storage.place()
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


def ask() -> None:
    from django.utils import timezone

    from registry.models import Team
    from worker.models import Run, Status, TeamLimits

    now = timezone.now()
    queued = {"request": {}, "status": Status.QUEUED, "run_after": now, "created_at": now}
    teams = {slug: Team.objects.create(slug=slug, name=slug) if slug else None for slug in QUEUED}
    TeamLimits.objects.create(team=teams["held"], concurrent_runs=1)
    Run.objects.bulk_create(
        Run(skill_label="a/b", team=teams[slug], **queued)
        for slug, count in QUEUED.items()
        for _ in range(count)
    )


def play(number: int, gate, said) -> None:
    from worker import states, team_limits
    from worker.execution import _insistently
    from worker.models import Run, Status

    gate.wait(60)
    try:
        until = time.monotonic() + 20
        while Run.objects.filter(status=Status.QUEUED).exists() and time.monotonic() < until:
            if (claim := states.claim_next(f"here:{number}")) is None:
                time.sleep(0.005)  # what is left is of a team that may not have more at once
                continue
            running = Run.objects.filter(team_id=claim.team_id, status=Status.RUNNING)
            slug, at_once, when = team_of(claim.team_id), running.count(), time.time()
            said.put([number, slug, claim.run_id, at_once, when])

            def end(claim=claim):
                count = partial(team_limits.count_cpu, claim.team_id, 0.01)
                return states.finish(claim, states.Verdict(Status.SUCCEEDED), write=count)

            assert _insistently(end)
    except Exception:
        said.put(traceback.format_exc())
    said.put(None)


def team_of(key: int | None) -> str | None:
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
