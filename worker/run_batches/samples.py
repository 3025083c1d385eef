"""Samples of the runs that a batch would change, with the effect on their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.identity.actors import Actor
from registry.packages.problems import Problem, Refusal
from worker.models import Run, RunBatchAction
from worker.run_batches.selection import BatchRequest, SelectedRun, version_for
from worker.runs.repeat import check_repeat, merged_inputs, request_of

COUNT = 10
_MAX_CHARACTERS = 100_000  # of a request; longer ones are not checked


@dataclass(frozen=True)
class Sample:
    """A run that the batch would change. ``replaced`` contains its present values of the inputs that change.

    With ``problem``, the new run would be refused.
    """

    run: Run
    replaced: Mapping[str, Any]
    problem: Problem | None = None


def samples(request: BatchRequest, selected: Sequence[SelectedRun], actor: Actor) -> list[Sample]:
    """The oldest of the selected runs that the batch does not skip."""
    ready = [each.run for each in selected if each.problem is None][:COUNT]
    if request.action != RunBatchAction.REPEAT:
        return [Sample(run, {}) for run in ready]
    rows = Run.objects.filter(pk__in=[run.pk for run in ready])
    small = rows.small_values("request", max_characters=_MAX_CHARACTERS)
    runs = rows.filter(pk__in=small).select_related("team").defer("result").in_bulk()
    return [_sample(request, runs[run.pk], actor) if run.pk in runs else Sample(run, {}) for run in ready]


def _sample(request: BatchRequest, run: Run, actor: Actor) -> Sample:
    present = request_of(run).inputs
    replaced = {name: present[name] for name in request.inputs if name in present}
    try:
        version = version_for(run, request.version, actor)
        check_repeat(run, version, actor, inputs=merged_inputs(run, request.inputs))
    except Refusal as refused:
        return Sample(run, replaced, refused.problems[0])
    return Sample(run, replaced)
