"""Presents the memories that a run proposed."""

from collections.abc import Mapping, Sequence
from typing import Any

from portal.presenters.explanations import explain
from registry.identity.actors import Actor
from worker.memory.documents import writes_of
from worker.models import MemoryWrite, Run

_TEXTS = {
    "uid": "id",
    "content": "content",
    "type": "type",
    "owner_type": "ownerType",
    "owner": "ownerId",
    "state": "state",
    "memory": "memory",
}


def write_rows(run: Run, proposals: object, *, actor: Actor) -> Sequence[dict[str, Any]]:
    """Rows for the memories that the run proposed, with their states; () if ``proposals`` is not a list.

    ``decidable`` is True if the actor may decide the proposal now.
    """
    if not isinstance(proposals, list):
        return ()
    known = [each for each in proposals if isinstance(each, Mapping)]
    documents = writes_of(run, known, actor=actor)
    mine = MemoryWrite.objects.waiting().decidable_by(actor).filter(run=run, is_foreign=False)
    decidable = set(mine.values_list("uid", flat=True)) if known else set()
    return [_row(each, decidable) for each in documents]


def _row(document: Mapping[str, Any], decidable: set[str]) -> dict[str, Any]:
    return {name: str(document.get(field) or "") for name, field in _TEXTS.items()} | {
        "importance": document.get("importance"),
        "why": explain(document["code"]) if document["code"] else None,
        "decidable": document["id"] in decidable,
    }
