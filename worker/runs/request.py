"""Checks requests and creates runs: queued, waiting for approval, or answered from the cache."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from registry.additions.additions import Additions, additions_of, with_additions
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require, require_unarchived
from registry.identity.teams import calling_team
from registry.lookup import canonical as canonical_canonical
from registry.lookup.errors import VERSION_HELD
from registry.models import Team, UseKind, Version
from registry.models.identity import new_uid
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest
from registry.packages.problems import Refusal
from registry.packages.schemas.validate import validate
from registry.rules import decision as rules_decision
from registry.rules.decision import Decision
from registry.secrets import run_secrets
from worker.attempts.script_request import OUTPUT_DIR, request_for_script
from worker.attempts.unpacking import open_package
from worker.child_runs.lineage import Lineage
from worker.core.budget import endpoint_for
from worker.core.opaque_ids import opaque_id
from worker.core.storable import is_storable
from worker.dependencies.runtimes.choice import chosen_runtime
from worker.files import inputs
from worker.files.inputs import ResolvedInputs
from worker.models import Run
from worker.protocols import prepare as protocols_prepare
from worker.protocols.call import Request
from worker.protocols.errors import MISSING_PARAM
from worker.protocols.formats import abp
from worker.queue import states
from worker.queue.dispatch import wake
from worker.quotas import team_limits
from worker.runs import approval, cache
from worker.runs.approval import StandingApproval
from worker.runs.errors import ENDPOINT_FILES, REQUEST_INVALID, REQUEST_TOO_LARGE
from worker.runs.limits import limits_of

_MAX_ID = 64


def request_run(
    *,
    actor: Actor,
    version: Version,
    request: Request,
    team: Team | None = None,
    rerun_of: Run | None = None,
    idempotency_key: str = "",
    no_cache: bool = False,
    lineage: Lineage | None = None,
    case_name: str = "",
    standing_approval: StandingApproval | None = None,
) -> Run:
    """Creates a run: queued, waiting for approval, or answered from the cache unless ``no_cache``.

    Raises Refusal for requests that can't be queued, with a JSON pointer for problems of an input. A repeated
    ``idempotency_key`` of one caller returns the same run. A run of the test case ``case_name`` is not
    counted as a use. A run that ``standing_approval`` covers needs no approval. Wakes a worker after the
    commit.
    """
    _require_runnable(actor, version, is_child=lineage is not None)
    if idempotency_key and (earlier := find_by_idempotency_key(actor, idempotency_key)):
        return earlier
    run, manifest = _build_run(actor, version, request, team, rerun_of)
    run.rerun_of, run.idempotency_key, run.case_name = rerun_of, idempotency_key, case_name
    if lineage:
        lineage.apply(run)
    decision = _authorize(actor, version, run.team)
    try:
        with transaction.atomic():
            _insert(run, manifest, actor, decision, no_cache=no_cache, standing_approval=standing_approval)
    except IntegrityError:
        if idempotency_key and (earlier := find_by_idempotency_key(actor, idempotency_key)):
            return earlier
        raise
    if not case_name:
        canonical_canonical.record_canonical_use(version.skill, actor.caller, UseKind.RUN)
    return run


def check_request(
    *,
    actor: Actor,
    version: Version,
    request: Request,
    team: Team | None = None,
    rerun_of: Run | None = None,
) -> Run:
    """The run that ``request_run`` would create, without saving it; for requests that run later.

    Raises as ``request_run`` does, except for limits that apply only when the run is queued.
    """
    _require_runnable(actor, version)
    run, _manifest = _build_run(actor, version, request, team, rerun_of)
    _authorize(actor, version, run.team)
    return run


def _require_runnable(actor: Actor, version: Version, *, is_child: bool = False) -> None:
    require(actor, Action.RUN, skill=version.skill)
    if version.is_held:
        raise VERSION_HELD.refusal(version=str(version))
    if not is_child:
        rules_decision.require_agents_allowed(version, actor)


def _build_run(
    actor: Actor, version: Version, request: Request, team: Team | None, rerun_of: Run | None
) -> tuple[Run, Manifest]:
    additions = additions_of(version)
    manifest = with_additions(manifest_of(version.manifest), additions)
    caller_team = calling_team(actor, version.skill, team)
    require_unarchived(caller_team)
    request = abp.resolve_tool(manifest, request)
    resolved = _check_inputs(request, manifest, actor, rerun_of)
    request = _with_context(request, manifest, actor, caller_team, version)
    run = _new_run(actor, version, manifest, request, resolved)
    run.team = caller_team
    _choose_protocol(run, version, request)
    run.grants = _grants(version, additions, manifest, caller_team)
    return run, manifest


def _grants(version: Version, additions: Additions, manifest: Manifest, team: Team | None) -> dict[str, Any]:
    secrets = run_secrets.require_secrets(version, team) if manifest.security.secrets else {}
    parts = {"secrets": secrets, "additions": additions.document(), "runtime": chosen_runtime(version)}
    return {name: part for name, part in parts.items() if part}


def _authorize(actor: Actor, version: Version, team: Team | None) -> Decision:
    decision = rules_decision.decide(version, team=team, token=actor.token)
    rules_decision.require_not_denied(decision)
    return decision


def find_by_idempotency_key(actor: Actor, idempotency_key: str) -> Run | None:
    return Run.objects.filter(caller=actor.user, idempotency_key=idempotency_key).first()


def _check_inputs(request: Request, manifest: Manifest, actor: Actor, rerun_of: Run | None) -> ResolvedInputs:
    require_storable([request.inputs, list(request.arguments), request.stdin, request.context])
    schema = abp.input_schema(manifest, request)
    resolved = inputs.resolve(request.inputs, request.arguments, actor=actor, rerun_of=rerun_of)
    if schema is not None:
        values = dict(resolved.inputs)
        if "output_dir" in values:
            values["output_dir"] = OUTPUT_DIR
        if problems := validate(schema, values, missing=MISSING_PARAM):
            raise Refusal(*problems)
    return resolved


def require_storable(content: Any) -> None:
    """Raises REQUEST_INVALID or REQUEST_TOO_LARGE for JSON content that no run can store."""
    if not is_storable(content):
        raise REQUEST_INVALID.refusal(reason="it contains characters that JSON cannot represent").at("inputs")
    if len(json.dumps(content)) > settings.SKILLQUAY_MAX_REQUEST_BYTES:
        raise REQUEST_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_REQUEST_BYTES).at("inputs")


def _with_context(
    request: Request, manifest: Manifest, actor: Actor, team: Team | None, version: Version
) -> Request:
    """The request with its config, and with opaque ids in its context.

    The household id stands for the run's team unless the caller names another. If the answer may be shared
    with the team, the ids identify the team instead of the caller.
    """
    shared = cache.is_shared(request, manifest, team)
    subject = "" if shared or actor.user is None else actor.user.uid
    agent = "" if shared else actor.token.uid if actor.token else subject
    household = {"household_id": opaque_id("team", team, team.uid)} if team else {}
    context = {
        **(household if "householdId" not in request.context else {}),
        **request.context,
        "agent_id": opaque_id("agent", team, agent),
        "user_id": opaque_id("user", team, subject),
        "request_id": _request_id(request.context.get("request_id")),
    }
    return replace(request, context=context, config=_config(manifest, version))


def _request_id(value: object) -> str:
    fits = isinstance(value, str) and 0 < len(value) <= _MAX_ID and value.isprintable()
    return str(value) if fits else new_uid()


def _session_id(value: object) -> str:
    fits = isinstance(value, str) and len(value) <= _MAX_ID and value.isprintable()
    return str(value) if fits else ""


def _config(manifest: Manifest, version: Version) -> dict[str, Any]:
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


def _new_run(
    actor: Actor, version: Version, manifest: Manifest, request: Request, resolved: ResolvedInputs
) -> Run:
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
        session_id=_session_id(request.context.get("session_id", request.context.get("sessionId"))),
        limits=asdict(limits_of(manifest)),
        max_attempts=settings.SKILLQUAY_MAX_RUN_ATTEMPTS if manifest.retry_on_lost else 1,
        run_after=now,
        created_at=now,
    )


def _choose_protocol(run: Run, version: Version, request: Request) -> None:
    """Sets the run's protocol and entry; raises Refusal if the package can't serve the request."""
    package = open_package(version.digest)
    script_request = request_for_script(run.request, run.files, package)
    call = protocols_prepare.prepare(
        package.paths, package.manifest, package.profile, script_request, read=package.read
    )
    if call.protocol == "endpoint" and run.files:
        raise ENDPOINT_FILES.refusal().at("inputs")
    if call.protocol == "fork":
        endpoint_for(package.manifest)  # refuses the request now if no model is configured
    run.protocol, run.entry = call.protocol, call.entry


def _insert(
    run: Run,
    manifest: Manifest,
    actor: Actor,
    decision: Decision,
    *,
    no_cache: bool,
    standing_approval: StandingApproval | None,
) -> None:
    needs_approval = decision.outcome == "ask" and rules_decision.is_unattended(actor)
    approved_by = standing_approval(run, decision) if needs_approval and standing_approval else ""
    if needs_approval and not approved_by:
        team_limits.count_run(run.team)
        _insert_waiting(run, manifest, rules_decision.decide_locked(decision, actor.token), no_cache=no_cache)
    else:
        run.permission = approval.basis(approved_by) if approved_by else decision.basis_document()
        _enqueue(run, manifest, no_cache=no_cache)


def _insert_waiting(run: Run, manifest: Manifest, decision: Decision, *, no_cache: bool) -> None:
    """Requests approval, or releases the run at once if a rule added since the first decision allows it.

    Raises Refusal if a new rule denies it.
    """
    rules_decision.require_not_denied(decision)
    if decision.outcome == "ask":
        approval.request_approval(run, decision, no_cache=no_cache)
        return
    states.enqueue_for_approval(run)
    run.permission = decision.basis_document()
    resume(run, manifest, no_cache=no_cache)


def _enqueue(run: Run, manifest: Manifest, *, no_cache: bool) -> None:
    if source := _find_cached(run, manifest, no_cache=no_cache):
        cache.answer_from(run, source)
        return
    if not run.depth:  # a child run uses the budget of its root
        team_limits.count_run(run.team)
    states.enqueue(run)
    transaction.on_commit(wake)


def resume(run: Run, manifest: Manifest, *, no_cache: bool) -> bool:
    """Queues an approved run or answers it from the cache; returns False if it no longer waits."""
    source = _find_cached(run, manifest, no_cache=no_cache)
    if not states.release(run):
        return False
    if source:
        cache.answer_from(run, source)
    else:
        transaction.on_commit(wake)
    return True


def _find_cached(run: Run, manifest: Manifest, *, no_cache: bool) -> Run | None:
    """The run whose answer can be reused, or None; sets the cache key and lifetime of a cacheable ``run``."""
    if not manifest.cacheable or run.caller_id is None:
        return None
    run.cache_ttl = cache.ttl_of(manifest)
    run.cache_key = cache.key_of(run, manifest)
    return None if no_cache else cache.find_answer(run.cache_key)
