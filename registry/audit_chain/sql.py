"""SQL of the audit log's hash chain: one prepared update that is executed for many entries."""

from collections.abc import Iterable, Sequence

from django.db import connection

_LINK = """
    UPDATE registry_auditentry
    SET sequence = %s, previous_hash = %s, entry_hash = %s, salts = %s, commitments = %s
    WHERE id = %s
"""


def link_entries(rows: Iterable[Sequence[int | str]]) -> None:
    """Saves the links of entries. Each row has the sequence number, the hashes, the salts and commitments as
    JSON, and finally the entry's id.
    """
    with connection.cursor() as cursor:
        cursor.executemany(_LINK, list(rows))
