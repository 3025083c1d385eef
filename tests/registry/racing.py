"""``python -m tests.registry.racing KIND PUBLISHERS ROUNDS``: publishers that begin each round at one moment.

In a round they publish the ``same`` version, ``other`` bytes as one version, or skills ``apart``.
Prints a JSON list for each round: "created", "again", or the code or exception that each publisher met.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys

import django


def main() -> None:
    kind, publishers, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry import storage
    from registry.models import Team

    Team.objects.get_or_create(slug="race", defaults={"name": "Race"})
    django.db.connections.close_all()  # each child opens its own
    storage.place()
    context = multiprocessing.get_context("fork")
    gate, said = context.Barrier(publishers), context.SimpleQueue()
    children = [
        context.Process(target=race, args=(kind, number, rounds, gate, said)) for number in range(publishers)
    ]
    for child in children:
        child.start()
    ended = [said.get() for _ in range(publishers * rounds)]
    for child in children:
        child.join()
    for wanted in range(rounds):
        print(json.dumps(sorted(outcome for number, outcome in ended if number == wanted)))


def race(kind, publisher, rounds, gate, said) -> None:
    for number in range(rounds):
        gate.wait(30)
        said.put((number, outcome_of(kind, publisher, number)))


def outcome_of(kind: str, publisher: int, number: int) -> str:
    from registry.actors import administrator_actor
    from registry.models import Team
    from registry.packages.problems import Refused
    from registry.publishing import publish
    from tests.registry.conftest import make_package

    slug = f"{kind}-{number}" + (f"-{publisher}" if kind == "apart" else "")
    words = " ".join(f"word{(publisher * 7 + n) % 300}" for n in range(200))  # in another order for each
    body = words if kind != "same" else "# Report"
    try:
        package = make_package(slug, version="1.0.0", body=body)
        done = publish(package, team=Team.objects.get(slug="race"), actor=administrator_actor())
    except Refused as refused:
        return refused.code
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "created" if done.created else "again"


if __name__ == "__main__":
    main()
