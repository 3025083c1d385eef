"""What search and match read: counts of terms, and the postings that matter, of what an actor may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from math import log

from django.db.models import Q, QuerySet, Sum

from registry import words
from registry.actors import Actor
from registry.indexing import EVERY, EVERY_CJK, RANK, Field
from registry.models import Misspelling, Posting, TermScope

MOST_OF_A_TERM = 400  # postings of a common term that are read; of the best skills the rest is looked up
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


def count(texts: Iterable[str], actor: Actor) -> Counts:
    return _count(Q(term__text__in={*texts, EVERY, EVERY_CJK}), actor)


def count_beginning(start: str, actor: Actor) -> Counts:
    """The counts of every term that begins so."""
    begun = Q(term__text__gte=start, term__text__lt=start + chr(0x10FFFF))
    return _count(begun | Q(term__text__in=(EVERY, EVERY_CJK)), actor)


def _count(which: Q, actor: Actor) -> Counts:
    rows = (
        TermScope.objects.visible_to(actor)
        .filter(which, df__gt=0)
        .values_list("term__text", "term_id")
        .annotate(Sum("df"))
        .order_by()
    )
    terms = {text: Counted(key, df) for text, key, df in rows}
    every, cjk = terms.pop(EVERY, None), terms.pop(EVERY_CJK, None)
    return Counts(terms, every.df if every else 0, cjk.df if cjk else 0)


def postings(
    terms: Collection[Counted],
    readable: QuerySet[Posting],
    *,
    most: int = MOST_OF_A_TERM,
    spare: int | None = None,
) -> tuple[list[Row], list[int]]:
    """The postings of rare terms and the heaviest ``most`` of common ones, and which terms were cut so.

    With ``spare``, of terms in more skills than that nothing is read, unless there are no others.
    """
    rare = [term.key for term in terms if term.df <= most]
    common = sorted((term for term in terms if term.df > most), key=lambda term: (term.df, term.key))
    rows = _read(readable.filter(term_id__in=rare)) if rare else []
    for term in common:
        if spare is None or term.df <= spare or not rows:
            rows += _read(readable.filter(term_id=term.key).order_by("-weight", "skill_id")[:most])
    return rows, [term.key for term in common]


def complete(
    cut: Collection[int], skills: Iterable[int], found: Iterable[Row], readable: QuerySet[Posting]
) -> list[Row]:
    """What the cut terms weigh in these skills, where it was not read yet."""
    asked = list(islice(skills, LOOKED_UP))
    if not cut or not asked:
        return []
    known = {(term, skill) for term, skill, _, _ in found}
    rows = _read(readable.filter(term_id__in=cut, skill_id__in=asked))
    return [row for row in rows if row[:2] not in known]


def meant(wrong: Iterable[str], actor: Actor) -> dict[str, str]:
    """For terms that no skill has, the commonest one a slip away that a name or tag in sight has."""
    slips = {text: term for term in wrong if words.may_be_misspelt(term) for text in words.misspellings(term)}
    if not slips:
        return {}
    near = Misspelling.objects.filter(text__in=slips).values_list("text", "term_id", "term__text")
    likely = {
        (slips[text], key, right) for text, key, right in near if abs(len(right) - len(slips[text])) < 2
    }
    named = Posting.objects.visible_to(actor).filter(
        term_id__in={key for _, key, _ in likely}, weight__gte=RANK * 2
    )
    counts = Counter(key for key, mask in named.values_list("term_id", "field_mask") if mask & _NAMES)
    best: dict[str, str] = {}
    for term, key, right in sorted(likely, key=lambda each: (counts[each[1]], each[2])):
        if counts[key]:
            best[term] = right
    return best


def _read(rows: QuerySet[Posting]) -> list[Row]:
    return list(rows.values_list("term_id", "skill_id", "weight", "field_mask"))
