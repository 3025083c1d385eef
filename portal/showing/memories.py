"""What a run proposed to remember, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portal.showing.explanations import Explanation, explain
from registry.actors import Actor
from worker.memory.documents import writes_of
from worker.models import MemoryWrite, Run


@dataclass(frozen=True)
class WriteRow:
    """As the script said it, with what became of it as far as this reader may know."""

    uid: str
    content: str
    type: str
    owner_type: str
    owner: str
    importance: object
    state: str
    why: Explanation | None
    memory: str
    decidable: bool


def write_rows(run: Run, told: object, *, actor: Actor) -> Sequence[WriteRow]:
    if not isinstance(told, list):
        return ()
    known = [each for each in told if isinstance(each, Mapping)]
    documents = writes_of(run, known, actor=actor)
    mine = MemoryWrite.objects.waiting().decidable_by(actor).filter(run=run, is_foreign=False)
    decidable = set(mine.values_list("uid", flat=True)) if known else set()
    return [_row(each, decidable) for each in documents]


def _row(document: Mapping[str, Any], decidable: set[str]) -> WriteRow:
    def text(name: str) -> str:
        return str(document.get(name) or "")

    return WriteRow(
        uid=text("id"),
        content=text("content"),
        type=text("type"),
        owner_type=text("ownerType"),
        owner=text("ownerId"),
        importance=document.get("importance"),
        state=text("state"),
        why=explain(document["code"]) if document["code"] else None,
        memory=text("memory"),
        decidable=document["id"] in decidable,
    )
