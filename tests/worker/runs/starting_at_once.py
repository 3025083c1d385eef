"""``python -m tests.worker.runs.starting_at_once``: events of two teams start the same two skills at once.

The events rank the skills in opposite orders. Each waits up to 2 s after its first start, so that the other
event has one, too. Prints a JSON list of the outcome of each match, by team.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import Any

import django

SKILLS = ("one", "two")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    actors = {slug: prepare(slug) for slug in ("race", "rival")}
    publish(actors)
    gate, outcomes = threading.Barrier(2), dict[str, Any]()
    wait_after_first_start(gate)
    threads = [
        threading.Thread(target=receive, args=(slug, actor, outcomes)) for slug, actor in actors.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps([outcomes[slug] for slug in actors]))


def prepare(slug: str) -> Any:
    from registry.identity.actors import Actor
    from registry.models import Membership, Role, Team, User

    user = User.objects.create_user(slug)
    Membership.objects.create(team=Team.objects.create(slug=slug, name=slug), user=user, role=Role.OWNER)
    return Actor(user=user)


def publish(actors: dict[str, Any]) -> None:
    from registry.events.subscriptions import subscribe
    from registry.models import Team
    from registry.packages.read_package import read_files
    from registry.subscriptions import trusted_teams
    from registry.versions.publishing.publish import publish

    head = "---\nname: {}\ndescription: To race.\nversion: 1.0.0\ntriggers:\n  event_types: [filed]\n---\n"
    for slug in SKILLS:
        files = [("SKILL.md", head.format(slug).encode()), ("scripts/main.py", b"print('{}')\n")]
        team = Team.objects.get(slug="race")
        done = publish(read_files(files), team=team, actor=actors["race"], visibility="site")
        for name, actor in actors.items():
            subscriber = Team.objects.get(slug=name)
            subscribe(subscriber, done.version.skill, "filed", "start", actor=actor)
    trusted_teams.subscribe(Team.objects.get(slug="rival"), "race", actors["rival"])


def wait_after_first_start(gate: threading.Barrier) -> None:
    from registry.events import receive as receiving

    ranked, (start,), started = (
        receiving._declaring_skills,
        receiving.run_starter.receivers,
        set[str](),
    )

    def rank(type_: str, actor: Any) -> Any:
        skills = sorted(ranked(type_, actor), key=lambda skill: skill.slug)
        return skills if actor.user.username == "race" else skills[::-1]

    def start_and_wait(version: Any, event: Any, actor: Any) -> str:
        uid = start(version, event, actor)
        if event.uid not in started:
            started.add(event.uid)
            with contextlib.suppress(threading.BrokenBarrierError):
                gate.wait(2)
        return uid

    receiving._declaring_skills = rank
    receiving.run_starter.receivers[:] = [start_and_wait]


def receive(slug: str, actor: Any, outcomes: dict[str, Any]) -> None:
    from django.db import connection

    from registry.events.receive import IncomingEvent, receive
    from registry.models import Team

    try:
        done = receive(IncomingEvent("filed", {}), actor, team=Team.objects.get(slug=slug))
        outcomes[slug] = [(each.skill.slug, each.outcome) for each in done.event.matches.order_by("rank")]
    except Exception as error:
        outcomes[slug] = repr(error)
    finally:
        connection.close()


if __name__ == "__main__":
    main()
