"""How a version's dependencies stand, and asking for them again: what page, API and command speak to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from registry import audit
from registry.actors import Actor
from registry.models import Version
from registry.moments import moment
from registry.packages.problems import refuse
from registry.permissions import Action, may, require
from registry.publishing.readiness import Readiness
from worker.dependencies import queue
from worker.dependencies.needs import needs_of_opened
from worker.models import Preparation, PreparationState
from worker.unpacking import opened

_UNDER_WAY = (PreparationState.WAITING, PreparationState.RUNNING)


def preparations_of(version: Version) -> list[Preparation]:
    """One for each language and kind of machine that was asked for."""
    return list(Preparation.objects.filter(versions=version).order_by("kind", "platform"))


def readiness_of(version: Version) -> Readiness:
    return state_of(preparations_of(version))


def state_of(rows: Sequence[Preparation]) -> Readiness:
    """Of the rows alone, kept nowhere.

    What is ready for one sort of machine is ready: another sort may have no worker to make its own.
    """
    if any(row.state == PreparationState.FAILED for row in rows):
        return "failed"
    made = {row.kind for row in rows if row.state not in _UNDER_WAY}
    if any(row.kind not in made for row in rows):
        return "preparing"
    return "ready" if rows else "none"


def prepare_again(version: Version, actor: Actor) -> list[Preparation]:
    """Asks for what failed or was never asked for; what is ready or under way stays as it is."""
    require(actor, Action.SETTINGS, skill=version.skill)
    needs = needs_of_opened(opened(version.digest))
    if not needs:
        raise refuse("PREPARATION_NONE", version=str(version))
    with transaction.atomic():
        for row in [*(queue.ask(version, need) for need in needs), *preparations_of(version)]:
            queue.ask_again(row)
        skill = version.skill
        audit.record(actor, "version.prepare", str(version), team=skill.team, digest=version.digest)
    return preparations_of(version)


def preparation_document(version: Version, actor: Actor) -> dict[str, Any]:
    """What everybody may know of it; what an installer said is its team's alone."""
    rows = preparations_of(version)
    with_log = may(actor, Action.READ_RUNS, skill=version.skill)
    return {
        "version": version.number,
        "state": state_of(rows),
        "preparations": [_row_document(row, with_log=with_log) for row in rows],
    }


def _row_document(row: Preparation, *, with_log: bool) -> dict[str, Any]:
    failed = row.state == PreparationState.FAILED
    return {
        "id": row.uid,
        "kind": row.kind,
        "platform": row.platform,
        "state": row.state,
        "problem": queue.problem_of(row).document(gettext) if failed else None,
        "packages": row.packages,
        "size": row.size,
        "attempt": row.attempt,
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "log": row.log if with_log else "",
    }
