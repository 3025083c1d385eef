"""Full-text search of the catalog: exact names first, then names, prefixes, tags and text.

Results are the same on every database. All statistics cover only skills that the actor may see (see
``registry.index.postings``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.core import search_terms
from registry.core.search_terms import QueryWord
from registry.identity.actors import Actor
from registry.index.postings import RANK, Field
from registry.index.skill_rows import load_skills
from registry.lookup import canonical as canonical_canonical
from registry.models import Canonical, Skill
from registry.search import ranking, sql
from registry.search.kinds import KIND_FILTERS, LANGUAGE_FILTERS
from registry.search.ranking import RankedSkill, SearchPlan, SearchTerm, SearchTier
from registry.search.sql import TermCounts
from registry.usage import scores as usage

MAX_QUERY_CHARACTERS = 500  # per query
MAX_TERMS = 12  # per query; the rarest terms are used
_COMMON_TERM_SHARE = 0.2  # terms in a larger share of the skills are ignored if there are rarer ones
_MIN_COMMON_DF = 1000  # terms in at most this many skills are never ignored, because they are cheap
_EXTRA_CANDIDATES = 50  # candidates above the limit, so that usage and freshness can order ties
_FIELD_NAMES = [(int(field), str(field.name).lower()) for field in Field]
_VERSION_SUFFIX = re.compile(r"@v?\d[\w.+-]*$")  # a version after a skill's name
_MAX_PREFIX_TERMS = 20  # terms tried if no name or tag has the prefix


@dataclass(frozen=True)
class SearchReason:
    """A query word that matched: position in the query, field, and share of the score."""

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
    tier: SearchTier
    reasons: tuple[SearchReason, ...]


@dataclass(frozen=True)
class SearchResult:
    query: str
    hits: tuple[Hit, ...]
    total: int = 0  # number of matching skills; the hits are the best of them
    counted: tuple[int, ...] = ()  # ids of matching skills, for counting facets

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
    """Conditions that a hit must also meet. Empty filters are ignored."""

    team: str = ""
    type: str = ""
    tag: str = ""
    category: str = ""
    domain: str = ""
    source: str = ""
    profile: str = ""
    kind: str = ""  # a key of KIND_FILTERS; like ``language``, not a parameter of the API
    language: str = ""  # a key of LANGUAGE_FILTERS
    for_people: bool = False
    for_agents: bool = False

    def without(self, name: str) -> Filters:
        return Filters(**{**asdict(self), name: ""})

    @property
    def only_for_people(self) -> bool:
        return self == Filters(for_people=True)

    def narrow(self, skills: QuerySet[Skill]) -> QuerySet[Skill]:
        wanted = {lookup: getattr(self, name) for name, lookup in FACETS.items()}
        wanted |= {"for_people": self.for_people, "for_agents": self.for_agents}
        kind, language = KIND_FILTERS.get(self.kind, Q()), LANGUAGE_FILTERS.get(self.language, Q())
        return skills.filter(kind, language, **{lookup: value for lookup, value in wanted.items() if value})


_NO_FILTERS = Filters()


@dataclass(frozen=True)
class _RankedAnswer:
    ranked: Sequence[RankedSkill] = ()
    total: int = 0
    plan: SearchPlan | None = None
    rows: Sequence[sql.PostingRow] = ()


def search(
    text: str, actor: Actor, *, limit: int = 20, filters: Filters = _NO_FILTERS, counted: int = 0
) -> SearchResult:
    """At most ``limit`` skills visible to the actor that match the text and the filters, best first.

    ``counted`` is the maximum number of ids in ``SearchResult.counted``.
    """
    text = text[:MAX_QUERY_CHARACTERS]
    found = _rank_skills(text, actor, filters, max(limit, counted))
    hits = _hits(found, limit)
    _resolve_canonical(text, hits)
    return SearchResult(text, hits, found.total, tuple(skill for _, _, skill in found.ranked[:counted]))


def matching_skill_ids(text: str, actor: Actor, filters: Filters, *, limit: int) -> tuple[int, ...]:
    """The ids of at most ``limit`` skills visible to the actor that match the text and the filters, best
    first.
    """
    return tuple(
        skill
        for _, _, skill in _rank_skills(text[:MAX_QUERY_CHARACTERS], actor, filters, limit).ranked[:limit]
    )


def search_document(result: SearchResult) -> dict[str, object]:
    return {
        "query": result.query,
        "none": result.none,
        "results": [_hit_document(hit) for hit in result.hits],
    }


def _exact_matches(text: str, actor: Actor, filters: Filters) -> set[int]:
    """The ids of skills that the actor finds in lists and whose slug, name, team/slug or canonical name is
    the text without its version. Only skills that meet the filters.
    """
    text = _VERSION_SUFFIX.sub("", text.strip())
    key = search_terms.name_key(text)
    found = sql.named_skill_ids(search_terms.phrase_key(text)[:200], key, sql.visibility_filter(actor))
    team, slash, slug = text.lower().partition("/")
    if team.startswith(canonical_canonical.PREFIX):
        pinned = Canonical.objects.filter(
            slug=team.removeprefix(canonical_canonical.PREFIX), version__isnull=False
        )
        found |= set(pinned.values_list("skill_id", flat=True))
    if slash:
        found |= set(Skill.objects.filter(team__slug=team, slug=slug).values_list("pk", flat=True))
    skills = filters.narrow(Skill.objects.discoverable_by(actor)) if found else Skill.objects.none()
    return set(skills.filter(pk__in=found).values_list("pk", flat=True)) if found else found


def _resolve_canonical(text: str, hits: Iterable[Hit]) -> None:
    """Sets ``resolved_canonical`` of the hits if the text starts with a canonical name."""
    if not text.strip().startswith(canonical_canonical.PREFIX):
        return
    slug = text.strip().partition("/")[0].removeprefix(canonical_canonical.PREFIX)
    rows = Canonical.objects.resolvable().filter(slug=slug).select_related("version")
    named = {row.skill_id: row for row in rows}
    for hit in hits:
        hit.skill.resolved_canonical = named.get(hit.skill.pk)


def _rank_skills(text: str, actor: Actor, filters: Filters, limit: int) -> _RankedAnswer:
    query_words = search_terms.query_words(text)
    if not query_words:
        return _RankedAnswer()
    plan = _build_plan(query_words, actor)
    sql_filter = catalog_filter(actor, filters)
    exact = _exact_matches(text, actor, filters)
    rows, cut = sql.read_postings(
        [term.counted for term in plan.terms], sql_filter, max_postings=_postings_limit(limit)
    )
    ranked = ranking.rank(plan, rows, exact)
    if more := sql.read_missing_postings(cut, map(ranking.skill_id, ranked), rows):
        ranked = ranking.rerank(plan, ranked, exact, rows, more)
        rows += more
    best = [ranking.unpack(packed) for packed in ranked[: limit + _EXTRA_CANDIDATES]]
    return _RankedAnswer(best, len(ranked), plan, rows)


def catalog_filter(actor: Actor, filters: Filters) -> sql.SqlFilter:
    """The SQL filter for postings of visible skills that meet the filters.

    If ``for_people`` is the only filter, excludes the few other skills instead, which is faster.
    """
    if filters.for_agents:
        found = catalog_filter(actor, replace(filters, for_agents=False))
        return replace(found, condition=f"{found.condition} AND recommendable_team IS NOT NULL")
    if filters == _NO_FILTERS:
        return sql.visibility_filter(actor)
    if filters.only_for_people:
        return sql.visibility_filter(actor, Skill.objects.filter(for_people=False), without=True)
    return sql.visibility_filter(actor, filters.narrow(Skill.objects.all()))


def _postings_limit(limit: int) -> int:
    return max(sql.MAX_POSTINGS_PER_TERM, limit + _EXTRA_CANDIDATES)


def _build_plan(query_words: Sequence[QueryWord], actor: Actor) -> SearchPlan:
    """A plan with at most MAX_TERMS of the rarest terms of the query, counted in skills visible to the actor.
    Unknown words are replaced by longer terms or corrections.
    """
    wanted = {word.prefix_term: (word, "beginning") for word in query_words if word.prefix_term}
    wanted |= {part: (word, "part") for word in query_words for part in word.parts}
    wanted |= {word.term: (word, "word") for word in query_words}
    counts = sql.count_terms(wanted, actor)
    known = [_search_term(text, *wanted[text], counts) for text in counts.terms]
    max_df = max(counts.skills * _COMMON_TERM_SHARE, _MIN_COMMON_DF)
    terms = [term for term in known if term.counted.df <= max_df] or known
    found = {term.word for term in known}
    if query_words[-1] not in found:
        terms += _prefix_terms(query_words[-1], actor)
        found |= {term.word for term in terms}
    terms += _corrected_terms([word for word in query_words if word not in found], actor)
    terms = sorted(terms, key=lambda term: (term.counted.df, term.word.start, term.kind, term.text))
    terms = terms[:MAX_TERMS]
    dropped = {term.word for term in known} - {term.word for term in terms}
    return SearchPlan(tuple(word for word in query_words if word not in dropped), tuple(terms))


def _prefix_terms(word: QueryWord, actor: Actor) -> list[SearchTerm]:
    """The most common terms that start with ``word``. Used only if no term matches ``word``, not even as a
    prefix, because only prefixes of names and tags are indexed.
    """
    start = word.prefix_term.rstrip("*")
    if len(start) < 3:
        return []
    counts = sql.count_prefix(start, actor)
    likely = sorted(counts.terms.items(), key=lambda item: (-item[1].df, item[0]))[:_MAX_PREFIX_TERMS]
    return [_search_term(text, word, "beginning", counts) for text, _ in likely]


def _corrected_terms(unknown: Sequence[QueryWord], actor: Actor) -> list[SearchTerm]:
    query_words = {word.term: word for word in unknown}
    meant = sql.find_corrections({term: word.text.lower() for term, word in query_words.items()}, actor)
    if not meant:
        return []
    counts = sql.count_terms(meant.values(), actor)
    return [
        _search_term(right, query_words[wrong], "typo", counts)
        for wrong, right in meant.items()
        if right in counts.terms
    ]


def _search_term(text: str, word: QueryWord, kind: str, counts: TermCounts) -> SearchTerm:
    idf = round(counts.idf(text) * (1000 if kind in ("word", "typo") else 500))
    return SearchTerm(text, counts.terms[text], word, kind, idf)


def _hits(found: _RankedAnswer, limit: int) -> tuple[Hit, ...]:
    """The best ``limit`` hits, sorted by tier, then relevance, then usage, then freshness."""
    now = timezone.now()
    near = _candidates_at_limit(found.ranked, limit)
    rows = load_skills([skill for _, _, skill in near])

    def order(each: RankedSkill) -> tuple[float, ...]:
        skill = rows[each[2]]
        used = usage.score(skill.usage_count, skill.last_used_at, now)
        fresh = skill.latest.created_at.timestamp() if skill.latest else 0
        return each[0], each[1], -used, -fresh, skill.pk

    best = sorted((each for each in near if each[2] in rows), key=order)[:limit]
    reasons = _reasons(found, {skill for _, _, skill in best})
    return tuple(
        Hit(rows[skill], -score / 1e6, SearchTier(-tier), reasons[skill]) for tier, score, skill in best
    )


def _candidates_at_limit(ranked: Sequence[RankedSkill], limit: int) -> Sequence[RankedSkill]:
    """The first ``limit`` skills, and up to _EXTRA_CANDIDATES more whose tier and score equal those of the
    last one.
    """
    end = min(limit, len(ranked))
    last = ranked[end - 1][:2] if end else None
    while end < min(len(ranked), limit + _EXTRA_CANDIDATES) and ranked[end][:2] == last:
        end += 1
    return ranked[:end]


def _reasons(answer: _RankedAnswer, skills: set[int]) -> dict[int, tuple[SearchReason, ...]]:
    """The matched query words by skill id, largest share first."""
    terms = {term.counted.key: term for term in answer.plan.terms} if answer.plan else {}
    parts: dict[int, list[tuple[int, SearchTerm, int]]] = {skill: [] for skill in skills}
    for key, skill, weight, mask in answer.rows:
        if skill in parts:
            parts[skill].append((weight % RANK * terms[key].idf, terms[key], mask))
    return {skill: _reasons_by_share(found) for skill, found in parts.items()}


def _reasons_by_share(found: Sequence[tuple[int, SearchTerm, int]]) -> tuple[SearchReason, ...]:
    total = sum(part for part, _, _ in found) or 1
    ranked = sorted(found, key=lambda row: (-row[0], row[1].word.start, row[1].kind, row[1].text))
    return tuple(
        SearchReason(
            term.kind, best_field(mask), term.word.text, term.word.start, term.word.end, part / total
        )
        for part, term, mask in ranked
    )


def best_field(mask: int) -> str:
    return next(name for bit, name in _FIELD_NAMES if mask & bit)


def _hit_document(hit: Hit) -> dict[str, object]:
    skill = hit.skill
    version = skill.resolved_canonical.version if skill.resolved_canonical else skill.latest
    return {
        "skill": str(skill.resolved_canonical or skill),
        "version": version.number if version else None,
        "score": round(hit.score, 3),
        "tier": hit.tier.name.lower(),
        "reasons": [{**asdict(reason), "share": round(reason.share, 3)} for reason in hit.reasons],
    }
