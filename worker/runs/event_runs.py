"""Starts runs for events, with the event's payload as inputs."""

from collections.abc import Mapping
from typing import Any

from registry.identity.actors import Actor
from registry.models import Event, Version
from registry.packages.manifest.manifest import manifest_of
from worker.protocols.call import Request
from worker.runs.request import request_run


def start_event_run(version: Version, event: Event, actor: Actor) -> str:
    """Requests a run and returns its uid; the same event starts a skill only once per caller.

    Raises Refusal like ``request_run``.
    """
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
    """The run's inputs: the payload's values that the schema names, and the whole event if the schema names
    ``event``.

    A schema without ``properties`` names no inputs; the run then gets only ``event``.
    """
    whole = {"id": event.external_id, "type": event.type, "payload": event.payload}
    properties = schema.get("properties") if schema else None
    if not isinstance(properties, Mapping):
        return {"event": whole}
    values = {key: value for key, value in event.payload.items() if key in properties}
    return {"event": whole} | values if "event" in properties else values
