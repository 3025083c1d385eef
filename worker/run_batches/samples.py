"""Samples of the runs that a batch would change, with the effect on their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models.functions import Cast, Length

from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.models import Version
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


@reader
def samples(request: BatchRequest, selected: Sequence[SelectedRun], actor: Actor) -> Reads[list[Sample]]:
    """The oldest of the selected runs that the batch does not skip. What the checks need is read for all of
    them together.
    """
    ready = [each for each in selected if each.problem is None][:COUNT]
    if request.action != RunBatchAction.REPEAT:
        return [Sample(each.run, {}) for each in ready]
    rows = Run.objects.filter(pk__in=[each.run.pk for each in ready]).select_related("team")
    size = Length(Cast("request", models.TextField()))
    yield (small := rows.annotate(size=size).filter(size__lte=_MAX_CHARACTERS).defer("result"))
    runs = {run.pk: run for run in small}
    checks = [
        _sample(request, run, each.version, actor)
        for each in ready
        if (run := runs.get(each.run.pk)) is not None
    ]
    checked = {sample.run.pk: sample for sample in (yield from gather(*checks))}
    return [checked.get(each.run.pk) or Sample(each.run, {}) for each in ready]


def _sample(request: BatchRequest, run: Run, version: Version | None, actor: Actor) -> Reads[Sample]:
    present = request_of(run).inputs
    replaced = {name: present[name] for name in request.inputs if name in present}
    try:
        version = version or version_for(run, request.version, actor)
        yield from check_repeat.reads(run, version, actor, inputs=merged_inputs(run, request.inputs))
    except Refusal as refused:
        return Sample(run, replaced, refused.problems[0])
    return Sample(run, replaced)
