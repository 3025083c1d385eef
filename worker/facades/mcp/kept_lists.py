"""Lists that a web process keeps in memory, because agents request them in each session.

Uses of skills change the order of a list without raising a change number, so a list is kept for at most
LIFETIME_S.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection

from registry.changes.sql import read_site_number
from registry.identity.actors import Actor

T = TypeVar("T")
LIFETIME_S = 60.0
_MAX_KEPT = 200
_kept: dict[tuple[object, ...], tuple[int, float, Any]] = {}


def keep_list(name: str, actor: Actor, compute: Callable[[], T]) -> T:
    """The result of ``compute``, kept in memory for actors with the same teams.

    A kept result ends when a skill, team or user of the site changes, or after LIFETIME_S. It may depend only
    on ``name``, the site and the actor's teams.
    """
    if not settings.SKILLQUAY_KEEP_ANSWERS or connection.in_atomic_block:
        return compute()
    key = (name, actor.is_signed_in, actor.is_administrator, actor.is_shell, *sorted(actor.team_ids))
    number, now = (
        read_site_number(connection),
        time.monotonic(),
    )  # read before the data, so that no change is missed
    if (kept := _kept.get(key)) and kept[0] == number and now < kept[1]:
        return kept[2]  # type: ignore[no-any-return]
    if len(_kept) >= _MAX_KEPT:
        _kept.clear()
    result = compute()
    _kept[key] = number, now + LIFETIME_S, result
    return result
