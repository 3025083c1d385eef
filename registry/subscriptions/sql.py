from collections.abc import Sequence

from registry.core.sql import fetch_all, placeholders


def publisher_ids(team_ids: Sequence[int]) -> list[int]:
    """Ids of the teams to which ``team_ids`` subscribe, possibly with duplicates. ``team_ids`` must not be
    empty. Uses SQL instead of the ORM, because every match calls this function.
    """
    statement = f"SELECT publisher_id FROM registry_subscription WHERE team_id IN ({placeholders(team_ids)})"
    return [publisher for (publisher,) in fetch_all(statement, team_ids)]
