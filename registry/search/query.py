"""Full-text search of the catalog: exact names first, then names, prefixes, tags and text.

Results are the same on every database. All statistics cover only skills that the actor may see (see
``registry.index.postings``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.core import search_terms
from registry.core.search_terms import QueryWord
from registry.core.sql import Readable, Reads, gather, reader
from registry.identity.actors import Actor
from registry.index.postings import RANK, Field
from registry.index.skill_rows import OrderFields, load_first_skills
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

    @property
    def query_shape(self) -> FilterShape:
        """All that querysets may depend on except ``query_values``; see ``registry.core.sql.prepared``."""
        return FilterShape(
            tuple(name for name in FACETS if getattr(self, name)),
            self.kind if self.kind in KIND_FILTERS else "",
            self.language if self.language in LANGUAGE_FILTERS else "",
            self.for_people,
            self.for_agents,
        )

    @property
    def query_values(self) -> list[str]:
        return [value for name in FACETS if (value := getattr(self, name))]

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

    def searchable_by(self, actor: Actor) -> QuerySet[Skill]:
        """The skills that meet the filters and that the actor can find."""
        return self.narrow(Skill.objects.searchable_by(actor))


class FilterShape(NamedTuple):
    """The shape of filters for prepared querysets: filters of one shape differ only in their texts."""

    texts: tuple[str, ...]  # names of the filters in ``FACETS`` that are set
    kind: str
    language: str
    for_people: bool
    for_agents: bool

    @property
    def kinds(self) -> Sequence[type[str]]:
        return (str,) * len(self.texts)

    def example(self, values: Sequence[str]) -> Filters:
        constants = Filters(
            kind=self.kind, language=self.language, for_people=self.for_people, for_agents=self.for_agents
        )
        texts: dict[str, Any] = dict(zip(self.texts, values, strict=True))
        return replace(constants, **texts)


_NO_FILTERS = Filters()


@dataclass(frozen=True)
class _RankedAnswer:
    ranked: Sequence[RankedSkill] = ()
    total: int = 0
    plan: SearchPlan | None = None
    rows: Sequence[sql.PostingRow] = ()


@reader
def search(
    text: str, actor: Actor, *, limit: int = 20, filters: Filters = _NO_FILTERS, counted: int = 0
) -> Reads[SearchResult]:
    """At most ``limit`` skills visible to the actor that match the text and the filters, best first.

    ``counted`` is the maximum number of ids in ``SearchResult.counted``.
    """
    text = text[:MAX_QUERY_CHARACTERS]
    found = yield from _rank_skills(text, actor, filters, max(limit, counted))
    hits = yield from _hits(found, limit)
    yield from _resolve_canonical(text, hits)
    return SearchResult(text, hits, found.total, tuple(skill for _, _, skill in found.ranked[:counted]))


@reader
def matching_skill_ids(text: str, actor: Actor, filters: Filters, *, limit: int) -> Reads[tuple[int, ...]]:
    """The ids of at most ``limit`` skills visible to the actor that match the text and the filters, best
    first.
    """
    found = yield from _rank_skills(text[:MAX_QUERY_CHARACTERS], actor, filters, limit)
    return tuple(skill for _, _, skill in found.ranked[:limit])


def search_document(result: SearchResult) -> dict[str, object]:
    return {
        "query": result.query,
        "none": result.none,
        "results": [_hit_document(hit) for hit in result.hits],
    }


def _exact_matches(text: str, actor: Actor, filters: Filters) -> Reads[set[int]]:
    """The ids of skills that the actor finds in lists and whose slug, name, team/slug or canonical name is
    the text without its version. Only skills that meet the filters.
    """
    text = _VERSION_SUFFIX.sub("", text.strip())
    key = search_terms.name_key(text)
    named = sql.named_skill_rows(search_terms.phrase_key(text)[:200], key, sql.visibility_filter(actor))
    reads: list[Readable] = [named]
    team, slash, slug = text.lower().partition("/")
    if team.startswith(canonical_canonical.PREFIX):
        pinned = Canonical.objects.filter(
            slug=team.removeprefix(canonical_canonical.PREFIX), version__isnull=False
        )
        reads.append(pinned.values_list("skill_id"))
    if slash:
        reads.append(Skill.objects.filter(team__slug=team, slug=slug).values_list("pk"))
    yield tuple(reads)
    found = {skill for rows in reads for (skill,) in rows}
    if not found:
        return found
    skills = filters.narrow(Skill.objects.discoverable_by(actor)).filter(pk__in=found)
    yield (visible := skills.values_list("pk", flat=True))
    return set(visible)


def _resolve_canonical(text: str, hits: Iterable[Hit]) -> Reads[None]:
    """Sets ``resolved_canonical`` of the hits if the text starts with a canonical name."""
    if not text.strip().startswith(canonical_canonical.PREFIX):
        return
    slug = text.strip().partition("/")[0].removeprefix(canonical_canonical.PREFIX)
    yield (rows := Canonical.objects.resolvable().filter(slug=slug).select_related("version"))
    named = {row.skill_id: row for row in rows}
    for hit in hits:
        hit.skill.resolved_canonical = named.get(hit.skill.pk)


def _rank_skills(text: str, actor: Actor, filters: Filters, limit: int) -> Reads[_RankedAnswer]:
    query_words = search_terms.query_words(text)
    if not query_words:
        return _RankedAnswer()
    plan, exact = yield from gather(_build_plan(query_words, actor), _exact_matches(text, actor, filters))
    sql_filter = catalog_filter(actor, filters)
    rows, cut = yield from sql.read_postings.reads(
        [term.counted for term in plan.terms], sql_filter, max_postings=_postings_limit(limit)
    )
    ranked = ranking.rank(plan, rows, exact)
    if more := (yield from sql.read_missing_postings.reads(cut, map(ranking.skill_id, ranked), rows)):
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


def _build_plan(query_words: Sequence[QueryWord], actor: Actor) -> Reads[SearchPlan]:
    """A plan with at most MAX_TERMS of the rarest terms of the query, counted in skills visible to the actor.
    Unknown words are replaced by longer terms or corrections.
    """
    wanted = {word.prefix_term: (word, "beginning") for word in query_words if word.prefix_term}
    wanted |= {part: (word, "part") for word in query_words for part in word.parts}
    wanted |= {word.term: (word, "word") for word in query_words}
    counts = yield from sql.count_terms.reads(wanted, actor)
    known = [_search_term(text, *wanted[text], counts) for text in counts.terms]
    max_df = max(counts.skills * _COMMON_TERM_SHARE, _MIN_COMMON_DF)
    terms = [term for term in known if term.counted.df <= max_df] or known
    found = {term.word for term in known}
    unknown = [word for word in query_words if word not in found]
    terms += yield from _terms_of_unknown(unknown, query_words[-1], actor)
    terms = sorted(terms, key=lambda term: (term.counted.df, term.word.start, term.kind, term.text))
    terms = terms[:MAX_TERMS]
    dropped = {term.word for term in known} - {term.word for term in terms}
    return SearchPlan(tuple(word for word in query_words if word not in dropped), tuple(terms))


def _terms_of_unknown(unknown: Sequence[QueryWord], last: QueryWord, actor: Actor) -> Reads[list[SearchTerm]]:
    """Longer terms for the last word of the query, and corrections of the other unknown words."""
    if not unknown:
        return []
    words = {word.term: word for word in unknown}
    longer, candidates = yield from gather(
        _prefix_terms(last if last in unknown else None, actor),
        sql.find_typo_candidates.reads({term: word.text.lower() for term, word in words.items()}),
    )
    if longer:
        candidates = {each for each in candidates if each.term != last.term}
    meant, counts = yield from sql.choose_corrections.reads(candidates, actor)
    corrected = [
        _search_term(right, words[wrong], "typo", counts)
        for wrong, right in meant.items()
        if right in counts.terms
    ]
    return [*longer, *corrected]


def _prefix_terms(word: QueryWord | None, actor: Actor) -> Reads[list[SearchTerm]]:
    """The most common terms that start with ``word``. Used only if no term matches ``word``, not even as a
    prefix, because only prefixes of names and tags are indexed.
    """
    start = word.prefix_term.rstrip("*") if word else ""
    if word is None or len(start) < 3:
        return []
    counts = yield from sql.count_prefix.reads(start, actor)
    likely = sorted(counts.terms.items(), key=lambda item: (-item[1].df, item[0]))[:_MAX_PREFIX_TERMS]
    return [_search_term(text, word, "beginning", counts) for text, _ in likely]


def _search_term(text: str, word: QueryWord, kind: str, counts: TermCounts) -> SearchTerm:
    idf = round(counts.idf(text) * (1000 if kind in ("word", "typo") else 500))
    return SearchTerm(text, counts.terms[text], word, kind, idf)


def _hits(found: _RankedAnswer, limit: int) -> Reads[tuple[Hit, ...]]:
    """The best ``limit`` hits, sorted by tier, then relevance, then usage, then freshness."""
    now = timezone.now()
    near = {skill: (tier, score) for tier, score, skill in _candidates_at_limit(found.ranked, limit)}

    def order(skill: OrderFields) -> tuple[float, ...]:
        used = usage.score(skill.usage_count, skill.last_used_at, now)
        fresh = skill.released_at.timestamp() if skill.released_at else 0
        return *near[skill.key], -used, -fresh, skill.key

    best = yield from load_first_skills.reads(list(near), limit, order)
    reasons = _reasons(found, {skill.pk for skill in best})
    return tuple(_hit(skill, near[skill.pk], reasons[skill.pk]) for skill in best)


def _hit(skill: Skill, rank: tuple[int, int], reasons: tuple[SearchReason, ...]) -> Hit:
    tier, score = rank
    return Hit(skill, -score / 1e6, SearchTier(-tier), reasons)


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
