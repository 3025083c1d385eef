"""``python -m tests.worker.retention.erasing_at_once``: people are erased while they decide, and two at once.

Prints a JSON object: of each race what each of the two did, or the exception that it met.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress

import django

MEET_S = 1.0  # for the other one to come as far: by then it is here, or waits for what we hold


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.models import Team

    Team.objects.create(slug="race", name="Race")
    print(json.dumps({race.__name__: race() for race in (of_one_who_decides, of_two_who_let_each_other)}))


def of_one_who_decides() -> list[str]:
    """Who is asked lets a run of their own start, and erases themselves in another window."""
    from worker.approvals import decide as deciding

    person("eve"), person("fay")
    publish("once")
    run, gate = queue_run("eve", "once"), threading.Barrier(2)
    let = deciding._allow

    def slowly(*arguments):
        meet(gate)  # the run is ours now, nothing is written yet
        meet(gate)
        return let(*arguments)

    deciding._allow = slowly

    def erase_when_it_is_locked():
        meet(gate)
        return erase("eve")

    did = both(lambda: decide(run, "eve"), erase_when_it_is_locked)
    deciding._allow = let
    return did


def of_two_who_let_each_other() -> list[str]:
    """Each has let a run of the other's start; both are erased at one moment."""
    from worker.approvals import erase as erasing

    person("gil"), person("hal")
    publish("other")
    hers, his = queue_run("gil", "other"), queue_run("hal", "other")
    decide(hers, "hal"), decide(his, "gil")
    gate, forget = threading.Barrier(2), erasing.erase_person

    def slowly(user):
        forget(user)
        meet(gate)

    erasing.erase_person = slowly
    return both(lambda: erase("gil"), lambda: erase("hal"))


def meet(gate: threading.Barrier) -> None:
    with suppress(threading.BrokenBarrierError):
        gate.wait(MEET_S)


def both(*deeds) -> list[str]:
    did = ["", ""]

    def do(number: int) -> None:
        try:
            did[number] = deeds[number]()
        except Exception as error:
            did[number] = f"{type(error).__name__}: {error}"
        finally:
            django.db.connection.close()

    threads = [threading.Thread(target=do, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return did


def actor(name: str):
    from registry.identity.actors import Actor
    from registry.models import User

    return Actor(user=User.objects.get(username=name))


def person(name: str) -> None:
    from registry.models import Membership, Role, Team, User

    user = User.objects.create_user(name)
    Membership.objects.create(team=Team.objects.get(), user=user, role=Role.OWNER)
    keeper, _ = User.objects.get_or_create(username="keeper", is_superuser=True)
    Membership.objects.get_or_create(team=Team.objects.get(), user=keeper, role=Role.OWNER)


def publish(slug: str) -> None:
    from registry.models import Team
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    head = f"---\nname: {slug}\ndescription: To race.\nversion: 1.0.0\nallowed-tools: [Bash]\n---\n"
    files = [("SKILL.md", head.encode()), ("scripts/main.py", b"print('{}')\n")]
    publish(read_files(files), team=Team.objects.get(), actor=actor("keeper"))


def queue_run(name: str, slug: str) -> str:
    from datetime import timedelta

    from django.utils import timezone

    from registry.identity import tokens
    from registry.identity.actors import Actor
    from registry.models import Version
    from worker.protocols.call import Request
    from worker.runs.request import request_run

    who = actor(name)
    ends = timezone.now() + timedelta(days=1)
    token, _ = tokens.issue(who.user, name="agent", scopes=["run"], expires_at=ends, by=who)
    agent = Actor(user=who.user, token=token, scopes=frozenset({"run"}))
    return request_run(actor=agent, version=Version.objects.get(skill__slug=slug), request=Request()).uid


def decide(uid: str, name: str) -> str:
    from worker.approvals import decide as deciding
    from worker.approvals import requests
    from worker.models import ApprovalDecision

    who = actor(name)
    return deciding.decide(requests.find(uid, who), ApprovalDecision.ONCE, who).status


def erase(name: str) -> str:
    from registry.erasure.people import erase_person

    who = actor(name)
    return "erased" if erase_person(who.user, who).erased_at else "kept"


if __name__ == "__main__":
    main()
