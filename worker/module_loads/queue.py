"""The queue of modules to load. A worker claims each module once its dependencies are built."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q

from registry.core.hooks import dependency_state
from worker.models import ModuleLoad, ModuleLoadState, SkipReason

_MAX_LOOKED_AT = 50  # rows per query, so that versions with running builds cost little


def has_waiting() -> bool:
    return next(_ready(), None) is not None


def claim_next() -> ModuleLoad | None:
    """Claims the oldest module that is ready to load; None if there is none.

    If the worker dies, the module stays skipped.
    """
    for row in _ready():
        waiting = ModuleLoad.objects.filter(pk=row.pk, state=ModuleLoadState.WAITING)
        if waiting.update(state=ModuleLoadState.SKIPPED, reason=SkipReason.ERROR):
            return row
    return None


def _ready() -> Iterator[ModuleLoad]:
    """The queued modules, except those of held versions and those whose dependencies are still building.
    Considers only the oldest ``_MAX_LOOKED_AT``.
    """
    held = Q(version__held_at__isnull=False, version__released_at=None)
    rows = ModuleLoad.objects.filter(~held, state=ModuleLoadState.WAITING).select_related("version__skill")
    return (
        row for row in rows.order_by("id")[:_MAX_LOOKED_AT] if dependency_state(row.version) != "building"
    )
