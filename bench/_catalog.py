"""A catalog in a process with a site of its own, asked the queries of a file: what it answers, how fast."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from functools import cache
from itertools import count, islice

import django

django.setup()

from django.core.management import call_command
from django.db import connection, transaction

from registry import bulk, facets, indexing, matching, search, words
from registry.actors import administrator_actor
from registry.models import Posting, Skill, Tag, Team, Term, TermScope, Version
from registry.packages.manifest import manifest_document
from registry.packages.package import Manifest, Triggers

_AT_ONCE = 500


def main():
    asked = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    rows, queries = _rows(asked["corpus"]), _rows(asked["queries"])
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA cache_size = -1000000")  # while it is filled
    catalog = Catalog(_skills(rows), actor=administrator_actor())
    measured = []
    for size in asked["skills"] or [len(rows)]:
        catalog.grow(size)
        verbs = {
            name: [catalog.times(ask, queries) for _ in range(asked["rounds"])] for name, ask in VERBS.items()
        }
        found = catalog.found(queries) if asked["answers"] else []
        measured.append({"skills": size, "postings": Posting.objects.count(), "times": verbs, "found": found})
        print(f"{size} skills measured", file=sys.stderr, flush=True)
    print(json.dumps(measured))


def _match(text, actor):
    return matching.match(matching.Request(text), actor)


def _search(text, actor):
    return search.search(text, actor)


def _faceted(text, actor):
    return search.search(text, actor), facets.facets(text, search.Filters(), actor)


VERBS = {"match": _match, "search": _search, "search_with_facets": _faceted}


class Catalog:
    """Filled by the code that publishing calls for a skill's terms, its rows written by the thousand."""

    def __init__(self, skills, *, actor):
        self.skills, self.actor = skills, actor
        self.team = Team.objects.create(slug="bench", name="Bench")
        self.terms, self.counts = {}, Counter()

    def grow(self, size):
        (found,) = Posting._meta.indexes
        with connection.schema_editor() as editor:
            editor.remove_index(Posting, found)  # made anew when all is written, which is quicker
        while (there := Skill.objects.count()) < size:
            self._fill(islice(self.skills, min(_AT_ONCE, size - there)))
        with connection.schema_editor() as editor:
            editor.add_index(Posting, found)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")

    @transaction.atomic
    def _fill(self, drafts):
        skills, postings, tags = [], [], []
        for manifest, body in drafts:
            skill = Skill.objects.create(
                team=self.team, slug=manifest.slug, name=manifest.name[:200], visibility="public",
                description=manifest.description, search_scope="public", category=manifest.category,
                name_key=words.key(manifest.display_name)[:200], indexed_as=indexing.RULES,
            )  # fmt: skip
            skill.latest = Version.objects.create(
                skill=skill, number="1.0.0", precedence="1", digest="", archive_size=0,
                manifest=manifest_document(manifest), body="",
            )  # fmt: skip
            skills.append(skill)
            tags += [Tag(skill=skill, text=tag[:120]) for tag in set(manifest.tags)]
            postings.append((skill, indexing.postings_of(manifest, body)))
            indexing.write_triggers(skill, manifest)
        Skill.objects.bulk_update(skills, ["latest"])
        Tag.objects.bulk_create(tags, ignore_conflicts=True)
        self._write(postings)

    def _write(self, postings):
        new = {text for _, found in postings for text in found if text not in self.terms}
        first = (Term.objects.order_by("-pk").values_list("pk", flat=True).first() or 0) + 1
        self.terms |= {text: key for key, text in enumerate(sorted(new), first)}
        bulk.insert(Term, ("id", "text"), [(self.terms[text], text) for text in new])
        rows = (
            (skill.pk, self.terms[text], weight, int(mask), "public")
            for skill, found in postings
            for text, (weight, mask) in found.items()
        )
        bulk.insert(Posting, ("skill_id", "term_id", "weight", "field_mask", "scope"), rows)
        counts = Counter(self.terms[text] for _, found in postings for text in found)
        rows = ((key, "public", df) for key, df in counts.items())
        added = "ON CONFLICT (term_id, scope) DO UPDATE SET df = registry_termscope.df + EXCLUDED.df"
        bulk.insert(TermScope, ("term_id", "scope", "df"), rows, on_conflict=added)

    def times(self, ask, queries):
        """Milliseconds of the clock and of this process, in which SQLite runs too, for each query."""
        return [self._timed(ask, row["query"]) for row in queries]

    def _timed(self, ask, text):
        begun, worked = time.perf_counter(), time.process_time()
        ask(text, self.actor)
        return [(time.perf_counter() - begun) * 1000, (time.process_time() - worked) * 1000]

    def found(self, queries):
        return [[row.skill.slug for row in _match(each["query"], self.actor).rows] for each in queries]


def _rows(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def _skills(rows):
    """The corpus, then over again, each copy with another's description, tags and body."""
    words.terms = _kept(words.terms)
    for turn in count():
        for place, row in enumerate(rows):
            other, third = rows[(place + turn * 7) % len(rows)], rows[(place + turn * 13) % len(rows)]
            manifest = Manifest(
                slug=f"{row['slug'][:58]}-{turn}" if turn else row["slug"],
                name=row["name"],
                display_name=row["display"],
                description=other["description"],
                when_to_use=other["when_to_use"],
                tags=tuple(third["tags"]),
                keywords=tuple(third["keywords"]),
                category=third["category"],
                triggers=Triggers(phrases=tuple(other["phrases"])),
            )
            yield manifest, third["body"]


def _kept(terms):
    """Texts come again in the copies: each is cut into terms once."""
    return cache(lambda text: tuple(terms(text)))


if __name__ == "__main__":
    main()
