"""SQL of the listing: the pinned versions of canonical skills.

Every match and listing reads these rows. Compiling the statement takes longer than a match, so it is cached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from django.db import connection
from django.db.models import Q

from registry.core.sql import fetch_all
from registry.identity.actors import Actor
from registry.models import Canonical
from registry.subscriptions.trusted_teams import trusted_team_ids


def has_canonical_skills() -> bool:
    return bool(fetch_all("SELECT 1 FROM registry_canonical LIMIT 1", ()))


def pin_rows(actor: Actor) -> list[tuple[int | None, int, int | None]]:
    """Skill id, canonical id and version id of skills recommended to the actor only as canonical."""
    key = _ActorKey(
        actor.is_shell, actor.is_administrator, actor.is_signed_in, actor.team_ids, trusted_team_ids(actor)
    )
    return fetch_all(*_pins_statement(key, connection.vendor))


@dataclass(frozen=True)
class _ActorKey:
    is_shell: bool
    is_administrator: bool
    is_signed_in: bool
    team_ids: frozenset[int]
    trusted: frozenset[int]


@lru_cache(maxsize=512)
def _pins_statement(key: _ActorKey, vendor: str) -> tuple[str, Sequence[Any]]:
    """The statement that reads the pins, in the SQL of this database vendor.

    Excludes skills that are recommended anyway, because they are for agents and from a trusted source.
    """
    followed = Q(skill__team__in=key.trusted) | Q(skill__is_bundled=True)
    from_team = Q(skill__team__in=key.team_ids) | (followed & Q(skill__is_reported=False))
    own = Q(skill__for_agents=True) & (Q() if key.is_shell else from_team)
    rows = Canonical.objects.discoverable_by(cast(Actor, key)).exclude(own).order_by("-pk")
    statement: tuple[str, Sequence[Any]] = rows.values_list(
        "skill_id", "pk", "version_id"
    ).query.sql_with_params()
    return statement
