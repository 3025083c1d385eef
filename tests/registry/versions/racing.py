"""``python -m tests.registry.versions.racing``: publishers that begin each round of each race at one moment.

In a round they publish the ``same`` version, ``other`` bytes as one version, or skills ``apart``; or in turn
the second of two renames the skill to which the first publishes, or purges or yanks what it downloads: a
``change``; or all load one skill in one person's name: it is ``used``. Prints a JSON object, by race a list
for each round: what each did, or the code or exception that it met. Fails unless each version is whole
afterwards and nothing is left over.
"""

from __future__ import annotations

import json
import multiprocessing
import os

import django

# Publishers and rounds of each.
RACES = {"same": (2, 5), "other": (2, 5), "change": (2, 9), "apart": (10, 1), "used": (6, 4)}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.models import Team
    from registry.storage import blobs
    from tests.registry.versions import whole

    Team.objects.get_or_create(slug="race", defaults={"name": "Race"})
    blobs.backend()
    outcomes = {kind: _outcomes(kind, publishers, rounds) for kind, (publishers, rounds) in RACES.items()}
    whole.check()
    print(json.dumps(outcomes))


def _outcomes(kind: str, publishers: int, rounds: int) -> list[list[str]]:
    django.db.connections.close_all()  # each child opens its own
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
    return [sorted(outcome for number, outcome in ended if number == wanted) for wanted in range(rounds)]


def race(kind, publisher, rounds, gate, said) -> None:
    for number in range(rounds):
        if kind == "change" and publisher == 0:
            for version in ("0.1.0", "0.2.0"):
                publish_skill(f"change-{number}", version, version)
        if kind == "used" and publisher == 0:
            publish_skill(f"used-{number}", "0.1.0", "# Report")
        gate.wait(30)
        said.put((number, outcome_of(kind, publisher, number)))


def outcome_of(kind: str, publisher: int, number: int) -> str:
    from registry.packages.problems import Refusal

    slug = f"{kind}-{number}" + (f"-{publisher}" if kind == "apart" else "")
    words = " ".join(f"word{(publisher * 7 + n) % 300}" for n in range(200))  # in another order for each
    try:
        if kind == "used":
            return used(slug)
        if kind == "change" and publisher:
            return CHANGES[number % len(CHANGES)](slug)
        if kind == "change" and number % len(CHANGES):
            return downloaded(slug)
        return publish_skill(slug, "1.0.0", words if kind != "same" else "# Report")
    except Refusal as refused:
        return refused.code
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def publish_skill(slug: str, version: str, body: str) -> str:
    from registry.identity.actors import administrator_actor
    from registry.models import Team
    from registry.versions.publishing.publish import publish
    from tests.registry.conftest import make_package

    package = make_package(slug, version=version, body=body)
    done = publish(package, team=Team.objects.get(slug="race"), actor=administrator_actor())
    return "created" if done.created else "again"


def downloaded(slug: str) -> str:
    from registry.storage import blobs

    blobs.read(_first(slug).digest)
    return "read"


def used(slug: str) -> str:
    from registry.usage.recording import record_use

    return "counted" if record_use(_first(slug).skill, "user:1", "load") else "held back"


def renamed(slug: str) -> str:
    from registry.identity.actors import administrator_actor
    from registry.versions.lifecycle.rename import rename

    rename(_first(slug).skill, administrator_actor(), slug=f"{slug}-b")
    return "renamed"


def purged(slug: str) -> str:
    from registry.identity.actors import administrator_actor
    from registry.versions.lifecycle.purge import purge_version

    purge_version(_first(slug), administrator_actor(), reason="It held a password.")
    return "purged"


def yanked(slug: str) -> str:
    from registry.identity.actors import administrator_actor
    from registry.versions.lifecycle.yank import yank

    yank(_first(slug), administrator_actor(), reason="Wrong.")
    return "yanked"


def _first(slug: str):
    from registry.identity.actors import administrator_actor
    from registry.lookup.skills import find_version_by_label

    return find_version_by_label(f"race/{slug}@0.1.0", administrator_actor())


CHANGES = (renamed, purged, yanked)


if __name__ == "__main__":
    main()
