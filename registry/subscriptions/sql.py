"""SQL of the subscriptions."""

from collections.abc import Sequence

from registry.core.sql import fetch_all, placeholders


def publisher_ids(team_ids: Sequence[int]) -> list[int]:
    """Ids of the teams that these teams subscribe to. Uses SQL because every match calls it. ``team_ids``
    must not be empty.
    """
    statement = f"SELECT publisher_id FROM registry_subscription WHERE team_id IN ({placeholders(team_ids)})"
    return [publisher for (publisher,) in fetch_all(statement, team_ids)]
