"""SQL of search and matching: term counts, postings and facets, limited to what an actor may see.

The ORM would build each statement again for each call, which takes longer than running it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log
from typing import NamedTuple

from django.db.models import QuerySet

from registry.core import search_terms
from registry.core import sql as bulk
from registry.core.sql import Reads, StatementRows, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.index.postings import CJK_DOC_COUNT_TERM, DOC_COUNT_TERM, RANK, Field
from registry.models import Misspelling, Posting, Skill, TriggerKind
from registry.models.skill import open_scopes, visible_scopes
from registry.subscriptions.trusted_teams import trusted_team_ids

MAX_POSTINGS_PER_TERM = 250  # postings read per common term; missing ones of the best skills are looked up
MIN_CATALOG_SKILLS = 50  # smaller catalogs are weighted like a catalog of this size
MAX_LOOKUP_SKILLS = 120
_NAME_FIELDS = int(Field.NAME | Field.TAGS)


@dataclass(frozen=True)
class TermCount:
    """The id of a term and the number of visible skills with the term."""

    key: int
    df: int


@dataclass(frozen=True)
class TermCounts:
    """Term statistics of the skills that the actor may see. Other skills never affect the actor's search."""

    terms: Mapping[str, TermCount]
    skills: int
    cjk_skills: int

    def idf(self, text: str) -> float:
        """The inverse document frequency of a term.

        For Chinese terms, only skills with Chinese text count.
        """
        known = self.terms.get(text)
        df = known.df if known else 0
        among = max(self.cjk_skills if search_terms.has_cjk(text) else self.skills, MIN_CATALOG_SKILLS)
        return log(1 + (max(among - df, 0) + 0.5) / (df + 0.5))


_MAX_NAMED_SKILLS = 50
_NAMED_SQL = f"""
    SELECT DISTINCT skill_id FROM registry_trigger JOIN registry_skill ON registry_skill.id = skill_id
    WHERE key = %s AND kind = %s AND (slug = %s OR name_key = %s){{condition}}
    ORDER BY skill_id LIMIT {_MAX_NAMED_SKILLS}
"""
_GLOSSARY_STATE_SQL = (
    "SELECT COUNT(*) AS number, CAST(MAX(at) AS text) AS at, MAX(id) AS id FROM registry_glossaryentry"
)
_FACETS_SQL = """
    SELECT '' AS tag, t.slug AS team, type, category, domain, source, profile, abilities, CASE WHEN EXISTS (
        SELECT 1 FROM registry_posting p JOIN registry_term m ON m.id = p.term_id
        WHERE m.text = %s AND p.skill_id = s.id
    ) THEN 'zh' ELSE 'en' END AS language, 1 AS number
    FROM registry_skill s JOIN registry_team t ON t.id = s.team_id WHERE s.id IN ({keys})
    UNION ALL
    SELECT text, '', '', '', '', '', '', 0, '', COUNT(*)
    FROM registry_tag WHERE skill_id IN ({keys}) GROUP BY text
"""
# tag, team, type, category, domain, source, profile, abilities, language, number; most are empty for a tag
FacetRow = tuple[str, str, str, str, str, str, str, int, str, int]
_FACET_COLUMNS = dict.fromkeys(("tag", "team", "type", "category", "domain", "source", "profile"), "text") | {
    "abilities": "bigint", "language": "text", "number": "bigint"
}  # fmt: skip
PostingRow = tuple[int, int, int, int]  # term id, skill id, weight with rank, field mask
_POSTING_COLUMNS = dict.fromkeys(("term_id", "skill_id", "weight", "field_mask"), "bigint")
_COUNT_COLUMNS = {"text": "text", "id": "bigint", "df": "bigint"}
_STATE_COLUMNS = {"number": "bigint", "at": "text", "id": "bigint"}

_COUNT_SQL = """
    SELECT t.text, t.id, SUM(s.df) AS df FROM registry_term t JOIN registry_termscope s ON s.term_id = t.id
    WHERE {which} AND s.df > 0{condition} GROUP BY t.text, t.id
"""
_POSTINGS_SQL = "SELECT term_id, skill_id, weight, field_mask FROM {postings} WHERE "
_HEAVIEST_SQL = f"""
    SELECT * FROM ({_POSTINGS_SQL}term_id = %s{{condition}} ORDER BY weight DESC, skill_id LIMIT %s) AS h
"""

# Looks up pairs: given two IN lists, both databases would read all postings of the terms. No index has `id`,
# so `id > 0` makes PostgreSQL use the index of the pairs instead of reading all postings of each term.
_LOOKUP_SQL = """
    WITH pair AS MATERIALIZED (
        SELECT t.column1 AS term, s.column1 AS skill
        FROM (VALUES {terms}) AS t CROSS JOIN (VALUES {skills}) AS s
    )
    SELECT term_id, skill_id, weight, field_mask FROM pair
    CROSS JOIN registry_posting WHERE term_id = term AND skill_id = skill AND id > 0
"""


class TypoCandidate(NamedTuple):
    """``correction`` is a term with the id ``key`` that ``term`` may be a typo of."""

    term: str
    key: int
    correction: str


@dataclass(frozen=True)
class SqlFilter:
    """A condition, with its values, that limits a statement to visible postings and triggers."""

    condition: str = ""
    values: tuple[object, ...] = ()
    # SQL and values of the skills that ``condition`` refers to.
    chosen: tuple[str, tuple[object, ...]] | None = None
    is_few: bool = False  # whether only chosen skills meet the condition, and they are few

    def rows(self, sql: str, values: Sequence[object], columns: Mapping[str, str]) -> StatementRows:
        """The rows of a statement that contains ``condition``. ``columns``: see ``StatementRows``."""
        if self.chosen and sql:
            chosen, first = self.chosen
            sql, values = f"WITH chosen AS ({chosen}) {sql}", (*first, *values)
        return StatementRows(sql, values, columns)


def visibility_filter(
    actor: Actor, chosen: QuerySet[Skill] | None = None, *, without: bool = False
) -> SqlFilter:
    """The filter for skills visible to the actor. ``chosen`` limits the filter to these skills; with
    ``without``, to all others.
    """
    scopes = () if actor.is_administrator else tuple(visible_scopes(actor))
    condition = f" AND scope IN ({bulk.placeholders(scopes)})" if scopes else ""
    if chosen is None:
        return SqlFilter(condition, scopes)
    sql, values = chosen.order_by().values("id").query.sql_with_params()
    which = "NOT IN" if without else "IN"
    return SqlFilter(f"{condition} AND skill_id {which} (SELECT id FROM chosen)", scopes, (sql, values))


@reader
def recommendable_filter(actor: Actor) -> Reads[SqlFilter]:
    """The filter for skills recommended to the actor's agents, like ``Skill.objects.recommendable_to``.

    Skills recommended only as canonical are not included, because their pinned version is read instead.
    """
    if actor.is_shell:
        return SqlFilter(" AND recommendable_team IS NOT NULL")
    open_to = open_scopes(actor)
    trusted = yield from trusted_team_ids.reads(actor)
    own, followed = sorted(actor.team_ids), sorted(trusted - actor.team_ids)
    recommended = f"recommendable_team IN ({bulk.placeholders(followed)}) OR " if followed else ""
    recommended += "recommendable_team IS NOT NULL AND skill_id IN (SELECT id FROM chosen)"
    condition = f"scope IN ({bulk.placeholders(open_to)}) AND ({recommended})"
    if own:
        condition = f"recommendable_team IN ({bulk.placeholders(own)}) OR {condition}"
    bundled = ("SELECT id FROM registry_skill WHERE is_bundled", ())
    values = (*own, *open_to, *followed)
    return SqlFilter(f" AND ({condition})", values, bundled, is_few=not own and not followed)


@reader
def count_terms(texts: Iterable[str], actor: Actor) -> Reads[TermCounts]:
    wanted = [*texts, DOC_COUNT_TERM, CJK_DOC_COUNT_TERM]
    return (yield from _count(f"t.text IN ({bulk.placeholders(wanted)})", wanted, actor))


@reader
def count_prefix(start: str, actor: Actor) -> Reads[TermCounts]:
    """The counts of all terms with this prefix, in skills visible to the actor."""
    which = "(t.text >= %s AND t.text < %s OR t.text IN (%s, %s))"
    values = [start, start + chr(0x10FFFF), DOC_COUNT_TERM, CJK_DOC_COUNT_TERM]
    return (yield from _count(which, values, actor))


def _count(which: str, values: Sequence[str], actor: Actor) -> Reads[TermCounts]:
    visible = visibility_filter(actor)
    statement = _COUNT_SQL.format(which=which, condition=visible.condition)
    yield (rows := StatementRows(statement, (*values, *visible.values), _COUNT_COLUMNS))
    terms = {text: TermCount(key, int(df)) for text, key, df in rows}
    every, cjk = terms.pop(DOC_COUNT_TERM, None), terms.pop(CJK_DOC_COUNT_TERM, None)
    return TermCounts(terms, every.df if every else 0, cjk.df if cjk else 0)


@reader
def read_postings(
    terms: Collection[TermCount],
    sql_filter: SqlFilter,
    *,
    max_postings: int = MAX_POSTINGS_PER_TERM,
    heaviest: int | None = None,
    max_df: int | None = None,
) -> Reads[tuple[list[PostingRow], list[int]]]:
    """The postings of the terms, and the ids of the terms that are not read in full.

    Terms in at most ``max_postings`` skills are read in full. Of the others, terms in more than ``max_df``
    skills are skipped, and only the ``heaviest`` postings of the rest are read, by default ``max_postings``.
    At least one term is read.
    """
    rare = [term.key for term in terms if term.df <= max_postings]
    common = sorted((term for term in terms if term.df > max_postings), key=lambda term: (term.df, term.key))
    useful = [term.key for term in common if max_df is None or term.df <= max_df]
    if not rare:
        useful = useful or [term.key for term in common[:1]]
    yield (rows := _postings(rare, useful, sql_filter, heaviest or max_postings))
    return list(rows), [term.key for term in common]


def _postings(
    whole: Sequence[int], cut: Sequence[int], sql_filter: SqlFilter, max_postings: int
) -> StatementRows:
    """The postings of the terms ``whole`` and the heaviest ones of the terms ``cut``, in one statement."""
    source, condition = "registry_posting", sql_filter.condition
    if sql_filter.is_few:  # looks up the chosen skills instead of reading all postings of a term
        source, condition = "chosen CROSS JOIN registry_posting", f" AND skill_id = chosen.id{condition}"
    statements = [_HEAVIEST_SQL.format(postings=source, condition=condition)] * len(cut)
    values = [value for term in cut for value in (term, *sql_filter.values, max_postings)]
    if whole:
        which = f"term_id IN ({bulk.placeholders(whole)}){condition}"
        statements.append(_POSTINGS_SQL.format(postings=source) + which)
        values += [*whole, *sql_filter.values]
    return sql_filter.rows(" UNION ALL ".join(statements), values, _POSTING_COLUMNS)


@reader
def read_missing_postings(
    cut: Collection[int], skills: Iterable[int], found: Iterable[PostingRow]
) -> Reads[list[PostingRow]]:
    """The postings of the terms ``cut`` for the first MAX_LOOKUP_SKILLS skills, without those in ``found``.
    The caller must pass only visible skills.
    """
    best = sorted(islice(skills, MAX_LOOKUP_SKILLS))  # sorted, because neighbors share index pages
    if not cut or not best:
        return []
    wanted = set(best)
    known = {(term, skill) for term, skill, _, _ in found if skill in wanted}
    sql = _LOOKUP_SQL.format(terms=_value_rows(cut), skills=_value_rows(best))
    yield (rows := StatementRows(sql, (*cut, *best), _POSTING_COLUMNS))
    return [row for row in rows if row[:2] not in known]


def _value_rows(values: Collection[int]) -> str:
    return ", ".join(["(%s)"] * len(values))


def named_skill_rows(trigger_key: str, name_key: str, visible: SqlFilter) -> StatementRows:
    """Ids of visible skills with this slug or name, at most 50, looked up by their name trigger."""
    values = (trigger_key, TriggerKind.NAME.value, name_key.replace(" ", "-"), name_key)
    statement = _NAMED_SQL.format(condition=visible.condition)
    return StatementRows(statement, (*values, *visible.values), {"skill_id": "bigint"})


def facet_rows(keys: Sequence[int]) -> StatementRows:
    """What facets count of these skills: a row per skill and a row per tag. The caller must check access.

    Uses SQL, because ``fetch_all`` can inline a thousand keys and the ORM can't.
    """
    statement = _FACETS_SQL.format(keys=bulk.placeholders(keys)) if keys else ""
    return StatementRows(statement, (CJK_DOC_COUNT_TERM, *keys, *keys), _FACET_COLUMNS)


def glossary_state() -> StatementRows:
    """A row with the number, latest change and highest id of the site's glossary entries. Every edit changes
    these.
    """
    return StatementRows(_GLOSSARY_STATE_SQL, (), _STATE_COLUMNS)


@reader
def find_corrections(unknown: Mapping[str, str], actor: Actor) -> Reads[tuple[dict[str, str], TermCounts]]:
    """``choose_corrections`` of the candidates for these terms. ``unknown`` maps each term to the word as
    written.
    """
    candidates = yield from find_typo_candidates.reads(unknown)
    return (yield from choose_corrections.reads(candidates, actor))


@reader
def find_typo_candidates(unknown: Mapping[str, str]) -> Reads[set[TypoCandidate]]:
    """The terms one typo away from these, which may be in no visible skill."""
    typo_terms: defaultdict[str, set[str]] = defaultdict(set)
    for term, word in unknown.items():
        for text in search_terms.typo_keys(word):
            typo_terms[text].add(term)
    rows = Misspelling.objects.filter(text__in=typo_terms).values_list("text", "term_id", "term__text")
    yield rows
    return {
        TypoCandidate(term, key, correction) for text, key, correction in rows for term in typo_terms[text]
    }


@reader
def choose_corrections(
    candidates: Collection[TypoCandidate], actor: Actor
) -> Reads[tuple[dict[str, str], TermCounts]]:
    """The corrections by unknown term, each the most common candidate in visible names and tags, with the
    counts of the corrections. Terms without a correction are omitted.
    """
    if not candidates:
        return {}, TermCounts({}, 0, 0)
    named = Posting.objects.visible_to(actor).filter(
        term_id__in={key for _, key, _ in candidates}, weight__gte=RANK * 2
    )
    masks = named.values_list("term_id", "field_mask")
    _masks, found = yield from gather(
        reads_of(masks), count_terms.reads({text for _, _, text in candidates}, actor)
    )
    counts = Counter(key for key, mask in masks if mask & _NAME_FIELDS)
    best: dict[str, str] = {}
    for term, key, correction in sorted(candidates, key=lambda each: (counts[each[1]], each[2])):
        if counts[key]:
            best[term] = correction
    meant = set(best.values())
    return best, replace(found, terms={text: each for text, each in found.terms.items() if text in meant})
