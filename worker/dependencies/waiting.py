"""What a run under way waits for before its script starts: what is made, since when, and what failed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from registry.moments import moment
from worker.dependencies import queue
from worker.models import Preparation, PreparationState, Run, Status

_MOST = 20  # names that are told
_UNDER_WAY = (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True)
class Wait:
    """One preparation that a run needs and that is not ready."""

    row: Preparation

    @property
    def failed(self) -> bool:
        return bool(self.row.state == PreparationState.FAILED)

    @property
    def making(self) -> bool:
        return bool(self.row.state == PreparationState.RUNNING)

    @property
    def since(self) -> datetime:
        return (self.row.started_at if self.making else None) or self.row.created_at

    @property
    def lasted_ms(self) -> float:
        return (timezone.now() - self.since).total_seconds() * 1000

    @property
    def asks(self) -> list[str]:
        """What the package names, or the scripts whose imports deno reads."""
        asked: Mapping[str, Any] = json.loads(self.row.asked)
        wanted = (asked.get("manifest") or {}).get("dependencies") or {}
        named = [f"{name}@{number}" for name, number in wanted.items()]
        return [*asked.get("requirements", ()), *named, *asked.get("scripts", ())][:_MOST]

    @property
    def problem(self) -> dict[str, Any] | None:
        return queue.problem_of(self.row).document(gettext) if self.failed else None

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.row.kind,
            "state": "failed" if self.failed else "running" if self.making else "waiting",
            "asks": self.asks,
            "since": moment(self.since),
            "seconds": round(self.lasted_ms / 1000, 1),
            "problem": self.problem,
        }


def waits_of(runs: Iterable[Run]) -> Mapping[int, list[Wait]]:
    """By the runs' keys; a kind that is ready for one sort of machine is not waited for."""
    under_way = {run.pk: run.digest for run in runs if run.status in _UNDER_WAY}
    if not under_way:
        return {}
    rows = Preparation.objects.filter(versions__digest__in=set(under_way.values())).defer("lock", "packages")
    found: dict[str, dict[str, list[Preparation]]] = defaultdict(lambda: defaultdict(list))
    for row in rows.annotate(of=F("versions__digest")).order_by("pk"):
        found[cast("Any", row).of][row.kind].append(row)
    return {pk: _waits(found[digest]) for pk, digest in under_way.items() if digest in found}


def _waits(kinds: Mapping[str, list[Preparation]]) -> list[Wait]:
    ready = {kind for kind, rows in kinds.items() if any(row.state == PreparationState.READY for row in rows)}
    return [Wait(row) for kind, rows in kinds.items() if kind not in ready for row in rows]
