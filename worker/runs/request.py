"""Checks requests and creates runs: queued, waiting for approval, or answered from the cache."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from registry.additions.additions import additions_of, with_additions
from registry.core.sql import Reads, gather, read, reader
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require, require_unarchived
from registry.identity.teams import calling_team
from registry.lookup import canonical as canonical_canonical
from registry.lookup.errors import VERSION_HELD
from registry.models import Team, UseKind, Version
from registry.models.identity import new_uid
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest
from registry.packages.problems import LazyMessage, Refusal, gettext_noop
from registry.packages.schemas.validate import validate
from registry.rules import decision as rules_decision
from registry.rules.decision import Decision
from registry.secrets import run_secrets
from worker.attempts.script_request import OUTPUT_DIR, request_for_script
from worker.attempts.unpacking import UnpackedPackage, open_package
from worker.child_runs.lineage import Lineage
from worker.core.budget import endpoint_for
from worker.core.opaque_ids import opaque_id
from worker.core.storable import MAX_DEPTH, is_storable
from worker.dependencies.runtimes.choice import chosen_runtime
from worker.files import inputs
from worker.files.inputs import InputUse, ResolvedInputs
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
_NOT_STORABLE = gettext_noop(
    "NUL characters, lone Unicode surrogates, NaN, infinity and %(levels)s or more nested levels "
    "are not allowed"
)


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
    kept: Sequence[InputUse] = (),
) -> Run:
    """Creates a run: queued, waiting for approval, or answered from the cache unless ``no_cache``.

    Raises Refusal for requests that can't be queued, with a JSON pointer for problems of an input. A repeated
    ``idempotency_key`` of one caller returns the same run. A run of the test case ``case_name`` is not
    counted as a use. A run that ``standing_approval`` covers needs no approval. The request can use the files
    in ``kept``, even those of other users. Wakes a worker after the commit.
    """
    _require_runnable(actor, version, is_child=lineage is not None)
    if idempotency_key and (earlier := find_by_idempotency_key(actor, idempotency_key)):
        return earlier
    run, manifest, decision = read(_build_run(actor, version, request, team, rerun_of, kept=kept))
    run.rerun_of, run.idempotency_key, run.case_name = rerun_of, idempotency_key, case_name
    if lineage:
        lineage.apply(run)
    rules_decision.require_not_denied(decision)
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


@reader
def check_request(
    *,
    actor: Actor,
    version: Version,
    request: Request,
    team: Team | None = None,
    rerun_of: Run | None = None,
    kept: Sequence[InputUse] = (),
    files_of: Actor | None = None,
) -> Reads[Run]:
    """The run that ``request_run`` would create, without saving it; for requests that run later. ``files_of``
    is the actor whose files the request can use, by default ``actor``.

    Raises as ``request_run`` does, except for limits that apply only when the run is queued.
    """
    _require_runnable(actor, version)
    parts = _build_run(actor, version, request, team, rerun_of, kept=kept, files_of=files_of)
    run, _manifest, decision = yield from parts
    rules_decision.require_not_denied(decision)
    return run


def _require_runnable(actor: Actor, version: Version, *, is_child: bool = False) -> None:
    require(actor, Action.RUN, skill=version.skill)
    if version.is_held:
        raise VERSION_HELD.refusal(version=str(version))
    if not is_child:
        rules_decision.require_agents_allowed(version, actor)


def _build_run(
    actor: Actor,
    version: Version,
    request: Request,
    team: Team | None,
    rerun_of: Run | None,
    *,
    kept: Sequence[InputUse],
    files_of: Actor | None = None,
) -> Reads[tuple[Run, Manifest, Decision]]:
    """The unsaved run, its manifest and the decision of the rules, which the caller must check."""
    additions = additions_of(version)
    manifest = with_additions(manifest_of(version.manifest), additions)
    caller_team = yield from calling_team.reads(actor, version.skill, team)
    require_unarchived(caller_team)
    request = abp.resolve_tool(manifest, request)
    require_storable([request.inputs, list(request.arguments), request.stdin, request.context])
    files = inputs.resolve.reads(
        request.inputs, request.arguments, actor=files_of or actor, rerun_of=rerun_of, kept=kept
    )
    resolved, statuses, runtime, decision = yield from gather(
        files,
        run_secrets.secret_statuses.reads(version, caller_team),
        chosen_runtime.reads(version),
        rules_decision.decide.reads(version, team=caller_team, token=actor.token),
    )
    _check_inputs(request, manifest, resolved)
    request = _with_context(request, manifest, actor, caller_team, version)
    run = _new_run(actor, version, manifest, request, resolved)
    run.team = caller_team
    package = yield from open_package.reads(version.digest)
    _choose_protocol(run, package, request)
    secrets = run_secrets.require_secrets(version, caller_team, statuses)
    parts = {"secrets": secrets, "additions": additions.document(), "runtime": runtime}
    run.grants = {name: part for name, part in parts.items() if part}
    return run, manifest, decision


def find_by_idempotency_key(actor: Actor, idempotency_key: str) -> Run | None:
    return Run.objects.filter(caller=actor.user, idempotency_key=idempotency_key).first()


def _check_inputs(request: Request, manifest: Manifest, resolved: ResolvedInputs) -> None:
    schema = abp.input_schema(manifest, request)
    if schema is None:
        return
    values = dict(resolved.inputs)
    if "output_dir" in values:
        values["output_dir"] = OUTPUT_DIR
    if problems := validate(schema, values, missing=MISSING_PARAM):
        raise Refusal(*problems)


def require_storable(content: Any) -> None:
    """Raises REQUEST_INVALID or REQUEST_TOO_LARGE for JSON content that no run can store."""
    if not is_storable(content):
        reason = LazyMessage(_NOT_STORABLE, levels=MAX_DEPTH)
        raise REQUEST_INVALID.refusal(reason=reason).at("inputs")
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


def _choose_protocol(run: Run, package: UnpackedPackage, request: Request) -> None:
    """Sets the run's protocol and entry; raises Refusal if the package can't serve the request."""
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
