"""Finds the dependency builds that runs wait for before their scripts start."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from registry.core.sql import Reads, reader
from registry.core.time import rfc3339
from worker.dependencies import queue
from worker.models import DependencyBuild, DependencyBuildState, Run, RunStatus

_MAX_NAMES = 20
_UNDER_WAY = (RunStatus.QUEUED, RunStatus.RUNNING)


@dataclass(frozen=True)
class DependencyWait:
    """A build that a run needs and that is not ready; it may have failed."""

    row: DependencyBuild

    @property
    def failed(self) -> bool:
        return bool(self.row.state == DependencyBuildState.FAILED)

    @property
    def building(self) -> bool:
        return bool(self.row.state == DependencyBuildState.RUNNING)

    @property
    def since(self) -> datetime:
        return (self.row.started_at if self.building else None) or self.row.created_at

    @property
    def lasted_ms(self) -> float:
        return (timezone.now() - self.since).total_seconds() * 1000

    @property
    def requirements(self) -> list[str]:
        """Up to 20 requirements of the package; for Deno, the paths of its scripts instead."""
        spec: Mapping[str, Any] = json.loads(self.row.spec)
        packages = (spec.get("manifest") or {}).get("dependencies") or {}
        requirements = [f"{name}@{number}" for name, number in packages.items()]
        return [*spec.get("requirements", ()), *requirements, *spec.get("scripts", ())][:_MAX_NAMES]

    @property
    def problem(self) -> dict[str, Any] | None:
        return queue.problem_of(self.row).document(gettext) if self.failed else None

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.row.kind,
            "state": "failed" if self.failed else "running" if self.building else "waiting",
            "requirements": self.requirements,
            "since": rfc3339(self.since),
            "waiting_seconds": round(self.lasted_ms / 1000, 1),
            "problem": self.problem,
        }


@reader
def waits_of(runs: Iterable[Run]) -> Reads[Mapping[int, list[DependencyWait]]]:
    """Maps the primary key of each queued or running run to the builds that it waits for; omits other runs.

    A ready build for any platform ends the wait for its language.
    """
    under_way = {run.pk: run.digest for run in runs if run.status in _UNDER_WAY}
    if not under_way:
        return {}
    rows = DependencyBuild.objects.filter(versions__digest__in=set(under_way.values())).defer(
        "lock", "packages"
    )
    found: dict[str, dict[str, list[DependencyBuild]]] = defaultdict(lambda: defaultdict(list))
    builds = rows.annotate(of=F("versions__digest")).order_by("pk")
    yield builds
    for row in builds:
        found[cast("Any", row).of][row.kind].append(row)
    return {pk: _waits(found[digest]) for pk, digest in under_way.items() if digest in found}


def _waits(kinds: Mapping[str, list[DependencyBuild]]) -> list[DependencyWait]:
    ready = {
        kind for kind, rows in kinds.items() if any(row.state == DependencyBuildState.READY for row in rows)
    }
    return [DependencyWait(row) for kind, rows in kinds.items() if kind not in ready for row in rows]
