"""The answer cache: the key that equal calls share, and the look-up of a run with a reusable answer."""

import hashlib
import json
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils import timezone

from registry.core.errors import UNAVAILABLE
from registry.models import Team, Version
from registry.packages.package import Manifest
from registry.packages.unsafe_properties import requested_permissions
from worker.attempts import recording
from worker.models import Run, RunStatus
from worker.protocols.call import Request
from worker.queue import states

DEFAULT_TTL_S = 300
MAX_TTL_S = 30 * 24 * 3600
_BUDGET_LIMITS = ("timeout_s", "output_bytes")
_PLATFORM_KEYS = ("agent_id", "user_id", "household_id", "request_id")  # context keys that the platform adds


def is_shared(request: Request, manifest: Manifest, team: Team | None) -> bool:
    """Whether the answer may be cached for the whole team.

    Needs a team, a cacheable skill with ``cache_scope: team``, and no context from the caller. Excludes
    skills with secrets or ``requires``, because their answers depend on the caller's permissions.
    """
    own_context = any(key not in _PLATFORM_KEYS for key in request.context)
    return (
        manifest.cacheable
        and manifest.cache_scope == "team"
        and team is not None
        and not own_context
        and not manifest.security.secrets
        and not manifest.requires
    )


def ttl_of(manifest: Manifest) -> int:
    return min(DEFAULT_TTL_S if manifest.ttl is None else manifest.ttl, MAX_TTL_S)


def key_of(run: Run, manifest: Manifest) -> str:
    """The cache key: a SHA-256 over everything that can change a successful answer.

    The key depends on the caller, unless the answer is shared with the team. The request id is excluded. So
    are a child run's remaining time and output, because they can only make the run fail.
    """
    request = run.request
    context = {key: value for key, value in request["context"].items() if key != "request_id"}
    limits = {name: value for name, value in run.limits.items() if name not in _BUDGET_LIMITS}
    parts: dict[str, Any] = {
        "skill": run.skill_id,
        "version": run.version_number,
        "digest": run.digest,
        "protocol": run.protocol,
        "entry": run.entry,
        "asked": [request[key] for key in ("script", "action", "tool", "stdin", "debug", "config")],
        "inputs": _without_files(request["inputs"], run),
        "arguments": _without_files(request.get("arguments") or [], run),
        "files": [[use["pointer"], use["path"], use["digest"]] for use in run.files],
        "grants": [limits, run.grants, _permissions(manifest)],
        "session": run.session_id,
        "team": run.team_id,
        "caller": _caller(run, manifest),
        "context": context,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _permissions(manifest: Manifest) -> dict[str, list[str]]:
    return requested_permissions(manifest, has_scripts=False).document()


def _caller(run: Run, manifest: Manifest) -> int | None:
    request = Request(**run.request)
    return None if is_shared(request, manifest, run.team) else run.caller_id


def _without_files(inputs: Any, run: Run) -> Any:
    """The inputs with None for each file reference, because the key contains the files' digests instead."""
    references = [use["named"] for use in run.files]
    if isinstance(inputs, list):
        return [_without_files(item, run) for item in inputs]
    if isinstance(inputs, dict):
        return (
            None if inputs in references else {key: _without_files(item, run) for key, item in inputs.items()}
        )
    return inputs


def find_answer(key: str) -> Run | None:
    """The successful run with this key whose answer stays valid longest; None if there is none.

    Ignores expired and erased answers, and versions that are yanked or held. Concurrent calls don't wait for
    each other's answer.
    """
    fresh = Run.objects.filter(cache_key=key, cache_until__gt=timezone.now(), status=RunStatus.SUCCEEDED)
    usable = Version.objects.usable().filter(skill=OuterRef("skill"), number=OuterRef("version_number"))
    fresh = fresh.filter(Exists(usable), erased_at=None)
    return fresh.order_by("-cache_until").first()


def answer_from(run: Run, source: Run) -> None:
    """Saves the run as answered by ``source`` and copies its log, steps and artifacts.

    Clears the run's cache key, so that it answers no other run. Raises UNAVAILABLE if ``source`` was erased
    meanwhile.
    """
    run.cache_key, run.cache_ttl = "", None
    states.answer_from_cache(run, source)
    if not Run.objects.filter(
        pk=source.pk, erased_at=None
    ).exists():  # the run was erased after the look-up; ``cached_from`` has locked the row
        raise UNAVAILABLE.refusal()
    recording.copy_records(source, run)
