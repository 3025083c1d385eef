"""The catalog's search: exact names first, then names, beginnings, tags and text; the same on every database.

All that it knows — counts, candidates, orders — is of what the actor may see (see ``registry.indexing``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from itertools import groupby
from operator import itemgetter

from django.db.models import QuerySet
from django.utils import timezone

from registry import bulk, canonical, retrieval, usage, words
from registry.actors import Actor
from registry.indexing import RANK, Field
from registry.models import Canonical, Skill, TriggerKind
from registry.retrieval import Counted, Counts
from registry.rows import skills_of
from registry.words import Word

MOST_CHARACTERS = 500  # of a query
MOST_TERMS = 12  # the rarest of a query's are looked for
_COMMON = 0.2  # a term in more of the skills than this tells nothing where others tell something …
_COMMON_LEAST = 1000  # … but in a small catalog every term is cheap enough to be looked for
_SPARE = 50  # candidates past the limit, so that usage and freshness can order equals at the edge
_FIELD_NAMES = [(int(field), str(field.name).lower()) for field in Field]
_NAMED = int(Field.NAME)
_CALLED = int(Field.NAME | Field.KEYWORDS | Field.TAGS)
_CALLED_SO = """
    SELECT DISTINCT skill_id FROM registry_trigger JOIN registry_skill ON registry_skill.id = skill_id
    WHERE key = %s AND kind = %s AND (slug = %s OR name_key = %s){seen} ORDER BY skill_id LIMIT {spare}
""".replace("{spare}", str(_SPARE))
_NUMBER = re.compile(r"@v?\d[\w.+-]*$")  # of a version, behind a skill's name
_BEGUN = 20  # words of text that a begun word may be, where no name or tag begins so


class Tier(IntEnum):
    TEXT = 0
    TAGS = 1
    BEGINNING = 2
    NAME = 3
    EXACT = 4


@dataclass(frozen=True)
class Reason:
    """A word of the query that was found: where it stands there, in which field, how much it counted."""

    kind: str  # "word", "beginning", "part" or "typo"
    field: str
    text: str
    start: int
    end: int
    share: float  # of the score, 0 to 1


@dataclass(frozen=True)
class Hit:
    skill: Skill
    score: float
    tier: Tier
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Search:
    query: str
    hits: tuple[Hit, ...]
    total: int = 0  # skills that answer, of which the hits are the best
    counted: tuple[int, ...] = ()  # the keys of as many as were asked for, for counting

    @property
    def none(self) -> bool:
        return not self.hits


FACETS = {
    "team": "team__slug",
    "type": "type",
    "category": "category",
    "domain": "domain",
    "tag": "tag_rows__text",
    "source": "source",
    "profile": "profile",
}


@dataclass(frozen=True)
class Filters:
    """What else a skill must be; empty says nothing."""

    team: str = ""
    type: str = ""
    tag: str = ""
    category: str = ""
    domain: str = ""
    source: str = ""
    profile: str = ""
    for_people: bool = False

    def without(self, name: str) -> Filters:
        return Filters(**{**asdict(self), name: ""})

    @property
    def only_for_people(self) -> bool:
        return self == Filters(for_people=True)

    def narrow(self, skills: QuerySet[Skill]) -> QuerySet[Skill]:
        asked = {lookup: getattr(self, name) for name, lookup in FACETS.items()}
        asked["for_people"] = self.for_people
        return skills.filter(**{lookup: value for lookup, value in asked.items() if value})


_NO_FILTERS = Filters()


@dataclass(frozen=True)
class _Term:
    """A term that is looked for, on behalf of which word."""

    text: str
    counted: Counted
    word: Word
    kind: str
    idf: int  # × 1000


@dataclass(frozen=True)
class _Plan:
    """The words that a skill has to answer, and the terms under which it may do so."""

    words: tuple[Word, ...]
    terms: tuple[_Term, ...]


_KEYS, _SCORES = 2**63, 2**48  # past any key of a skill, and any score
_Ranked = tuple[int, int, int]  # of a skill that answers: less its tier, less its score × 10⁶, its key


@dataclass(frozen=True)
class _Answer:
    """The best of what answers, and how many do; the terms and postings that say why."""

    ranked: Sequence[_Ranked] = ()
    total: int = 0
    plan: _Plan | None = None
    rows: Sequence[retrieval.Row] = ()


def search(
    text: str, actor: Actor, *, limit: int = 20, filters: Filters = _NO_FILTERS, counted: int = 0
) -> Search:
    """The skills that the actor may see and that answer the text, best first; of ``counted`` the keys."""
    text = text[:MOST_CHARACTERS]
    found = _answer(text, actor, filters, max(limit, counted))
    hits = _hits(found, limit)
    _pin(text, hits)
    return Search(text, hits, found.total, tuple(skill for _, _, skill in found.ranked[:counted]))


def answering(text: str, actor: Actor, filters: Filters, *, most: int) -> tuple[int, ...]:
    """The keys of the best ``most`` skills that answer the text, for counting."""
    return tuple(skill for _, _, skill in _answer(text[:MOST_CHARACTERS], actor, filters, most).ranked[:most])


def document(result: Search) -> dict[str, object]:
    """The JSON of commands and API."""
    return {
        "query": result.query,
        "none": result.none,
        "results": [_hit_document(hit) for hit in result.hits],
    }


def _exact(text: str, actor: Actor, filters: Filters) -> set[int]:
    """The skills whose slug, name, team/slug or canonical name the text is, with a version or without."""
    text = _NUMBER.sub("", text.strip())
    key, seen = words.key(text), retrieval.sight(actor)
    called = (words.phrase_key(text)[:200], TriggerKind.NAME.value, key.replace(" ", "-"), key)
    found = {skill for (skill,) in bulk.read(_CALLED_SO.format(seen=seen.seen), (*called, *seen.values))}
    team, slash, slug = text.lower().partition("/")
    if team.startswith(canonical.PREFIX):
        pinned = Canonical.objects.filter(slug=team.removeprefix(canonical.PREFIX), version__isnull=False)
        found |= set(pinned.values_list("skill_id", flat=True))
    if slash:
        found |= set(Skill.objects.filter(team__slug=team, slug=slug).values_list("pk", flat=True))
    skills = filters.narrow(Skill.objects.offered_to(actor)) if found else Skill.objects.none()
    return set(skills.filter(pk__in=found).values_list("pk", flat=True)) if found else found


def _pin(text: str, hits: Iterable[Hit]) -> None:
    """A skill that was asked for by its canonical name stands for the accepted version."""
    if not text.strip().startswith(canonical.PREFIX):
        return
    slug = text.strip().partition("/")[0].removeprefix(canonical.PREFIX)
    rows = Canonical.objects.answerable().filter(slug=slug).select_related("version")
    named = {row.skill_id: row for row in rows}
    for hit in hits:
        hit.skill.found_as = named.get(hit.skill.pk)


def _answer(text: str, actor: Actor, filters: Filters, limit: int) -> _Answer:
    asked = words.query_words(text)
    if not asked:
        return _Answer()
    plan = _plan(asked, actor)
    readable = _readable(actor, filters)
    exact = _exact(text, actor, filters)
    rows, cut = retrieval.postings([term.counted for term in plan.terms], readable, most=_most(limit))
    ranked = _ranked(plan, rows, exact)
    if more := retrieval.complete(cut, (-packed % _KEYS for packed in ranked), rows):
        ranked = _completed(plan, ranked, exact, rows, more)
        rows += more
    best = [_unpacked(packed) for packed in ranked[: limit + _SPARE]]
    return _Answer(best, len(ranked), plan, rows)


def _readable(actor: Actor, filters: Filters) -> retrieval.Sight:
    """The postings of what the filters leave; few skills are not for people, so those are left out."""
    if filters == _NO_FILTERS:
        return retrieval.sight(actor)
    if filters.only_for_people:
        return retrieval.sight(actor, Skill.objects.filter(for_people=False), without=True)
    return retrieval.sight(actor, filters.narrow(Skill.objects.all()))


def _most(limit: int) -> int:
    return max(retrieval.MOST_OF_A_TERM, limit + _SPARE)


def _plan(asked: Sequence[Word], actor: Actor) -> _Plan:
    """What is looked for: the rarest terms of the query that stand in anything the actor may see."""
    wanted = {word.beginning: (word, "beginning") for word in asked if word.beginning}
    wanted |= {part: (word, "part") for word in asked for part in word.parts}
    wanted |= {word.term: (word, "word") for word in asked}
    counts = retrieval.count(wanted, actor)
    known = [_term(text, *wanted[text], counts) for text in counts.terms]
    most = max(counts.skills * _COMMON, _COMMON_LEAST)
    terms = [term for term in known if term.counted.df <= most] or known
    found = {term.word for term in known}
    if asked[-1] not in found:
        terms += _begun(asked[-1], actor)
        found |= {term.word for term in terms}
    terms += _meant([word for word in asked if word not in found], actor)
    terms = sorted(terms, key=lambda term: (term.counted.df, term.word.start, term.kind, term.text))
    terms = terms[:MOST_TERMS]
    left_out = {term.word for term in known} - {term.word for term in terms}
    return _Plan(tuple(word for word in asked if word not in left_out), tuple(terms))


def _begun(word: Word, actor: Actor) -> list[_Term]:
    """The commonest words of text that begin like the last one, where nothing is called so."""
    start = word.beginning.rstrip("*")
    if len(start) < 3:
        return []
    counts = retrieval.count_beginning(start, actor)
    likely = sorted(counts.terms.items(), key=lambda item: (-item[1].df, item[0]))[:_BEGUN]
    return [_term(text, word, "beginning", counts) for text, _ in likely]


def _meant(unknown: Sequence[Word], actor: Actor) -> list[_Term]:
    """What unknown words were probably meant to be, a slip away."""
    asked = {word.term: word for word in unknown}
    meant = retrieval.meant({term: word.text.lower() for term, word in asked.items()}, actor)
    if not meant:
        return []
    counts = retrieval.count(meant.values(), actor)
    return [
        _term(right, asked[wrong], "typo", counts) for wrong, right in meant.items() if right in counts.terms
    ]


def _term(text: str, word: Word, kind: str, counts: Counts) -> _Term:
    idf = round(counts.idf(text) * (1000 if kind in ("word", "typo") else 500))
    return _Term(text, counts.terms[text], word, kind, idf)


def _ranked(plan: _Plan, rows: Iterable[retrieval.Row], exact: set[int]) -> list[int]:
    """The skills of the rows by tier, then score; whole numbers, so that every database ends alike.

    Each as one number, for tuples take three times as long to sort; ``_unpacked`` reads them.
    """
    terms = {term.counted.key: (place, term.idf) for place, term in enumerate(plan.terms)}
    scores: defaultdict[int, int] = defaultdict(int, dict.fromkeys(exact, 0))
    named: defaultdict[int, int] = defaultdict(int)  # by skill, a bit a term that stands in its name
    called: defaultdict[int, int] = defaultdict(int)  # … in its name, keywords or tags
    for key, some in groupby(rows, itemgetter(0)):
        place, idf = terms[key]
        for _, skill, weight, mask in some:
            scores[skill] += weight % RANK * idf
            if mask & _CALLED:
                called[skill] |= 1 << place
                if mask & _NAMED:
                    named[skill] |= 1 << place
    bits = {skill: (named[skill], found) for skill, found in called.items()}
    tier_of = {pair: int(_tier(plan, *pair)) for pair in set(bits.values())}  # few, of thousands of skills
    tiers = {skill: tier_of[pair] for skill, pair in bits.items()} | dict.fromkeys(exact, int(Tier.EXACT))
    packed = [(tiers.get(skill, 0) * _SCORES + score) * _KEYS - skill for skill, score in scores.items()]
    return sorted(packed, reverse=True)


def _completed(
    plan: _Plan,
    ranked: Sequence[int],
    exact: set[int],
    rows: Iterable[retrieval.Row],
    more: Sequence[retrieval.Row],
) -> list[int]:
    """Ranked anew with the rows that were read after: those are of the best skills only."""
    near, others = ranked[: retrieval.LOOKED_UP], ranked[retrieval.LOOKED_UP :]
    keys = {-packed % _KEYS for packed in near}
    again = _ranked(plan, [*(row for row in rows if row[1] in keys), *more], exact & keys)
    return sorted([*again, *others], reverse=True)


def _unpacked(packed: int) -> _Ranked:
    skill = -packed % _KEYS
    tier, score = divmod((packed + skill) // _KEYS, _SCORES)
    return -tier, -score, skill


def _tier(plan: _Plan, named: int, called: int) -> Tier:
    """Whether every word stands in the name, or in name, keywords and tags; the last one may be begun."""
    for bits, whole, begun in ((named, Tier.NAME, Tier.BEGINNING), (called, Tier.TAGS, Tier.TAGS)):
        here = [term for place, term in enumerate(plan.terms) if bits >> place & 1]
        said = {term.word for term in here if term.kind in ("word", "typo")}
        if len(said) == len(plan.words):
            return whole
        said |= {term.word for term in here if term.kind == "beginning" and term.word == plan.words[-1]}
        if len(said) == len(plan.words):
            return begun
    return Tier.TEXT


def _hits(found: _Answer, limit: int) -> tuple[Hit, ...]:
    """The best ``limit``: by tier, then relevance, then usage, then freshness."""
    now = timezone.now()
    near = _with_equals(found.ranked, limit)
    rows = skills_of([skill for _, _, skill in near])

    def order(each: _Ranked) -> tuple[float, ...]:
        skill = rows[each[2]]
        used = usage.score(skill.usage_count, skill.last_used_at, now)
        fresh = skill.latest.created_at.timestamp() if skill.latest else 0
        return each[0], each[1], -used, -fresh, skill.pk

    best = sorted((each for each in near if each[2] in rows), key=order)[:limit]
    reasons = _reasons(found, {skill for _, _, skill in best})
    return tuple(Hit(rows[skill], -score / 1e6, Tier(-tier), reasons[skill]) for tier, score, skill in best)


def _with_equals(ranked: Sequence[_Ranked], limit: int) -> Sequence[_Ranked]:
    """The first ``limit``, and those that only usage or freshness keeps behind the last of them."""
    end = min(limit, len(ranked))
    last = ranked[end - 1][:2] if end else None
    while end < min(len(ranked), limit + _SPARE) and ranked[end][:2] == last:
        end += 1
    return ranked[:end]


def _reasons(answer: _Answer, skills: set[int]) -> dict[int, tuple[Reason, ...]]:
    """Which words of the query found each skill, the one that counted most first."""
    terms = {term.counted.key: term for term in answer.plan.terms} if answer.plan else {}
    parts: dict[int, list[tuple[int, _Term, int]]] = {skill: [] for skill in skills}
    for key, skill, weight, mask in answer.rows:
        if skill in parts:
            parts[skill].append((weight % RANK * terms[key].idf, terms[key], mask))
    return {skill: _shares(found) for skill, found in parts.items()}


def _shares(found: Sequence[tuple[int, _Term, int]]) -> tuple[Reason, ...]:
    total = sum(part for part, _, _ in found) or 1
    ranked = sorted(found, key=lambda row: (-row[0], row[1].word.start, row[1].kind, row[1].text))
    return tuple(
        Reason(term.kind, best_field(mask), term.word.text, term.word.start, term.word.end, part / total)
        for part, term, mask in ranked
    )


def best_field(mask: int) -> str:
    return next(name for bit, name in _FIELD_NAMES if mask & bit)


def _hit_document(hit: Hit) -> dict[str, object]:
    skill = hit.skill
    version = skill.found_as.version if skill.found_as else skill.latest
    return {
        "skill": str(skill.found_as or skill),
        "version": version.number if version else None,
        "score": round(hit.score, 3),
        "tier": hit.tier.name.lower(),
        "reasons": [{**asdict(reason), "share": round(reason.share, 3)} for reason in hit.reasons],
    }
