"""SQL of the index: the bulk writes of publishing, and the reads of each search and match.

The ORM would build each statement again for each call, which takes longer than running it.
"""

from collections.abc import Iterable, Mapping, Sequence

from registry.core.sql import StatementRows, fetch_all, insert_rows, placeholders
from registry.models import TermScope

_LOCK = "SELECT id FROM registry_term WHERE text = %s FOR UPDATE"
_INCREMENT_ON_CONFLICT = "ON CONFLICT (term_id, scope) DO UPDATE SET df = registry_termscope.df + 1"
_SKILLS = """
    SELECT {columns}
    FROM registry_skill JOIN registry_team ON registry_team.id = registry_skill.team_id
    LEFT JOIN registry_version ON registry_version.id = registry_skill.latest_id
    WHERE registry_skill.id IN ({keys})
"""


def lock_term(text: str) -> bool:
    """Locks the term's row until the transaction ends; False if the term does not exist. PostgreSQL only."""
    return bool(fetch_all(_LOCK, [text]))


def known_term_ids(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Text and id of the terms that exist. ``texts`` must not be empty."""
    return fetch_all(f"SELECT text, id FROM registry_term WHERE text IN ({placeholders(texts)})", texts)


def insert_terms(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Inserts new terms and returns text and id of each. ``texts`` must not be empty."""
    values = ", ".join(["(%s)"] * len(texts))
    return fetch_all(f"INSERT INTO registry_term (text) VALUES {values} RETURNING text, id", texts)


def increment_document_counts(terms: Iterable[int], scope: str) -> None:
    """Adds 1 to the terms' counts in the scope. SQL is used because the ORM's upsert can't add to the stored
    value.
    """
    rows = ((term, scope, 1) for term in terms)
    insert_rows(TermScope, ("term_id", "scope", "df"), rows, on_conflict=_INCREMENT_ON_CONFLICT)


def skill_rows(columns: str, types: Mapping[str, str], keys: Sequence[int]) -> StatementRows:
    """Values of ``columns`` for each skill in ``keys``, in any order, joined with its team and latest
    version.

    ``columns`` are quoted names with tables and aliases, separated by commas; ``types`` maps the aliases to
    types. If a skill has no latest version, the version's columns are None.
    """
    sql = _SKILLS.format(columns=columns, keys=placeholders(keys)) if keys else ""
    return StatementRows(sql, keys, types)
