"""Measures writes by several processes at once, with and without the triggers of change numbers."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import itertools
import json
import sys
import time
from multiprocessing import get_context

import django

django.setup()

from django.core.management import call_command
from django.db import OperationalError, connection

from registry.changes import install
from registry.identity.actors import Actor
from registry.models import Skill, Team, User, Visibility
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish

_AUTHOR = "author"


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    User.objects.create_superuser(_AUTHOR, password=None)
    for number in range(options["publishers"]):
        Team.objects.create(slug=f"team{number}", name=f"Team {number}")
    publishers = [_Publisher(number) for number in range(options["publishers"])]
    rounds = []
    for number in range(options["rounds"]):
        orders = [("with", "without"), ("without", "with")]
        rounds.append(
            {kind: _compare(publishers, kind, orders[number % 2], options["seconds"]) for kind in _WRITES}
        )
        print(f"  round {number + 1} of {options['rounds']}", file=sys.stderr, flush=True)
    for publisher in publishers:
        publisher.close()
    print(json.dumps({"database": connection.vendor, "rounds": rounds}))


def _compare(publishers, kind, order, seconds):
    """The figures with and without triggers, measured in this order."""
    found = {}
    for name in order:
        if name == "with":
            install.install(connection)
        else:
            install.drop(connection)
        for publisher in publishers:
            publisher.ours.send((kind, seconds))
        counts = [publisher.ours.recv() for publisher in publishers]
        found[name] = {
            "rate": sum(written for written, _ in counts) / seconds,
            "refused_by_locks": sum(refused for _, refused in counts),
        }
    return {name: found[name] for name in sorted(found)}


class _Publisher:
    """A process that writes to its own skill."""

    def __init__(self, number):
        context = get_context("spawn")
        self.ours, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, number))
        self.process.start()
        self.ours.recv()  # it has published its skill

    def close(self):
        self.ours.send(None)
        self.process.join()


def _serve(pipe, number):
    """Writes for as long as requested; answers with the number of writes and of those that locks refused."""
    writes = {kind: make(number) for kind, make in _WRITES.items()}
    writes["publication"]()
    pipe.send(None)
    while request := pipe.recv():
        kind, seconds = request
        end, written, refused = time.monotonic() + seconds, 0, 0
        while time.monotonic() < end:
            try:
                writes[kind]()
                written += 1
            except OperationalError:  # for example a deadlock
                refused += 1
        pipe.send((written, refused))


def _publication(number):
    """A function that publishes a version of the process's skill."""
    actor, team = Actor(user=User.objects.get(username=_AUTHOR)), Team.objects.get(slug=f"team{number}")
    versions = itertools.count(1)

    def write():
        name, version = f"skill-{number}", f"1.0.{next(versions)}"
        head = f"---\nname: {name}\ndescription: Reads files, number {number}.\nversion: {version}\n---\n"
        files = read_files([("SKILL.md", f"{head}# Bench\n".encode())])
        publish(files, team=team, actor=actor, visibility=Visibility.PUBLIC)

    return write


def _change(number):
    """A function that changes a column of the process's skill, in a transaction of its own."""
    values = itertools.count(1)
    rows = Skill.objects.filter(slug=f"skill-{number}")
    return lambda: rows.update(priority=next(values))


_WRITES = {"publication": _publication, "change of one row": _change}

if __name__ == "__main__":
    main()
