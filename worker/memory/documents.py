"""Memories and proposals as JSON documents: of API, commands, exports and runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from registry.actors import Actor
from registry.addresses import absolute
from registry.models import Skill
from worker.models import Memory, MemoryWrite, Run
from worker.models.memory import Remembered


def memory_document(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.uid,
        "owner": owner_document(memory),
        **_said(memory),
        "count": memory.count,
        "skill": memory.skill_label or None,
        "version": memory.version_number or None,
        "created_at": _moment(memory.created_at),
        "updated_at": _moment(memory.updated_at),
        "url": absolute(f"/api/v1/memories/{memory.uid}"),
        "page": absolute(f"/memory/{memory.uid}/"),
    }


def write_document(write: MemoryWrite, *, actor: Actor) -> dict[str, Any]:
    """A proposal for whoever decides it; a run and a skill are named to who may know of them alone."""
    run = write.run
    seen = Run.objects.visible_to(actor).filter(pk=run.pk).exists()
    return {
        "id": write.uid,
        "state": write.state,
        "code": write.code,
        "owner": owner_document(write),
        **_said(write),
        "skill": run.skill_label if sees_skill(run, actor) else None,
        "run": run.uid if seen else None,
        "by": run.caller.username if run.caller else None,
        "created_at": _moment(write.created_at),
        "expires_at": _moment(write.expires_at()),
        "memory": write.memory.uid if write.memory and not write.memory.deleted_at else None,
    }


def sees_skill(run: Run, actor: Actor) -> bool:
    return Run.objects.visible_to(actor).filter(pk=run.pk).exists() or (
        run.skill_id is not None and Skill.objects.visible_to(actor).filter(pk=run.skill_id).exists()
    )


def owner_document(row: Remembered) -> dict[str, Any]:
    if row.owner_user:
        name = row.owner_user.username
    elif row.owner_team:
        name = row.owner_team.slug
    else:
        name = row.owner_run.uid if row.owner_run else ""
    return {"type": row.owner_type, "name": name}


def writes_of(run: Run, told: list[Mapping[str, Any]], *, actor: Actor) -> list[dict[str, Any]]:
    """What a run proposed, as it said it, each with what became of it as far as its readers may know."""
    rows = MemoryWrite.objects.filter(run=run, attempt=run.attempt) if told else ()
    states = {row.seq: row for row in rows}
    keys = [row.memory_id for row in states.values() if row.memory_id and not row.is_foreign]
    visible = Memory.objects.present().visible_to(actor).filter(pk__in=keys) if keys else ()
    memories = {memory.pk: memory.uid for memory in visible}
    return [{**write, **_became(states.get(seq), memories)} for seq, write in enumerate(told)]


def _became(row: MemoryWrite | None, memories: Mapping[int, str]) -> dict[str, Any]:
    if row is None:
        return {"id": None, "state": None, "code": "", "memory": None}
    memory = memories.get(row.memory_id) if row.memory_id and not row.is_foreign else None
    return {"id": row.uid, "state": row.shown_state(), "code": row.code, "memory": memory}


def _said(row: Remembered) -> dict[str, Any]:
    given = row.importance if row.importance_given is None else row.importance_given
    return {
        "type": row.type,
        "importance": row.importance,
        "importance_given": given,
        "content": row.content,
        "metadata": row.metadata,
    }


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
