"""What search and match read: counts of terms, and the postings that matter, of what an actor may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log
from typing import Any

from django.db.models import QuerySet

from registry import bulk, words
from registry.actors import Actor
from registry.indexing import EVERY, EVERY_CJK, RANK, Field
from registry.models import Misspelling, Posting, Skill
from registry.models.skill import scopes_of, scopes_open_to
from registry.subscriptions import trusted_teams

MOST_OF_A_TERM = 250  # postings of a common term that are read; of the best skills the rest is looked up
LEAST_SKILLS = 50  # words tell as in a catalog of so many, where there are fewer
LOOKED_UP = 120
_NAMES = int(Field.NAME | Field.TAGS)


@dataclass(frozen=True)
class Counted:
    """A term and in how many of the actor's skills it stands."""

    key: int
    df: int


@dataclass(frozen=True)
class Counts:
    """The only statistics that a search knows: those of what its actor may see."""

    terms: Mapping[str, Counted]
    skills: int
    cjk_skills: int

    def idf(self, text: str) -> float:
        """How much a term tells; of a Chinese one, among the skills that are described so."""
        known = self.terms.get(text)
        df = known.df if known else 0
        among = max(self.cjk_skills if words.has_cjk(text) else self.skills, LEAST_SKILLS)
        return log(1 + (max(among - df, 0) + 0.5) / (df + 0.5))


Row = tuple[int, int, int, int]  # of a posting: term, skill, weight with its rank, mask of fields

_COUNTED = """
    SELECT t.text, t.id, SUM(s.df) FROM registry_term t JOIN registry_termscope s ON s.term_id = t.id
    WHERE {which} AND s.df > 0{seen} GROUP BY t.text, t.id
"""
_READ = "SELECT term_id, skill_id, weight, field_mask FROM registry_posting WHERE "
_HEAVIEST = f"SELECT * FROM ({_READ}term_id = %s{{seen}} ORDER BY weight DESC, skill_id LIMIT %s) AS heaviest"

_LOOKED_UP = """
    WITH pair AS MATERIALIZED (
        SELECT t.column1 AS term, s.column1 AS skill
        FROM (VALUES {terms}) AS t CROSS JOIN (VALUES {skills}) AS s
    )
    SELECT term_id, skill_id, weight, field_mask FROM pair
    CROSS JOIN registry_posting WHERE term_id = term AND skill_id = skill AND id > 0
"""  # pair by pair: of two lists both databases would read every posting of the terms. The key stands in no
# index, so PostgreSQL takes that of the pairs; it thinks all terms rare and read all of each in the other.


@dataclass(frozen=True)
class Sight:
    """Which postings and triggers may be read: SQL that narrows a statement to them, and its values."""

    seen: str = ""
    values: tuple[object, ...] = ()
    chosen: tuple[str, tuple[object, ...]] | None = None  # the SQL and values of skills that ``seen`` names

    def read(self, sql: str, values: Sequence[object]) -> list[Any]:
        if not self.chosen:
            return bulk.read(sql, values)
        chosen, first = self.chosen
        return bulk.read(f"WITH chosen AS ({chosen}) {sql}", (*first, *values))


def sight(actor: Actor, chosen: QuerySet[Skill] | None = None, *, without: bool = False) -> Sight:
    """The postings of what the actor may see, and of these skills only, or of all but these."""
    scopes = () if actor.is_administrator else tuple(scopes_of(actor))
    seen = f" AND scope IN ({bulk.places(scopes)})" if scopes else ""
    if chosen is None:
        return Sight(seen, scopes)
    sql, values = chosen.order_by().values("id").query.sql_with_params()
    which = "NOT IN" if without else "IN"
    return Sight(f"{seen} AND skill_id {which} (SELECT id FROM chosen)", scopes, (sql, values))


def reach(actor: Actor) -> Sight:
    """Those of what the actor's agents are offered as it is now, as ``Skill.objects.reachable_by`` says.

    What they are offered only as canonical is read elsewhere, by its accepted version.
    """
    if actor.is_shell:
        return Sight(" AND offered_by IS NOT NULL")
    open_to = scopes_open_to(actor)
    own, followed = sorted(actor.team_ids), sorted(trusted_teams(actor) - actor.team_ids)
    offered = f"offered_by IN ({bulk.places(followed)}) OR " if followed else ""
    offered += "offered_by IS NOT NULL AND skill_id IN (SELECT id FROM chosen)"
    seen = f"scope IN ({bulk.places(open_to)}) AND ({offered})"
    if own:
        seen = f"offered_by IN ({bulk.places(own)}) OR {seen}"
    bundled = ("SELECT id FROM registry_skill WHERE is_bundled", ())
    return Sight(f" AND ({seen})", (*own, *open_to, *followed), bundled)


def count(texts: Iterable[str], actor: Actor) -> Counts:
    wanted = [*texts, EVERY, EVERY_CJK]
    return _count(f"t.text IN ({bulk.places(wanted)})", wanted, actor)


def count_beginning(start: str, actor: Actor) -> Counts:
    """The counts of every term that begins so."""
    which = "(t.text >= %s AND t.text < %s OR t.text IN (%s, %s))"
    return _count(which, [start, start + chr(0x10FFFF), EVERY, EVERY_CJK], actor)


def _count(which: str, values: Sequence[str], actor: Actor) -> Counts:
    seen = sight(actor)
    rows = bulk.read(_COUNTED.format(which=which, seen=seen.seen), (*values, *seen.values))
    terms = {text: Counted(key, int(df)) for text, key, df in rows}
    every, cjk = terms.pop(EVERY, None), terms.pop(EVERY_CJK, None)
    return Counts(terms, every.df if every else 0, cjk.df if cjk else 0)


def postings(
    terms: Collection[Counted],
    readable: Sight,
    *,
    most: int = MOST_OF_A_TERM,
    heaviest: int | None = None,
    spare: int | None = None,
) -> tuple[list[Row], list[int]]:
    """The postings of terms in at most ``most`` skills, the heaviest of others, and which were cut so.

    With ``spare``, of terms in more skills than that nothing is read, unless there are no others.
    """
    rare = [term.key for term in terms if term.df <= most]
    common = sorted((term for term in terms if term.df > most), key=lambda term: (term.df, term.key))
    useful = [term.key for term in common if spare is None or term.df <= spare]
    if not rare:
        useful = useful or [term.key for term in common[:1]]
    rows = _read(rare, useful, readable, heaviest or most)
    return rows, [term.key for term in common]


def _read(whole: Sequence[int], cut: Sequence[int], readable: Sight, most: int) -> list[Row]:
    """Of some terms every posting, of others the heaviest; in one statement, for each has its price."""
    asked = [_HEAVIEST.format(seen=readable.seen)] * len(cut)
    values = [value for term in cut for value in (term, *readable.values, most)]
    if whole:
        asked.append(f"{_READ}term_id IN ({bulk.places(whole)}){readable.seen}")
        values += [*whole, *readable.values]
    return readable.read(" UNION ALL ".join(asked), values) if asked else []


def complete(cut: Collection[int], skills: Iterable[int], found: Iterable[Row]) -> list[Row]:
    """What the cut terms weigh in these skills, which the reader may see, where it was not read yet."""
    asked = sorted(islice(skills, LOOKED_UP))  # neighbours lie on the same pages of an index
    if not cut or not asked:
        return []
    wanted = set(asked)
    known = {(term, skill) for term, skill, _, _ in found if skill in wanted}
    sql = _LOOKED_UP.format(terms=_rows_of(cut), skills=_rows_of(asked))
    rows = bulk.read(sql, (*cut, *asked))
    return [row for row in rows if row[:2] not in known]


def _rows_of(values: Collection[int]) -> str:
    return ", ".join(["(%s)"] * len(values))


def meant(wrong: Mapping[str, str], actor: Actor) -> dict[str, str]:
    """For terms that no skill has, by what was written, the commonest one a slip away that a name or tag in
    sight has."""
    slips = {text: term for term, word in wrong.items() for text in words.misspellings(word)}
    if not slips:
        return {}
    near = Misspelling.objects.filter(text__in=slips).values_list("text", "term_id", "term__text")
    likely = {(slips[text], key, right) for text, key, right in near}
    named = Posting.objects.visible_to(actor).filter(
        term_id__in={key for _, key, _ in likely}, weight__gte=RANK * 2
    )
    counts = Counter(key for key, mask in named.values_list("term_id", "field_mask") if mask & _NAMES)
    best: dict[str, str] = {}
    for term, key, right in sorted(likely, key=lambda each: (counts[each[1]], each[2])):
        if counts[key]:
            best[term] = right
    return best
