"""Selects the runs of a batch, and the runs that it must skip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db.models import Q

from registry.identity.actors import Actor
from registry.lookup.skills import find_plain_versions, find_skill, find_version
from registry.models import Version
from registry.models.skill import INTERNAL
from registry.packages.problems import Problem, Refusal
from registry.packages.version_numbers import normalise
from worker.child_runs.lineage import require_runnable_from_ui
from worker.models import Run, RunBatchAction, RunQuerySet
from worker.queue.states import ENDED
from worker.run_batches import errors
from worker.runs.errors import RUN_ERASED
from worker.runs.filters import filter_runs
from worker.runs.request import require_storable

SAME, NEWEST = "same", "newest"
_MAX_READ_AHEAD = 500  # runs whose versions are read together
_MAX_LOOK_UPS = 100  # versions that a selection looks up; the batch itself looks up the others


@dataclass(frozen=True)
class BatchRequest:
    """An action on all runs that match a filter. ``version`` and ``inputs`` are set only to repeat runs.

    ``inputs`` is a JSON merge patch for the inputs of each run.
    """

    action: RunBatchAction
    filter: Mapping[str, Any]
    version: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SelectedRun:
    """A run that matches; with ``problem``, the batch skips it."""

    run: Run
    problem: Problem | None


def checked(request: BatchRequest) -> BatchRequest:
    """The request with a default version for repeats.

    Raises RUN_BATCH_FILTER_REQUIRED if no filter is set, RUN_BATCH_VERSION for an invalid version,
    RUN_BATCH_INPUTS for inputs of a cancellation, and the refusals of inputs that no run can have.
    """
    if not request.filter:
        raise errors.RUN_BATCH_FILTER_REQUIRED.refusal().at("filter")
    version = request.version
    if request.action == RunBatchAction.REPEAT:
        version = version or SAME
        is_known = version in (SAME, NEWEST) or normalise(version) is not None
    else:
        is_known = not version
    if not is_known:
        raise errors.RUN_BATCH_VERSION.refusal(version=version).at("version")
    if request.inputs and request.action != RunBatchAction.REPEAT:
        raise errors.RUN_BATCH_INPUTS.refusal().at("inputs")
    require_storable(request.inputs)
    return replace(request, version=version)


def select_runs(request: BatchRequest, actor: Actor) -> list[SelectedRun]:
    """The runs that match, oldest first: active ones to cancel, ended ones to repeat.

    Omits child runs whose root run matches too. Raises RUN_BATCH_TOO_LARGE if more than
    SKILLQUAY_MAX_BATCH_RUNS match.
    """
    rows = _matching(request, actor)
    count, limit = rows.count(), settings.SKILLQUAY_MAX_BATCH_RUNS
    if count > limit:
        raise errors.RUN_BATCH_TOO_LARGE.refusal(count=count, limit=limit).at("filter")
    runs = list(rows.without_content().defer("files").order_by("pk"))
    keys = [run.pk for run in runs]
    allowed = set(_allowed(request.action, actor).filter(pk__in=keys).values_list("pk", flat=True))
    check = _version_check(request, actor, runs)
    return [SelectedRun(run, _problem(run, run.pk in allowed, check)) for run in runs]


def version_for(run: Run, choice: str, actor: Actor) -> Version:
    """The version with which the run is repeated. Raises the refusals of the look-up, and SKILL_INTERNAL for
    an internal skill.
    """
    number = {SAME: run.version_number, NEWEST: None}.get(choice, choice)
    version = find_version(find_skill(run.skill_label, actor), number, actor)
    require_runnable_from_ui(version)
    return version


def _matching(request: BatchRequest, actor: Actor) -> RunQuerySet:
    ended = Q(status__in=ENDED)
    rows = filter_runs(Run.objects.visible_to(actor), request.filter, actor)
    rows = rows.filter(~ended if request.action == RunBatchAction.CANCEL else ended)
    return rows.exclude(root__in=rows.values("pk"))


def _allowed(action: str, actor: Actor) -> RunQuerySet:
    runs = Run.objects
    return runs.controlled_by(actor) if action == RunBatchAction.CANCEL else runs.readable_by(actor)


def may_include(run: Run, action: str, actor: Actor) -> bool:
    """Whether the actor may still cancel or repeat the run."""
    return _allowed(action, actor).filter(pk=run.pk).exists()


def _problem(run: Run, is_allowed: bool, check: Callable[[Run], Problem | None] | None) -> Problem | None:
    if not is_allowed:
        return errors.RUN_BATCH_NOT_ALLOWED.problem()
    if check is None:
        return None
    return RUN_ERASED.problem() if run.erased_at else check(run)


def _version_check(
    request: BatchRequest, actor: Actor, runs: Iterable[Run]
) -> Callable[[Run], Problem | None] | None:
    """A function that returns the problem if a run's version can't be repeated, otherwise None.

    Looks up each version once. After ``_MAX_LOOK_UPS`` versions, it returns None for all others. Returns None
    instead of a function if the batch cancels runs.
    """
    if request.action == RunBatchAction.CANCEL:
        return None
    found: dict[tuple[str, str], Problem | None] = {}
    fixed = {SAME: None, NEWEST: ""}.get(request.version, normalise(request.version))

    def key_of(run: Run) -> tuple[str, str]:
        return run.skill_label, run.version_number if fixed is None else fixed

    keys = [key_of(run) for run in runs]
    plain = find_plain_versions(set(keys[:_MAX_READ_AHEAD]), actor)
    found |= {key: None for key, version in plain.items() if version.manifest.get("type") != INTERNAL}

    def check(run: Run) -> Problem | None:
        key = key_of(run)
        if key not in found and len(found) - len(plain) < _MAX_LOOK_UPS:
            try:
                version_for(run, request.version, actor)
                found[key] = None
            except Refusal as refused:
                found[key] = refused.problems[0]
        return found.get(key)

    return check
