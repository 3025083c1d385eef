"""The catalog's search: exact names first, then names, beginnings, tags and text; the same on every database.

All that it knows — counts, candidates, orders — is of what the actor may see (see ``registry.indexing``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from math import log

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Sum, Value, When
from django.utils import timezone

from registry import usage, words
from registry.actors import Actor
from registry.indexing import Field, counted_for
from registry.models import Posting, Skill
from registry.words import Word

MOST_CHARACTERS = 500  # of a query
MOST_TERMS = 12  # the rarest of a query's are looked for
_COMMON = 0.2  # a term in more of the skills than this tells nothing where others tell something …
_COMMON_LEAST = 1000  # … but in a small catalog every term is cheap enough to be looked for
_SPARE = 50  # candidates past the limit, so that usage and freshness can order equals at the edge
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

    kind: str  # "word", "beginning" or "part"
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

    @property
    def none(self) -> bool:
        return not self.hits


@dataclass(frozen=True)
class Filters:
    """What else a skill must be; empty says nothing."""

    team: str = ""
    type: str = ""
    tag: str = ""
    for_people: bool = False

    def narrow(self, skills: QuerySet[Skill]) -> QuerySet[Skill]:
        asked = {
            "team__slug": self.team,
            "type": self.type,
            "tag_rows__text": self.tag,
            "for_people": self.for_people,
        }
        return skills.filter(**{lookup: value for lookup, value in asked.items() if value})


_NO_FILTERS = Filters()


@dataclass(frozen=True)
class _Term:
    """A term that is looked for, on behalf of which word."""

    key: int
    word: Word
    kind: str
    df: int
    idf: int  # × 1000


@dataclass(frozen=True)
class _Plan:
    """The words that a skill has to answer, and the terms under which it may do so."""

    words: tuple[Word, ...]
    terms: tuple[_Term, ...]


_Candidates = dict[int, tuple[Tier, int]]  # a skill's key: its tier and score × 10⁶


def search(text: str, actor: Actor, *, limit: int = 20, filters: Filters = _NO_FILTERS) -> Search:
    """The skills that the actor may see and that answer the text, best first."""
    text = text[:MOST_CHARACTERS]
    asked = words.query_words(text)
    if not asked:
        return Search(text, ())
    visible = Skill.objects.visible_to(actor)
    narrowed = filters.narrow(visible)
    plan = _plan(asked, actor, visible.count())
    found = _candidates(plan, narrowed, _exact(text, narrowed), limit + _SPARE)
    return Search(text, _hits(found, plan, limit))


def document(result: Search) -> dict[str, object]:
    """The JSON of commands and API."""
    return {
        "query": result.query,
        "none": result.none,
        "results": [_hit_document(hit) for hit in result.hits],
    }


def _exact(text: str, skills: QuerySet[Skill]) -> list[int]:
    """The skills whose slug, name or team/slug the text is."""
    key = words.key(text)
    is_it = Q(slug=key.replace(" ", "-")) | Q(name_key=key)
    team, slash, slug = text.strip().partition("/")
    if slash:
        is_it |= Q(team__slug=team, slug=slug)
    return list(skills.filter(is_it).order_by("pk").values_list("pk", flat=True)[:_SPARE])


def _plan(asked: Sequence[Word], actor: Actor, skills: int) -> _Plan:
    """What is looked for: the rarest terms of the query that stand in anything the actor may see."""
    wanted = {word.beginning: (word, "beginning") for word in asked if word.beginning}
    wanted |= {part: (word, "part") for word in asked for part in word.parts}
    wanted |= {word.term: (word, "word") for word in asked}
    counts = _counts(Q(term__text__in=wanted), actor)
    known = [_term(key, *wanted[text], df, skills) for text, (key, df) in counts.items()]
    most = max(skills * _COMMON, _COMMON_LEAST)
    terms = [term for term in known if term.df <= most] or known
    if asked[-1] not in {term.word for term in known}:
        terms += _begun(asked[-1], actor, skills)
    terms = sorted(terms, key=lambda term: (term.df, term.word.start, term.kind, term.key))[:MOST_TERMS]
    left_out = {term.word for term in known} - {term.word for term in terms}
    return _Plan(tuple(word for word in asked if word not in left_out), tuple(terms))


def _begun(word: Word, actor: Actor, skills: int) -> list[_Term]:
    """The commonest words of text that begin like the last one, where nothing is called so."""
    start = word.beginning.rstrip("*")
    if len(start) < 3:
        return []
    counts = _counts(Q(term__text__gte=start, term__text__lt=start + chr(0x10FFFF)), actor)
    likely = sorted(counts.items(), key=lambda item: (-item[1][1], item[0]))[:_BEGUN]
    return [_term(key, word, "beginning", df, skills) for _, (key, df) in likely]


def _counts(which: Q, actor: Actor) -> dict[str, tuple[int, int]]:
    """For each of the terms that the actor's skills have: its key and in how many of them it stands."""
    rows = counted_for(actor).filter(which).values_list("term__text", "term_id").annotate(Sum("df"))
    return {text: (key, df) for text, key, df in rows}


def _term(key: int, word: Word, kind: str, df: int, skills: int) -> _Term:
    idf = log(1 + (max(skills - df, 0) + 0.5) / (df + 0.5))
    return _Term(key, word, kind, df, round(idf * (1000 if kind == "word" else 500)))


def _candidates(plan: _Plan, skills: QuerySet[Skill], exact: Sequence[int], most: int) -> _Candidates:
    """For each of the best skills its tier and score; ordered in the database, by whole numbers only."""
    found = dict.fromkeys(exact, (Tier.EXACT, 0))
    if not plan.terms:
        return found
    idf = [When(term_id=term.key, then=Value(term.idf)) for term in plan.terms]
    called = int(Field.NAME | Field.KEYWORDS | Field.TAGS)
    rows = (
        Posting.objects.filter(skill__in=skills, term_id__in=[term.key for term in plan.terms])
        .alias(named=F("field_mask").bitand(int(Field.NAME)), tagged=F("field_mask").bitand(called))
        .values("skill_id")
        .annotate(score=Sum(F("weight") * Case(*idf, output_field=IntegerField())), **_coverage(plan))
        .annotate(tier=_tier(plan, exact))
        .order_by("-tier", "-score", "skill_id")
        .values_list("skill_id", "tier", "score")[:most]
    )
    return found | {key: (Tier(tier), score) for key, tier, score in rows}


def _coverage(plan: _Plan) -> dict[str, Count]:
    """How many words of the query stand in a skill's name, and in its name, keywords and tags."""
    of_kind = {kind: [t.key for t in plan.terms if t.kind == kind] for kind in ("word", "beginning")}
    before = [t.key for t in plan.terms if t.kind == "word" and t.word != plan.words[-1]]
    keys = {"whole": of_kind["word"], "before": before, "begun": of_kind["beginning"]}
    return {
        f"{name}_{where}": Count("pk", filter=Q(term_id__in=terms, **{f"{where}__gt": 0}))
        for where in ("named", "tagged")
        for name, terms in keys.items()
    }


def _tier(plan: _Plan, exact: Sequence[int]) -> Case:
    every = len(plan.words)
    cases = [
        When(whole_named=every, then=Value(int(Tier.NAME))),
        When(before_named=every - 1, begun_named__gt=0, then=Value(int(Tier.BEGINNING))),
        When(whole_tagged=every, then=Value(int(Tier.TAGS))),
        When(before_tagged=every - 1, begun_tagged__gt=0, then=Value(int(Tier.TAGS))),
    ]
    if exact:
        cases.insert(0, When(skill_id__in=exact, then=Value(int(Tier.EXACT))))
    return Case(*cases, default=Value(int(Tier.TEXT)), output_field=IntegerField())


def _hits(found: _Candidates, plan: _Plan, limit: int) -> tuple[Hit, ...]:
    """The best ``limit``: by tier, then relevance, then usage, then freshness."""
    now = timezone.now()
    skills = Skill.objects.select_related("team", "latest").defer("latest__manifest", "latest__body")

    def order(skill: Skill) -> tuple[float | str, ...]:
        tier, score = found[skill.pk]
        used = usage.score(skill.usage_count, skill.last_used_at, now)
        fresh = skill.latest.created_at.timestamp() if skill.latest else 0
        return -tier, -score, -used, -fresh, skill.pk

    best = sorted(skills.filter(pk__in=found), key=order)[:limit]
    reasons = _reasons([skill.pk for skill in best], plan)
    return tuple(
        Hit(skill, found[skill.pk][1] / 1e6, found[skill.pk][0], tuple(reasons[skill.pk])) for skill in best
    )


def _reasons(skills: Sequence[int], plan: _Plan) -> dict[int, list[Reason]]:
    """Which words of the query found each skill, the one that counted most first."""
    terms = {term.key: term for term in plan.terms}
    rows = Posting.objects.filter(skill_id__in=skills, term_id__in=terms)
    parts: dict[int, list[tuple[int, _Term, int]]] = {skill: [] for skill in skills}
    for skill, key, weight, mask in rows.values_list("skill_id", "term_id", "weight", "field_mask"):
        parts[skill].append((weight * terms[key].idf, terms[key], mask))
    return {skill: _shares(found) for skill, found in parts.items()}


def _shares(found: Sequence[tuple[int, _Term, int]]) -> list[Reason]:
    total = sum(part for part, _, _ in found) or 1
    ranked = sorted(found, key=lambda row: (-row[0], row[1].word.start, row[1].kind, row[1].key))
    return [
        Reason(term.kind, _best_field(mask), term.word.text, term.word.start, term.word.end, part / total)
        for part, term, mask in ranked
    ]


def _best_field(mask: int) -> str:
    return next(str(field.name).lower() for field in Field if mask & field)


def _hit_document(hit: Hit) -> dict[str, object]:
    latest = hit.skill.latest
    return {
        "skill": str(hit.skill),
        "version": latest.number if latest else None,
        "score": round(hit.score, 3),
        "tier": hit.tier.name.lower(),
        "reasons": [{**asdict(reason), "share": round(reason.share, 3)} for reason in hit.reasons],
    }
