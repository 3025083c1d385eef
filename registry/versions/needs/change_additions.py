"""Adds needs to a version that its package does not declare, and removes such additions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from registry.core.hooks import additions_changed
from registry.core.time import rfc3339
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action
from registry.lookup.errors import VERSION_HELD
from registry.models import Version
from registry.versions.errors import ADDITION_NOT_NEEDED, ADDITION_UNMAPPED, ADDITIONS_YANKED
from registry.versions.needs.offered_additions import Addition, OfferedAdditions, offered_additions
from registry.versions.publishing.locks import lock_version


@transaction.atomic
def set_additions(version: Version, wanted: Iterable[Addition], actor: Actor) -> Version:
    """Makes ``wanted`` the additions of the version, and enqueues the builds that the version now needs.

    Requires ``Action.RELEASE`` and a session. Raises ADDITION_UNMAPPED for a module without a
    known distribution, and ADDITION_NOT_NEEDED for other additions that the scripts do not need.
    Raises VERSION_HELD or ADDITIONS_YANKED for new additions to a held or yanked version.
    Additions can be removed at any time.
    """
    if actor.token:
        raise FORBIDDEN.refusal(action=Action.RELEASE.value)
    version = lock_version(version, actor, Action.RELEASE)
    chosen = dict.fromkeys(wanted)
    kept = [row for row in version.additions if (row["kind"], row["name"]) in chosen]
    present = {(row["kind"], row["name"]) for row in kept}
    new = [each for each in chosen if each not in present]
    removed = [row for row in version.additions if row not in kept]
    if not new and not removed:
        return version
    if new:
        _require_addable(version, new)
    by, now = actor.user.uid if actor.user else None, rfc3339(timezone.now())
    added = [{"kind": kind, "name": name, "added_by": by, "added_at": now} for kind, name in new]
    version.additions = [*kept, *added]
    version.save(update_fields=["additions"])
    additions_changed.send(version)
    _record(version, actor, added, removed)
    return version


def _require_addable(version: Version, new: list[Addition]) -> None:
    if version.is_held:
        raise VERSION_HELD.refusal(version=str(version))
    if version.yanked_at:
        raise ADDITIONS_YANKED.refusal(version=str(version))
    offered = offered_additions(version)
    for index, (kind, name) in enumerate(new):
        if not offered.has(kind, name):
            _refuse(version, offered, kind, name, f"/additions/{index}")


def _refuse(version: Version, offered: OfferedAdditions, kind: str, name: str, pointer: str) -> None:
    if kind == "library" and name in offered.unmapped:
        raise ADDITION_UNMAPPED.refusal(module=name[:80]).at(pointer)
    raise ADDITION_NOT_NEEDED.refusal(name=name[:80], version=str(version)).at(pointer)


def _record(
    version: Version, actor: Actor, added: list[dict[str, Any]], removed: list[dict[str, Any]]
) -> None:
    names = {
        "added": [f"{row['kind']} {row['name']}" for row in added],
        "removed": [f"{row['kind']} {row['name']}" for row in removed],
    }
    team = version.skill.team
    audit.record(actor, "version.change_additions", str(version), team=team, **names)
