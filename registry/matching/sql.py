"""SQL of matching: reads triggers of visible skills, and terms and triggers of pinned versions.

The ORM would build each statement again for each match, which takes longer than running it.
"""

from collections.abc import Mapping, Sequence

from registry.core.sql import StatementRows, placeholders
from registry.search.sql import SqlFilter

TriggerRow = tuple[int, str, str, str]  # skill or version id, kind, key, text
_TRIGGER_COLUMNS = dict.fromkeys(("kind", "key", "text"), "text")

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
    SELECT t.text, t.id, COUNT(*) AS df FROM registry_term t JOIN registry_pinnedposting p ON p.term_id = t.id
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


def trigger_rows(keys: Sequence[str], kinds: Sequence[str], sql_filter: SqlFilter) -> StatementRows:
    """The triggers with these keys and kinds, of skills that pass the filter. First column: skill id."""
    statement = _TRIGGERS.format(
        keys=placeholders(keys), kinds=placeholders(kinds), condition=sql_filter.condition
    )
    values = (*keys, *map(str, kinds), *sql_filter.values)
    return sql_filter.rows(statement, values, {"skill_id": "bigint", **_TRIGGER_COLUMNS})


def trigger_prefixes(pairs: Sequence[str]) -> StatementRows:
    """Rows with those of ``pairs`` that start a trigger of any skill. A pair consists of the keys of two
    neighboring tokens.
    """
    statement = _PREFIXES.format(pairs=", ".join(["(%s)"] * len(pairs))) if pairs else ""
    return StatementRows(statement, pairs, {"column1": "text"})


def pinned_term_counts(texts: Sequence[str], versions: Sequence[int]) -> StatementRows:
    """For each of ``texts`` that occurs in the versions: text, term id, and number of versions with it."""
    columns = {"text": "text", "id": "bigint", "df": "bigint"}
    return _rows_by_lists(_PINNED_COUNTS, columns, texts=texts, versions=versions)


def pinned_postings(terms: Sequence[int], versions: Sequence[int]) -> StatementRows:
    """The postings of the terms in the versions, with the version id in place of the skill id."""
    columns = dict.fromkeys(("term_id", "version_id", "weight", "field_mask"), "bigint")
    return _rows_by_lists(_PINNED_POSTINGS, columns, terms=terms, versions=versions)


def pinned_trigger_rows(keys: Sequence[str], kinds: Sequence[str], versions: Sequence[int]) -> StatementRows:
    """The triggers of the versions with these keys and kinds. The first column is the version id."""
    columns = {"version_id": "bigint", **_TRIGGER_COLUMNS}
    return _rows_by_lists(_PINNED_TRIGGERS, columns, keys=keys, kinds=kinds, versions=versions)


def _rows_by_lists(statement: str, columns: Mapping[str, str], **lists: Sequence[int | str]) -> StatementRows:
    """The rows of a statement with one ``IN`` per list; the lists are passed by name, in the statement's
    order. Without rows if a list is empty.
    """
    if not all(lists.values()):
        return StatementRows("", (), columns)
    marks = {name: placeholders(values) for name, values in lists.items()}
    values = [value for each in lists.values() for value in each]
    return StatementRows(statement.format(**marks), values, columns)
