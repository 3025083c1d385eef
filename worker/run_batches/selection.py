"""Selects the runs of a batch, and the runs that it must skip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from registry.identity.actors import Actor
from registry.lookup.many import Name, find_versions
from registry.lookup.skills import find_skill, find_version
from registry.models import Version
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
_MAX_READ = 1_000  # versions that are read together; those of the first runs are kept


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
    version: Version | None = None  # with which the run is repeated; None if it must be looked up


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
    rows, limit = _matching(request, actor), settings.SKILLQUAY_MAX_BATCH_RUNS
    allowed = Exists(_allowed(request.action, actor).filter(pk=OuterRef("pk")))
    shown = rows.without_content().defer("files").annotate(is_allowed=allowed).order_by("pk")
    runs = list(shown[: limit + 1])
    if len(runs) > limit:
        raise errors.RUN_BATCH_TOO_LARGE.refusal(count=rows.count(), limit=limit).at("filter")
    if request.action == RunBatchAction.CANCEL:
        return [SelectedRun(run, _problem(run)) for run in runs]
    return _select_to_repeat(request.version, runs, actor)


def _select_to_repeat(choice: str, runs: Sequence[Run], actor: Actor) -> list[SelectedRun]:
    key_of = _key_of(choice)
    keys = list(dict.fromkeys(map(key_of, runs)))
    versions: dict[Name, Version] = {}
    problems: dict[Name, Problem] = {}
    for start in range(0, len(keys), _MAX_READ):
        for key, version in find_versions(keys[start : start + _MAX_READ], actor).items():
            if problem := _version_problem(version):
                problems[key] = problem
            elif start == 0 and isinstance(version, Version):
                versions[key] = version
    return [
        SelectedRun(run, _problem(run) or problems.get(key_of(run)), versions.get(key_of(run)))
        for run in runs
    ]


def _version_problem(version: Version | Refusal) -> Problem | None:
    """The problem if no run can be repeated with the version, or if ``version`` is a refusal."""
    try:
        if isinstance(version, Refusal):
            raise version
        require_runnable_from_ui(version)
    except Refusal as refused:
        return refused.problems[0]
    return None


def version_for(run: Run, choice: str, actor: Actor) -> Version:
    """The version with which the run is repeated. Raises the refusals of the look-up, and SKILL_INTERNAL for
    an internal skill.
    """
    number = {SAME: run.version_number, NEWEST: None}.get(choice, choice)
    version = find_version(find_skill(run.skill_label, actor), number, actor)
    require_runnable_from_ui(version)
    return version


def _key_of(choice: str) -> Callable[[Run], Name]:
    """A function that returns the name of a run's skill and the number with which it is repeated."""
    fixed = {SAME: None, NEWEST: ""}.get(choice, normalise(choice))
    return lambda run: (run.skill_label, run.version_number if fixed is None else fixed)


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


def _problem(run: Run) -> Problem | None:
    """The problem if the run itself can't be changed; ``run`` must be annotated with ``is_allowed``."""
    if not getattr(run, "is_allowed"):  # noqa: B009  # an annotation
        return errors.RUN_BATCH_NOT_ALLOWED.problem()
    return RUN_ERASED.problem() if run.erased_at else None
