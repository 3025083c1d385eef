"""Memories and proposals as JSON documents."""

from collections.abc import Mapping
from typing import Any

from registry.core.addresses import absolute_url
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.models import Skill
from worker.models import Memory, MemoryWrite, Run
from worker.models.memory import Remembered


def memory_document(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.uid,
        "owner": owner_document(memory),
        **_content_fields(memory),
        "count": memory.count,
        "skill": memory.skill_label or None,
        "version": memory.version_number or None,
        "created_at": rfc3339(memory.created_at),
        "updated_at": rfc3339(memory.updated_at),
        "url": absolute_url(f"/api/v1/memories/{memory.uid}"),
        "page_url": absolute_url(f"/memory/{memory.uid}/"),
    }


def write_document(write: MemoryWrite, *, actor: Actor) -> dict[str, Any]:
    """A proposal as a document for its reviewer; run and skill are None if the actor can't see them."""
    run = write.run
    is_visible = Run.objects.visible_to(actor).filter(pk=run.pk).exists()
    return {
        "id": write.uid,
        "state": write.state,
        "code": write.code,
        "owner": owner_document(write),
        **_content_fields(write),
        "skill": run.skill_label if can_see_skill(run, actor) else None,
        "run": run.uid if is_visible else None,
        "proposed_by": run.caller.username if run.caller else None,
        "created_at": rfc3339(write.created_at),
        "expires_at": rfc3339(write.expires_at()),
        "memory": write.memory.uid if write.memory and not write.memory.deleted_at else None,
    }


def can_see_skill(run: Run, actor: Actor) -> bool:
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


def writes_of(run: Run, proposals: list[Mapping[str, Any]], *, actor: Actor) -> list[dict[str, Any]]:
    """The proposals as the script wrote them. Each also has ``id``, ``state``, ``code`` and ``memory`` of its
    stored row.

    ``id`` and ``state`` are None for a proposal without a row. ``memory`` is the id of the stored memory, or
    None if there is none or the actor can't see it. If the owner is foreign to the caller, ``state`` is
    always ``proposed`` and ``memory`` is None.
    """
    rows = MemoryWrite.objects.filter(run=run, attempt=run.attempt) if proposals else ()
    states = {row.seq: row for row in rows}
    keys = [row.memory_id for row in states.values() if row.memory_id and not row.is_foreign]
    visible = Memory.objects.present().visible_to(actor).filter(pk__in=keys) if keys else ()
    memories = {memory.pk: memory.uid for memory in visible}
    return [{**write, **_write_state(states.get(seq), memories)} for seq, write in enumerate(proposals)]


def _write_state(row: MemoryWrite | None, memories: Mapping[int, str]) -> dict[str, Any]:
    if row is None:
        return {"id": None, "state": None, "code": "", "memory": None}
    memory = memories.get(row.memory_id) if row.memory_id and not row.is_foreign else None
    return {"id": row.uid, "state": row.shown_state(), "code": row.code, "memory": memory}


def _content_fields(row: Remembered) -> dict[str, Any]:
    original = row.importance if row.original_importance is None else row.original_importance
    return {
        "type": row.type,
        "importance": row.importance,
        "original_importance": original,
        "content": row.content,
        "metadata": row.metadata,
    }
