"""Asking for a run, stopping it, telling what came of it: the verbs of pages, API and commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from registry import audit, canonical, rules, secrets
from registry.actors import Actor
from registry.models import Team, UseKind, Version
from registry.models.identity import new_uid
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest
from registry.packages.problems import Refused, refuse
from registry.packages.schemas import validate
from registry.permissions import Action, may, require
from registry.rules import Decision
from registry.teams import calling_team
from worker import caching, inputs, protocols, states, team_limits
from worker.approvals import asking
from worker.children.lineage import Lineage
from worker.dispatch import wake
from worker.documents import run_document as run_document
from worker.execution import OUTPUT_DIR, execute, request_for_script
from worker.fork.budget import endpoint_for
from worker.inputs import Resolved
from worker.models import Run
from worker.opaque import opaque_id
from worker.protocols.call import Request
from worker.sandbox.policy import Limits
from worker.storable import is_storable
from worker.unpacking import opened

_LONGEST_REQUEST_ID = 64


def request_run(
    *,
    actor: Actor,
    version: Version,
    request: Request,
    team: Team | None = None,
    again_of: Run | None = None,
    idempotency_key: str = "",
    fresh: bool = False,
    lineage: Lineage | None = None,
) -> Run:
    """The run that was asked for: queued, waiting for somebody's leave, refused with a row, or answered from
    the cache unless ``fresh``.

    Raises Refused, with a JSON pointer of the input, for what cannot even be queued. The same
    ``idempotency_key`` of one caller names one run.
    """
    require(actor, Action.RUN, skill=version.skill)
    if version.is_held:
        raise refuse("VERSION_HELD", version=str(version))
    if lineage is None:
        rules.require_for_agents(version, actor)
    if idempotency_key and (earlier := _earlier(actor, idempotency_key)):
        return earlier
    manifest = manifest_of(version.manifest)
    caller_team = calling_team(actor, version.skill, team)
    request = protocols.with_tool(manifest, request)
    resolved = _checked_inputs(request, manifest, actor, again_of)
    request = _with_context(request, manifest, actor, caller_team, version)
    run = _new_run(actor, version, manifest, request, resolved)
    run.team, run.again_of, run.idempotency_key = caller_team, again_of, idempotency_key
    if lineage:
        lineage.mark(run)
    _choose_protocol(run, version, request)
    leave = _leave(actor, version, caller_team)
    if manifest.security.secrets:
        run.grants = {"secrets": secrets.require_given(version, caller_team)}
    try:
        with transaction.atomic():
            _insert(run, manifest, actor, leave, fresh=fresh)
    except IntegrityError:
        if idempotency_key and (earlier := _earlier(actor, idempotency_key)):
            return earlier
        raise
    canonical.note_use(version.skill, actor.caller, UseKind.RUN)
    return run


def _leave(actor: Actor, version: Version, team: Team | None) -> Decision:
    """What lets it run, refused where it is denied: asked last, for what could be run as it was asked for."""
    decision = rules.decide(version, team=team, token=actor.token)
    rules.require_undenied(decision)
    return decision


def _earlier(actor: Actor, idempotency_key: str) -> Run | None:
    return Run.objects.filter(caller=actor.user, idempotency_key=idempotency_key).first()


def _checked_inputs(request: Request, manifest: Manifest, actor: Actor, again_of: Run | None) -> Resolved:
    if not is_storable({"inputs": request.inputs, "stdin": request.stdin, "context": request.context}):
        raise refuse("REQUEST_INVALID", path="inputs", reason="it holds what JSON text cannot carry")
    size = len(json.dumps([request.inputs, request.stdin, request.context]))
    if size > settings.SKILLQUAY_REQUEST_BYTES:
        raise refuse("REQUEST_TOO_LARGE", path="inputs", limit=settings.SKILLQUAY_REQUEST_BYTES)
    schema = protocols.input_schema(manifest, request)
    resolved = inputs.resolve(request.inputs, schema, actor=actor, again_of=again_of)
    if schema is not None:
        given = dict(resolved.inputs)
        if "output_dir" in given:
            given["output_dir"] = OUTPUT_DIR
        if problems := validate(schema, given):
            raise Refused(*problems)
    return resolved


def _with_context(
    request: Request, manifest: Manifest, actor: Actor, team: Team | None, version: Version
) -> Request:
    """Opaque ids of this team's; where an answer is shared by a team, the script is told the team alone."""
    shared = caching.is_shared(request, manifest, team)
    subject = "" if shared or actor.user is None else actor.user.uid
    agent = "" if shared else actor.token.uid if actor.token else subject
    context = {
        **request.context,
        "agent_id": opaque_id("agent", team, agent),
        "user_id": opaque_id("user", team, subject),
        "request_id": _request_id(request.context.get("request_id")),
    }
    return replace(request, context=context, config=_config(manifest, version))


def _request_id(given: object) -> str:
    fits = isinstance(given, str) and 0 < len(given) <= _LONGEST_REQUEST_ID and given.isprintable()
    return str(given) if fits else new_uid()


def _session_id(given: object) -> str:
    """The caller's session as it names it; what cannot be one is none."""
    fits = isinstance(given, str) and len(given) <= _LONGEST_REQUEST_ID and given.isprintable()
    return str(given) if fits else ""


def _config(manifest: Manifest, version: Version) -> dict[str, Any]:
    """What ``execute()`` gets as its config: the manifest's settings and the run's limits."""
    limits, own = limits_of(manifest), manifest.extra.get("config")
    return {
        **(own if isinstance(own, Mapping) else {}),
        "skill": manifest.slug,
        "version": version.number,
        "timeout_ms": round(limits.timeout_s * 1000),
        "memory_mb": limits.memory_mb,
        "network": manifest.security.network,
        "network_allowlist": list(manifest.security.network_allowlist),
        "filesystem": manifest.security.filesystem,
    }


def limits_of(manifest: Manifest) -> Limits:
    """The smaller of what the skill says and what the site allows."""
    said = manifest.security
    default_ms = settings.SKILLQUAY_RUN_DEFAULT_SECONDS * 1000
    timeout_ms = said.timeout_ms if said.timeout_ms is not None else default_ms
    memory_mb = said.memory_mb if said.memory_mb is not None else settings.SKILLQUAY_RUN_MEMORY_MB
    return Limits(
        timeout_s=min(timeout_ms / 1000, settings.SKILLQUAY_RUN_SECONDS),
        memory_mb=min(memory_mb, settings.SKILLQUAY_RUN_MEMORY_MB),
        output_bytes=settings.SKILLQUAY_RUN_OUTPUT_BYTES,
        disk_mb=settings.SKILLQUAY_RUN_DISK_MB,
        processes=settings.SKILLQUAY_RUN_PROCESSES,
        cpus=settings.SKILLQUAY_RUN_CPUS,
        connections=settings.SKILLQUAY_RUN_CONNECTIONS,
        network_bytes=settings.SKILLQUAY_RUN_NETWORK_BYTES,
    )


def _new_run(actor: Actor, version: Version, manifest: Manifest, request: Request, resolved: Resolved) -> Run:
    now = timezone.now()
    return Run(
        skill=version.skill,
        skill_label=str(version.skill),
        version_number=version.number,
        digest=version.digest,
        caller=actor.user,
        token=actor.token if actor.token and actor.token.pk else None,
        token_name=actor.token.name if actor.token else "",
        request=asdict(request),
        files=[use.document() for use in resolved.files],
        request_id=request.context["request_id"],
        session_id=_session_id(request.context.get("session_id")),
        limits=asdict(limits_of(manifest)),
        max_attempts=settings.SKILLQUAY_RUN_ATTEMPTS if manifest.retry_on_lost else 1,
        run_after=now,
        created_at=now,
    )


def _choose_protocol(run: Run, version: Version, request: Request) -> None:
    """Refuses, before anything is queued, what the package has no script, action or tool for."""
    package = opened(version.digest)
    asked = request_for_script(run.request, run.files, package)
    call = protocols.prepare(package.paths, package.manifest, package.profile, asked, read=package.read)
    if call.protocol == "endpoint" and run.files:
        raise refuse("ENDPOINT_FILES", path="inputs")
    if call.protocol == "fork":
        endpoint_for(package.manifest)  # refused now where nothing could lead its loop
    run.protocol, run.entry = call.protocol, call.entry


def _insert(run: Run, manifest: Manifest, actor: Actor, leave: Decision, *, fresh: bool) -> None:
    if leave.outcome == "ask" and rules.binds(actor):
        team_limits.count_run(run.team)
        _wait(run, manifest, rules.decide_still(leave, actor.token), fresh=fresh)
    else:
        run.permission = rules.leave_document(leave)
        _enqueue(run, manifest, fresh=fresh)


def _wait(run: Run, manifest: Manifest, leave: Decision, *, fresh: bool) -> None:
    """Asks somebody, unless a rule was made since it was first decided."""
    rules.require_undenied(leave)
    if leave.outcome == "ask":
        asking.ask(run, leave, fresh=fresh)
        return
    states.wait(run)
    run.permission = rules.leave_document(leave)
    resume(run, manifest, fresh=fresh)


def _enqueue(run: Run, manifest: Manifest, *, fresh: bool) -> None:
    if source := _cached(run, manifest, fresh=fresh):
        caching.answer(run, source)
        return
    if not run.depth:  # a child uses of what its root was given
        team_limits.count_run(run.team)
    states.queue(run)
    transaction.on_commit(wake)


def resume(run: Run, manifest: Manifest, *, fresh: bool) -> bool:
    """A run that waited for somebody's leave goes on as a new one would; False when it waits no more."""
    source = _cached(run, manifest, fresh=fresh)
    if not states.release(run):
        return False
    if source:
        caching.answer(run, source)
    else:
        transaction.on_commit(wake)
    return True


def _cached(run: Run, manifest: Manifest, *, fresh: bool) -> Run | None:
    """The answer that is given again, where there is one; the run remembers under what key it is asked."""
    if not manifest.cacheable or run.caller_id is None:
        return None
    run.cache_ttl = caching.ttl_of(manifest)
    run.cache_key = caching.key_of(run, manifest)
    return None if fresh else caching.find(run.cache_key)


def cancel(run: Run, *, actor: Actor) -> bool:
    """Stops a run, in whatever state; False when it had ended already."""
    if not Run.objects.visible_to(actor).filter(pk=run.pk).exists():
        raise refuse("NOT_FOUND", what="run", name=run.uid)
    if not Run.objects.readable_by(actor).filter(pk=run.pk).exists() or not _may_run(actor, run):
        raise refuse("FORBIDDEN", action=Action.RUN.value)
    stopped = states.cancel(run.pk)
    if stopped and run.caller_id != (actor.user.pk if actor.user else None):
        audit.record(actor, "run.cancel", run.uid, team=run.team)
    return stopped


def _may_run(actor: Actor, run: Run) -> bool:
    """A token without the scope to run has not the power to stop either; the skill itself may be gone."""
    return actor.token is None or (run.skill is not None and may(actor, Action.RUN, skill=run.skill))


def request_here(*, actor: Actor, version: Version, request: Request, fresh: bool = False) -> Run:
    """Asks for a run and executes it in this process; asked and claimed at once, no worker comes first."""
    with transaction.atomic():
        run = request_run(actor=actor, version=version, request=request, fresh=fresh)
        claim = _claim_here(run)
    return _execute_here(run, claim)


def run_here(run: Run) -> Run:
    """Executes a queued run in this process, by the worker's own code."""
    return _execute_here(run, _claim_here(run))


def _claim_here(run: Run) -> states.Claim | None:
    from worker.tasks import worker_name

    return states.claim_next(worker_name(), run_id=run.pk)


def _execute_here(run: Run, claim: states.Claim | None) -> Run:
    if claim:
        execute(claim, wait=True)
    run.refresh_from_db()
    return run
