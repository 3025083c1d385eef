"""A catalog in a process with a site of its own, asked the queries of a file: what it answers, how fast."""

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

from registry import bulk, facets, indexing, matching, search, words
from registry.actors import ANONYMOUS, Actor, administrator_actor
from registry.canonical import indexed
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
from registry.packages.manifest import manifest_document
from registry.packages.package import Manifest, Triggers

_AT_ONCE = 500
_MADE = 10_000  # skills whose terms are cut from texts; larger catalogs hold copies of their rows
_TEAMS = {"private": 1, "site": 1, "public": 8}  # by visibility; one person is in the first three
_TYPES, _PROFILES = ("direct", "static", "service"), ("agentskills", "apexbridge", "single-file")
_LONG = 600  # words of a long utterance
_MOVED = (
    "CASE WHEN weight % 4096 > 60 THEN weight + (skill_id * 31 + term_id * 17"  # a little, within its rank
)


def main():
    asked = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    rows, queries = _rows(asked["corpus"]), _rows(asked["queries"])
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA cache_size = -1000000")  # while it is filled
    catalog = Catalog(_skills(rows))
    measured = []
    for size in asked["skills"] or [len(rows)]:
        catalog.grow(size)
        _accept(asked["canonical"], size)
        gc.freeze()  # as portal.asgi does
        found = _found(queries) if asked["answers"] else []
        times = {} if asked["answers"] else _times(queries, asked["rounds"])
        if asked["answers"]:
            times = {
                "match": {"administrator": _rounds(_match, administrator_actor(), queries, asked["rounds"])}
            }
        measured.append({"skills": size, "postings": Posting.objects.count(), "times": times, "found": found})
        print(f"{size} skills measured", file=sys.stderr, flush=True)
    print(json.dumps(measured))


def _match(text, actor):
    return matching.match(matching.Request(text), actor)


def _search(text, actor):
    return search.search(text, actor)


def _faceted(text, actor):
    found = search.search(text, actor, counted=facets.MOST_COUNTED)
    return facets.facets(text, search.Filters(), actor, found=found)


def _facets(text, actor):
    return facets.facets("", search.Filters(), actor)


VERBS = {"match": _match, "search": _search, "search with facets": _faceted, "facets alone": _facets}


def _times(queries, rounds):
    """By verb and reader the milliseconds of each query in each round; a long one is their words."""
    said = " ".join(row["query"] for row in queries).split()
    said = [{"query": " ".join((said[at:] + said * 2)[:_LONG])} for at in range(0, len(said), 50)]
    member = Actor(user=User.objects.get(username="member"))
    readers = {"administrator": administrator_actor(), "member": member, "stranger": ANONYMOUS}
    asked = {name: (ask, queries) for name, ask in VERBS.items()} | {"match of 600 words": (_match, said)}
    return {
        verb: {name: _rounds(ask, actor, texts, rounds) for name, actor in readers.items()}
        for verb, (ask, texts) in asked.items()
    }


def _rounds(ask, actor, queries, rounds):
    return [[_timed(ask, row["query"], actor) for row in queries] for _ in range(rounds)]


def _timed(ask, text, actor):
    """Milliseconds of the clock and of this process, in which SQLite runs too."""
    begun, worked = time.perf_counter(), time.process_time()
    ask(text, actor)
    return [(time.perf_counter() - begun) * 1000, (time.process_time() - worked) * 1000]


def _found(queries):
    actor = administrator_actor()
    return [[row.skill.slug for row in _match(each["query"], actor).rows] for each in queries]


class Catalog:
    """Filled by the code that publishing calls for a skill's terms, its rows written by the thousand."""

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
            editor.remove_index(Posting, found)  # made anew when all is written, which is quicker
        while (there := Skill.objects.count()) < min(size, _MADE):
            self._fill(there, islice(self.skills, min(_AT_ONCE, min(size, _MADE) - there)))
        while (there := Skill.objects.count()) < size:
            _copy(there // _MADE)  # so past the first the sizes go by ten thousands
        with connection.schema_editor() as editor:
            editor.add_index(Posting, found)
        with connection.cursor() as cursor:  # what autovacuum does of itself within minutes
            cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")

    @transaction.atomic
    def _fill(self, there, drafts):
        skills, postings, tags = [], [], []
        for number, (manifest, body) in enumerate(drafts, there):
            team, visibility = self.teams[number % len(self.teams)]
            skill = Skill(
                team=team, slug=manifest.slug, name=manifest.name[:200], visibility=visibility,
                description=manifest.description, category=manifest.category[:120], type=_TYPES[number % 3],
                profile=_PROFILES[number % 3],
                name_key=words.key(manifest.display_name)[:200], indexed_as=indexing.RULES,
                is_bundled=number % 1000 == 0,
            )  # fmt: skip
            skill.search_scope = indexing.scope_of(skill)
            skill.save()
            skill.latest = Version.objects.create(
                skill=skill, number="1.0.0", precedence="1", digest="", archive_size=0,
                manifest=manifest_document(manifest), body="", profile=_PROFILES[number % 3],
            )  # fmt: skip
            skills.append(skill)
            tags += [Tag(skill=skill, text=tag[:120], scope=skill.search_scope) for tag in set(manifest.tags)]
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
            (skill.pk, self.terms[text], weight, int(mask), skill.search_scope, skill.team_id)
            for skill, found in postings
            for text, (weight, mask) in found.items()
        )
        bulk.insert(Posting, indexing.POSTED, rows)
        counts = Counter(
            (self.terms[text], skill.search_scope) for skill, found in postings for text in found
        )
        rows = ((*key, df) for key, df in counts.items())
        added = "ON CONFLICT (term_id, scope) DO UPDATE SET df = registry_termscope.df + EXCLUDED.df"
        bulk.insert(TermScope, ("term_id", "scope", "df"), rows, on_conflict=added)


@transaction.atomic
def _accept(number, size):
    """So many canonical skills, spread over the catalog, each in its latest version."""
    for skill in Skill.objects.filter(pk__in=[(each + 1) * size // number for each in range(number)]):
        row, _ = Canonical.objects.update_or_create(
            slug=skill.slug, defaults={"skill": skill, "version": skill.latest}
        )
        indexed.index(row)


@transaction.atomic
def _copy(times):
    """The rows of the first skills once more, under keys that many thousands higher."""
    moved = times * _MADE
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
        cursor.execute(f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} WHERE {own} <= {_MADE}")


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
    """Texts come again in the copies: each is cut into terms once."""
    return cache(lambda text: tuple(terms(text)))


if __name__ == "__main__":
    main()
