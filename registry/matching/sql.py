"""SQL of matching: reads triggers of visible skills, and terms and triggers of pinned versions.

The ORM would build each statement again for each match, which takes longer than running it.
"""

from collections.abc import Sequence
from typing import Any

from registry.core.sql import fetch_all, placeholders
from registry.search.sql import PostingRow, SqlFilter

TriggerRow = tuple[int, str, str, str]  # skill or version id, kind, key, text

_TRIGGERS = """
    SELECT skill_id, kind, key, text FROM registry_trigger
    WHERE key IN ({keys}) AND kind IN ({kinds}){condition}
"""
_PREFIXES = """
    SELECT column1 FROM (VALUES {pairs}) AS pairs
    WHERE EXISTS (SELECT 1 FROM registry_trigger WHERE key >= column1 AND key < column1 || '!')
    OR EXISTS (SELECT 1 FROM registry_pinnedtrigger WHERE key >= column1 AND key < column1 || '!')
"""
_PINNED_COUNTS = """
    SELECT t.text, t.id, COUNT(*) FROM registry_term t JOIN registry_pinnedposting p ON p.term_id = t.id
    WHERE t.text IN ({texts}) AND +p.version_id IN ({versions}) GROUP BY t.text, t.id
"""
_PINNED_POSTINGS = """
    SELECT term_id, version_id, weight, field_mask FROM registry_pinnedposting
    WHERE term_id IN ({terms}) AND +version_id IN ({versions})
"""
_PINNED_TRIGGERS = """
    SELECT version_id, kind, key, text FROM registry_pinnedtrigger
    WHERE key IN ({keys}) AND kind IN ({kinds}) AND +version_id IN ({versions})
"""  # `+` makes SQLite use the index of the term or key instead of looking up each pair


def trigger_rows(keys: Sequence[str], kinds: Sequence[str], sql_filter: SqlFilter) -> list[TriggerRow]:
    """The triggers with these keys and kinds, of skills that pass the filter. First column: skill id."""
    statement = _TRIGGERS.format(
        keys=placeholders(keys), kinds=placeholders(kinds), condition=sql_filter.condition
    )
    return sql_filter.read(statement, (*keys, *map(str, kinds), *sql_filter.values))


def trigger_prefixes(pairs: Sequence[str]) -> set[str]:
    """Those of ``pairs`` that start a trigger of any skill. A pair consists of the keys of two neighboring
    tokens.
    """
    if not pairs:
        return set()
    values = ", ".join(["(%s)"] * len(pairs))
    return {pair for (pair,) in fetch_all(_PREFIXES.format(pairs=values), pairs)}


def pinned_term_counts(texts: Sequence[str], versions: Sequence[int]) -> list[tuple[str, int, int]]:
    """For each of ``texts`` that occurs in the versions: text, term id, and number of versions with it."""
    return _fetch_by_lists(_PINNED_COUNTS, texts=texts, versions=versions)


def pinned_postings(terms: Sequence[int], versions: Sequence[int]) -> list[PostingRow]:
    """The postings of the terms in the versions, with the version id in place of the skill id."""
    return _fetch_by_lists(_PINNED_POSTINGS, terms=terms, versions=versions)


def pinned_trigger_rows(
    keys: Sequence[str], kinds: Sequence[str], versions: Sequence[int]
) -> list[TriggerRow]:
    """The triggers of the versions with these keys and kinds. The first column is the version id."""
    return _fetch_by_lists(_PINNED_TRIGGERS, keys=keys, kinds=kinds, versions=versions)


def _fetch_by_lists(statement: str, **lists: Sequence[int | str]) -> list[Any]:
    """Runs a statement with one ``IN`` per list; the lists are passed by name, in the statement's order.
    Returns [] if a list is empty.
    """
    if not all(lists.values()):
        return []
    marks = {name: placeholders(values) for name, values in lists.items()}
    return fetch_all(statement.format(**marks), [value for values in lists.values() for value in values])
