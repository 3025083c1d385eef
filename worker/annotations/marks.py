"""Pins and labels of runs.

Everyone who can read a run's content can change them, except viewers of its team who did not start it.
"""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.utils import timezone

from registry.core.sql import Reads, reader
from registry.identity import audit
from registry.identity.actors import Actor
from worker.annotations.access import lock_for_change
from worker.annotations.errors import RUN_LABEL_INVALID, RUN_LABELS_TOO_MANY
from worker.models import Run, RunLabel

MAX_LABELS = 20
MAX_LABEL_LENGTH = 40


def set_pinned(run: Run, pinned: bool, actor: Actor) -> None:
    """Pins or unpins the run, with an audit entry; retention keeps pinned runs. Raises the refusals of
    ``lock_for_change``.
    """
    with transaction.atomic():
        row = lock_for_change(run, actor)
        if pinned == (row.pinned_at is not None):
            return
        Run.objects.filter(pk=row.pk).update(pinned_at=timezone.now() if pinned else None)
        audit.record(actor, "run.pin" if pinned else "run.unpin", row.uid, team=row.team)


def set_labels(run: Run, labels: Collection[str], actor: Actor) -> None:
    """Replaces the run's labels. Raises RUN_LABEL_INVALID for an invalid label, RUN_LABELS_TOO_MANY above
    ``MAX_LABELS``, and the refusals of ``lock_for_change``.
    """
    names = {label_name(label) for label in labels}
    if len(names) > MAX_LABELS:
        raise RUN_LABELS_TOO_MANY.refusal(limit=MAX_LABELS).at("labels")
    with transaction.atomic():
        row = lock_for_change(run, actor)
        present = {label.name: label.pk for label in row.labels.all()}
        RunLabel.objects.filter(pk__in=[pk for name, pk in present.items() if name not in names]).delete()
        RunLabel.objects.bulk_create(RunLabel(run=row, name=name) for name in sorted(names - {*present}))


def label_name(text: str) -> str:
    """The label as it is stored: in lower case, with single spaces. Raises RUN_LABEL_INVALID if it is empty,
    too long, or contains a comma or an unprintable character.
    """
    name = " ".join(text.split()).lower()
    if not 0 < len(name) <= MAX_LABEL_LENGTH or "," in name or not name.isprintable():
        raise RUN_LABEL_INVALID.refusal(label=text[:80], limit=MAX_LABEL_LENGTH).at("labels")
    return name


@reader
def labels_of(runs: Iterable[Run]) -> Reads[dict[int, list[str]]]:
    """Maps each run's primary key to its labels in alphabetical order. Omits runs without labels."""
    found: dict[int, list[str]] = {}
    labels = RunLabel.objects.filter(run__in=list(runs)).order_by("name").values_list("run", "name")
    yield labels
    for key, name in labels:
        found.setdefault(key, []).append(name)
    return found
