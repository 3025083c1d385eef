"""Measures match and search with queries from a file, in a catalog with its own site and process."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gc
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

from registry.canonical import pinned_postings
from registry.core import search_terms, sql
from registry.identity.actors import ANONYMOUS, Actor, administrator_actor
from registry.index import postings as indexing
from registry.matching import match as matching
from registry.models import (
    Canonical,
    Membership,
    Posting,
    Role,
    Skill,
    Tag,
    Team,
    Term,
    TermScope,
    Trigger,
    User,
    Version,
)
from registry.packages.manifest.manifest import manifest_document
from registry.packages.package import Manifest, Triggers
from registry.search import facets, query

_AT_ONCE = 500
_INDEXED = 10_000  # number of skills that are tokenized; larger catalogs contain copies of their rows
# Number of teams by visibility; the member is in the first three.
_TEAMS = {"private": 1, "site": 1, "public": 8}
_TYPES, _PROFILES = ("direct", "static", "service"), ("agentskills", "apexbridge", "single-file")
_LONG = 600  # number of words of the long utterance
_MOVED = (
    "CASE WHEN weight % 4096 > 60 THEN weight + (skill_id * 31 + term_id * 17"  # slightly changed weights
)


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    rows, queries = _rows(options["corpus"]), _rows(options["queries"])
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA cache_size = -1000000")  # only while the catalog is filled
    catalog = Catalog(_skills(rows))
    measured = []
    for size in options["skills"] or [len(rows)]:
        catalog.grow(size)
        _accept(options["canonical"], size)
        gc.freeze()  # as portal.asgi does
        found = _answers(queries) if options["answers"] else []
        times = {} if options["answers"] else _times(queries, options["rounds"])
        if options["answers"]:
            times = {
                "match": {"administrator": _rounds(_match, administrator_actor(), queries, options["rounds"])}
            }
        measured.append({"skills": size, "postings": Posting.objects.count(), "times": times, "found": found})
        print(f"{size} skills measured", file=sys.stderr, flush=True)
    print(json.dumps(measured))


def _match(text, actor):
    return matching.match(matching.MatchQuery(text), actor)


def _search(text, actor):
    return query.search(text, actor)


def _faceted(text, actor):
    found = query.search(text, actor, counted=facets.MAX_COUNTED_SKILLS)
    return facets.facets(text, query.Filters(), actor, found=found)


def _facets(text, actor):
    return facets.facets("", query.Filters(), actor)


VERBS = {"match": _match, "search": _search, "search with facets": _faceted, "facets alone": _facets}


def _times(queries, rounds):
    """Durations in milliseconds by verb and reader, then by round and query. Long queries consist of words of
    the others.
    """
    long_texts = " ".join(row["query"] for row in queries).split()
    long_texts = [
        {"query": " ".join((long_texts[at:] + long_texts * 2)[:_LONG])}
        for at in range(0, len(long_texts), 50)
    ]
    member = Actor(user=User.objects.get(username="member"))
    readers = {"administrator": administrator_actor(), "member": member, "stranger": ANONYMOUS}
    measured = {name: (ask, queries) for name, ask in VERBS.items()} | {
        "match of 600 words": (_match, long_texts)
    }
    return {
        verb: {name: _rounds(ask, actor, texts, rounds) for name, actor in readers.items()}
        for verb, (ask, texts) in measured.items()
    }


def _rounds(ask, actor, queries, rounds):
    return [[_timed(ask, row["query"], actor) for row in queries] for _ in range(rounds)]


def _timed(ask, text, actor):
    """Wall time and CPU time of this process in milliseconds; the latter includes SQLite."""
    begun, worked = time.perf_counter(), time.process_time()
    ask(text, actor)
    return [(time.perf_counter() - begun) * 1000, (time.process_time() - worked) * 1000]


def _answers(queries):
    """The slugs and scores of the results for each query, even if the best score means "none"."""
    actor, least = administrator_actor(), matching.MIN_CONFIDENCE
    matching.MIN_CONFIDENCE = 0.0
    try:
        return [
            [(row.skill.slug, round(row.score, 6)) for row in _match(each["query"], actor).rows]
            for each in queries
        ]
    finally:
        matching.MIN_CONFIDENCE = least


class Catalog:
    """A catalog of ``skills``. The code of publishing indexes them; rows are written in bulk."""

    def __init__(self, skills):
        self.skills = skills
        seen = [visibility for visibility, number in _TEAMS.items() for _ in range(number)]
        self.teams = [
            (Team.objects.create(slug=f"bench-{n}", name="Bench"), each) for n, each in enumerate(seen)
        ]
        member = User.objects.create(username="member")
        for team, _ in self.teams[:3]:
            Membership.objects.create(user=member, team=team, role=Role.MEMBER)
        self.terms = {}

    def grow(self, size):
        (found,) = Posting._meta.indexes
        with connection.schema_editor() as editor:
            editor.remove_index(Posting, found)  # recreated at the end, which is faster
        while (existing := Skill.objects.count()) < min(size, _INDEXED):
            self._fill(existing, islice(self.skills, min(_AT_ONCE, min(size, _INDEXED) - existing)))
        while (existing := Skill.objects.count()) < size:
            _copy(existing // _INDEXED)  # sizes above the first grow in steps of 10,000
        with connection.schema_editor() as editor:
            editor.add_index(Posting, found)
        with connection.cursor() as cursor:  # as autovacuum does within minutes
            cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")

    @transaction.atomic
    def _fill(self, existing, drafts):
        skills, postings, tags = [], [], []
        drafts = list(drafts)
        for number, (manifest, body) in enumerate(drafts, existing):
            team, visibility = self.teams[number % len(self.teams)]
            skill = Skill(
                team=team, slug=manifest.slug, name=manifest.name[:200], visibility=visibility,
                description=manifest.description, category=manifest.category[:120], type=_TYPES[number % 3],
                profile=_PROFILES[number % 3],
                name_key=search_terms.name_key(manifest.display_name)[:200],
                indexed_as=indexing.INDEX_VERSION, is_bundled=number % 1000 == 0,
            )  # fmt: skip
            skill.search_scope = indexing.scope_of(skill)
            skill.save()
            skill.latest = Version.objects.create(
                skill=skill, number="1.0.0", precedence="1", digest="", archive_size=0,
                manifest=manifest_document(manifest), body="", profile=_PROFILES[number % 3],
            )  # fmt: skip
            skills.append(skill)
            tags += [Tag(skill=skill, text=tag[:120], scope=skill.search_scope) for tag in set(manifest.tags)]
            postings.append((skill, indexing.compute_postings(manifest, body)))
            indexing.write_triggers(skill, manifest)
        Skill.objects.bulk_update(skills, ["latest"])
        Tag.objects.bulk_create(tags, ignore_conflicts=True)
        self._write(postings)
        for manifest, _ in drafts:
            indexing.write_misspellings(manifest, self.terms)

    def _write(self, postings):
        new = {text for _, found in postings for text in found if text not in self.terms}
        first = (Term.objects.order_by("-pk").values_list("pk", flat=True).first() or 0) + 1
        self.terms |= {text: key for key, text in enumerate(sorted(new), first)}
        sql.insert_rows(Term, ("id", "text"), [(self.terms[text], text) for text in new])
        rows = (
            (skill.pk, self.terms[text], weight, int(mask), skill.search_scope, skill.team_id)
            for skill, found in postings
            for text, (weight, mask) in found.items()
        )
        sql.insert_rows(Posting, indexing.POSTING_COLUMNS, rows)
        counts = Counter(
            (self.terms[text], skill.search_scope) for skill, found in postings for text in found
        )
        rows = ((*key, df) for key, df in counts.items())
        added = "ON CONFLICT (term_id, scope) DO UPDATE SET df = registry_termscope.df + EXCLUDED.df"
        sql.insert_rows(TermScope, ("term_id", "scope", "df"), rows, on_conflict=added)


@transaction.atomic
def _accept(number, size):
    """Makes the latest versions of ``number`` skills, spread over the catalog, canonical."""
    for skill in Skill.objects.filter(pk__in=[(each + 1) * size // number for each in range(number)]):
        row, _ = Canonical.objects.update_or_create(
            slug=skill.slug, defaults={"skill": skill, "version": skill.latest}
        )
        pinned_postings.index(row)


@transaction.atomic
def _copy(times):
    """Copies the rows of the first ``_INDEXED`` skills, with keys increased by ``times * _INDEXED``."""
    moved = times * _INDEXED
    ids = {"id": f"id + {moved}", "uid": f"CAST({moved} + id AS text)"}
    slug = {"slug": f"'{times}-' || id || '-' || substr(slug, 1, 48)", "latest_id": "NULL"}
    skill = {"skill_id": f"skill_id + {moved}"}
    _copy_rows(Skill, "id", ids | slug)
    _copy_rows(Version, "skill_id", ids | skill)
    for model in (Tag, Trigger):
        _copy_rows(model, "skill_id", skill)
    _copy_rows(Posting, "skill_id", skill | {"weight": f"{_MOVED} + {times} * 7) % 61 - 30 ELSE weight END"})
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE registry_skill SET latest_id = (SELECT m.latest_id + {moved} FROM registry_skill m "
            f"WHERE m.id = registry_skill.id - {moved}) WHERE id > {moved}"
        )
        cursor.execute(f"UPDATE registry_termscope SET df = df / {times} * {times + 1}")


def _copy_rows(model, own, changed):
    columns = [each.column for each in model._meta.concrete_fields]
    columns = [each for each in columns if each != "id" or "id" in changed]
    names = ", ".join(f'"{each}"' for each in columns)
    values = ", ".join(changed.get(each, f'"{each}"') for each in columns)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} WHERE {own} <= {_INDEXED}"
        )


def _rows(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def _skills(rows):
    """Yields the manifest and body of each skill in the corpus, then of an endless series of mixtures of
    these.

    Replaces ``search_terms.terms`` with a cached function.
    """
    search_terms.terms = _kept(search_terms.terms)
    for turn in count():
        for place, row in enumerate(rows):
            other, third = rows[(place + turn * 7) % len(rows)], rows[(place + turn * 13) % len(rows)]
            manifest = Manifest(
                slug=f"{row['slug'][:58]}-{turn}" if turn else row["slug"][:64],
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
    """Wraps the function ``terms`` in a cache, because the mixtures repeat texts."""
    return cache(lambda text: tuple(terms(text)))


if __name__ == "__main__":
    main()
