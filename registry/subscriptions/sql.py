from collections.abc import Sequence

from registry.core.sql import StatementRows, placeholders


def publisher_rows(team_ids: Sequence[int]) -> StatementRows:
    """Rows with the ids of the teams to which ``team_ids`` subscribe, possibly with duplicates.

    Uses SQL instead of the ORM, because every match calls this function.
    """
    statement = f"SELECT publisher_id FROM registry_subscription WHERE team_id IN ({placeholders(team_ids)})"
    return StatementRows(statement if team_ids else "", team_ids, {"publisher_id": "bigint"})
