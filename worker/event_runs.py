"""A skill that is started by an event: the event's payload becomes the run's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.actors import Actor
from registry.models import Event, Version
from registry.packages.manifest import manifest_of
from worker.protocols.call import Request
from worker.runs import request_run


def start(version: Version, event: Event, actor: Actor) -> str:
    """The uid of the run that was asked for; the same event starts a skill once for a caller."""
    schema = manifest_of(version.manifest).input_schema
    run = request_run(
        actor=actor,
        version=version,
        request=Request(inputs=inputs_of(event, schema), context={"request_id": event.uid}),
        team=event.team,
        idempotency_key=f"event:{event.uid}:{version.skill.uid}",
    )
    return run.uid


def inputs_of(event: Event, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the schema names of the payload, and the event as ``event`` where it names that or nothing."""
    whole = {"id": event.given_id, "type": event.type, "payload": event.payload}
    properties = schema.get("properties") if schema else None
    if not isinstance(properties, Mapping):
        return {"event": whole}
    named = {key: value for key, value in event.payload.items() if key in properties}
    return {"event": whole} | named if "event" in properties else named
