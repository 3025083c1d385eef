"""A growing catalog and the time of each search in it, in a process with a site of its own."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gzip
import json
import sys
import time
from itertools import count, islice

import django

django.setup()

from django.core.management import call_command
from django.db import connection, transaction

from registry import indexing
from registry.actors import administrator_actor
from registry.models import Posting, Skill, Team, Version
from registry.packages.package import Manifest
from registry.search import search

_AT_ONCE = 250


def main():
    asked = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    skills = _skills(_rows(asked["corpus"]))
    queries = [row["query"] for row in _rows(asked["queries"])]
    team, measured = Team.objects.create(slug="bench", name="Bench"), []
    for size in sorted(asked["skills"]):
        while (there := Skill.objects.count()) < size:
            _fill(team, islice(skills, min(_AT_ONCE, size - there)))
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        times = [_timed(query) for _ in range(asked["rounds"]) for query in queries]
        measured.append({"skills": size, "postings": Posting.objects.count(), "times": times})
        print(f"{size} skills measured", file=sys.stderr, flush=True)
    print(json.dumps(measured))


def _rows(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def _skills(rows):
    """The corpus, then over again, each copy with another's description, tags and body."""
    for turn in count():
        for place, row in enumerate(rows):
            other, third = rows[(place + turn * 7) % len(rows)], rows[(place + turn * 13) % len(rows)]
            slug = f"{row['slug'][:58]}-{turn}" if turn else row["slug"]
            manifest = Manifest(
                slug=slug,
                name=row["name"],
                display_name=row["display"],
                description=other["description"],
                when_to_use=other["when_to_use"],
                tags=tuple(third["tags"]),
                keywords=tuple(third["keywords"]),
                category=third["category"],
            )
            yield manifest, third["body"]


@transaction.atomic
def _fill(team, skills):
    """What publishing writes for a search to read, without archives, files and audit."""
    for manifest, body in skills:
        skill, new = Skill.objects.get_or_create(
            team=team, slug=manifest.slug, defaults={"name": manifest.name[:200], "visibility": "public"}
        )
        if new:
            skill.latest = Version.objects.create(
                skill=skill, number="1.0.0", precedence="1", digest="", archive_size=0, manifest={}, body=body
            )
            indexing.index(skill, manifest, body)
            skill.save()


def _timed(query):
    """Milliseconds of the clock and of this process, in which SQLite runs too."""
    begun, worked = time.perf_counter(), time.process_time()
    search(query, administrator_actor())
    return [(time.perf_counter() - begun) * 1000, (time.process_time() - worked) * 1000]


if __name__ == "__main__":
    main()
