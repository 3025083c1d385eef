"""Repeats runs: starts new runs with the requests of earlier ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Team, Version
from worker.models import Run
from worker.protocols.call import Request
from worker.runs.errors import RUN_ERASED
from worker.runs.request import check_request, request_run


def repeat_run(
    run: Run,
    version: Version,
    actor: Actor,
    *,
    inputs: Mapping[str, Any] | None = None,
    arguments: Sequence[Any] | None = None,
    no_cache: bool = False,
    idempotency_key: str = "",
) -> Run:
    """Starts a new run with the request of ``run``, in which ``inputs`` and ``arguments`` are replaced if
    given.

    The caller must check that the actor can read ``run``. A repeated ``idempotency_key`` returns the same new
    run. Raises RUN_ERASED if the content was erased, and the refusals of ``request_run``.
    """
    if run.erased_at is not None:
        raise RUN_ERASED.refusal()
    request = request_of(run)
    if inputs is not None:
        request = replace(request, inputs=inputs)
    if arguments is not None:
        request = replace(request, arguments=arguments)
    return request_run(
        actor=actor,
        version=version,
        request=request,
        team=_team(run, actor),
        rerun_of=run,
        no_cache=no_cache,
        idempotency_key=idempotency_key,
    )


@reader
def check_repeat(run: Run, version: Version, actor: Actor, *, inputs: Mapping[str, Any]) -> Reads[None]:
    """Raises the refusals of ``repeat_run`` with these inputs, and creates no run."""
    request = replace(request_of(run), inputs=inputs)
    yield from check_request.reads(
        actor=actor, version=version, request=request, team=_team(run, actor), rerun_of=run
    )


def merged_inputs(run: Run, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The run's inputs with ``changes``, a JSON merge patch: objects are merged, and null removes a name."""
    return _merged(request_of(run).inputs, changes)


def _merged(present: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(present) if isinstance(present, Mapping) else {}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value) if isinstance(value, Mapping) else value
    return result


def _team(run: Run, actor: Actor) -> Team | None:
    return run.team if run.team_id in actor.team_ids else None


def request_of(run: Run) -> Request:
    """The run's request for a rerun. Omits the context, because every run gets a new one."""
    row = run.request
    return Request(
        inputs=row.get("inputs") or {},
        arguments=row.get("arguments") or [],
        script=row.get("script"),
        action=row.get("action"),
        tool=row.get("tool"),
        stdin=row.get("stdin"),
        debug=bool(row.get("debug")),
    )
