"""Presents the runs and inputs that a run batch changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from worker.run_batches.selection import SelectedRun

_MAX_TEXT = 200


def input_rows(inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and shortened JSON text of each input; "" for one that is removed."""
    return [(name, "" if value is None else _text(value)) for name, value in inputs.items()]


def sample_rows(
    samples: Iterable[Mapping[str, Any]], runs: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The samples of a preview, with the rows of ``run_rows`` for their ``runs`` and rows for the inputs that
    the batch replaces.
    """
    rows = {row["run"].uid: row for row in runs}
    return [
        {**sample, "row": rows.get(sample["run"]), "replaced": input_rows(sample["replaced_inputs"])}
        for sample in samples
    ]


def runs_by_skill(selected: Iterable[SelectedRun]) -> list[tuple[str, int]]:
    """The number of runs that a batch would change per skill, most runs first."""
    return Counter(each.run.skill_label for each in selected if each.problem is None).most_common()


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
