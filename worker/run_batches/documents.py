"""Run batches, previews and items as JSON objects, for the API and pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from registry.core.addresses import absolute_url
from registry.core.sql import Reads, reader
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.packages.problems import Problem
from registry.versions.publishing.version_rows import serialize_problem
from worker.models import BatchItemState, RunBatch, RunBatchItem
from worker.run_batches.samples import Sample, samples
from worker.run_batches.selection import BatchRequest, SelectedRun

_UNSET: tuple[object, ...] = (None, "", False, [])


def stored_filter(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filter as a batch stores it: without empty values and defaults, times as text."""
    values = {name: _stored_value(value) for name, value in given.items()}
    return {name: value for name, value in values.items() if value not in _UNSET}


def _stored_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return rfc3339(value)
    return sorted(value) if isinstance(value, set | frozenset) else value


@reader
def preview_document(
    request: BatchRequest, selected: Sequence[SelectedRun], actor: Actor
) -> Reads[dict[str, Any]]:
    """The counts and a sample of the batch that ``request`` would create; ``request`` must be checked."""
    skipped = [
        (BatchItemState.SKIPPED.value, serialize_problem(each.problem)) for each in selected if each.problem
    ]
    shown = yield from samples.reads(request, selected, actor)
    return {
        "action": request.action,
        "version": request.version or None,
        "filter": request.filter,
        "inputs": request.inputs,
        "total": len(selected),
        "ready": len(selected) - len(skipped),
        "skipped": len(skipped),
        "reasons": _reasons(skipped),
        "sample": [_sample_document(each) for each in shown],
    }


def _sample_document(sample: Sample) -> dict[str, Any]:
    return {
        "run": sample.run.uid,
        "skill": sample.run.skill_label,
        "version": sample.run.version_number,
        "status": sample.run.status,
        "replaced_inputs": sample.replaced,
        "problem": sample.problem.document(gettext) if sample.problem else None,
    }


def batch_summary(batch: RunBatch) -> dict[str, Any]:
    """The batch as an item of a list; must be read ``with_counts``."""
    counts = {state: getattr(batch, f"{state}_count") for state in BatchItemState.values}
    return {
        "id": batch.uid,
        "action": batch.action,
        "version": batch.version or None,
        "filter": batch.filter,
        "inputs": batch.inputs,
        "state": batch.state,
        "total": getattr(batch, "total"),  # noqa: B009  # an annotation
        **counts,
        "created_by": batch.user.username,
        "created_at": rfc3339(batch.created_at),
        "finished_at": rfc3339(batch.finished_at),
        "undone_at": rfc3339(batch.undone_at),
        "url": absolute_url(f"/api/v1/run-batches/{batch.uid}"),
        "page_url": absolute_url(f"/runs/batches/{batch.uid}/"),
    }


def batch_document(batch: RunBatch) -> dict[str, Any]:
    rows = batch.items.filter(problem__isnull=False).values_list("state", "problem")
    reasons = _reasons(rows)
    return {**batch_summary(batch), "problem": _shown(batch.problem), "reasons": reasons}


def item_document(item: RunBatchItem) -> dict[str, Any]:
    return {
        "run": item.run_uid,
        "skill": item.skill_label,
        "state": item.state,
        "new_run": item.new_run.uid if item.new_run else None,
        "new_run_status": item.new_run.status if item.new_run else None,
        "problem": _shown(item.problem),
    }


def _reasons(rows: Iterable[tuple[str, dict[str, Any] | None]]) -> list[dict[str, Any]]:
    counted = Counter((state, json.dumps(problem, sort_keys=True)) for state, problem in rows)
    return [
        {"state": state, "count": count, "problem": _shown(json.loads(text))}
        for (state, text), count in counted.most_common()
    ]


def _shown(problem: dict[str, Any] | None) -> dict[str, Any] | None:
    return Problem(**problem).document(gettext) if problem else None
