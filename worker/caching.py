"""Answers that are given again (row C12): which calls are the same, and the stored run that answers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.utils import timezone

from registry.models import Team
from registry.packages.package import Manifest
from worker import recording, states
from worker.models import Run, Status
from worker.protocols.call import Request

DEFAULT_TTL_S = 300
LONGEST_TTL_S = 30 * 24 * 3600
_OURS = ("agent_id", "user_id", "request_id")  # what the portal itself puts into the context


def is_shared(request: Request, manifest: Manifest, team: Team | None) -> bool:
    """Whether a team shares answers: the manifest says so, and neither own context nor secrets are used."""
    own_context = any(key not in _OURS for key in request.context)
    return (
        manifest.cacheable
        and manifest.cache_scope == "team"
        and team is not None
        and not own_context
        and not manifest.security.secrets
    )


def ttl_of(manifest: Manifest) -> int:
    return min(DEFAULT_TTL_S if manifest.ttl is None else manifest.ttl, LONGEST_TTL_S)


def key_of(run: Run, manifest: Manifest) -> str:
    """The same for the same call: package, script or action, inputs, files' bytes, grants and caller."""
    request = run.request
    context = {key: value for key, value in request["context"].items() if key != "request_id"}
    asked: dict[str, Any] = {
        "digest": run.digest,
        "protocol": run.protocol,
        "entry": run.entry,
        "asked": [request[key] for key in ("script", "action", "tool", "stdin", "debug")],
        "inputs": _without_files(request["inputs"], run),
        "files": [[use["pointer"], use["path"], use["digest"]] for use in run.files],
        "grants": [run.limits, manifest.security.network],
        "team": run.team_id,
        "caller": _caller(run, manifest),
        "context": context,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _caller(run: Run, manifest: Manifest) -> int | None:
    request = Request(**run.request)
    return None if is_shared(request, manifest, run.team) else run.caller_id


def _without_files(inputs: Any, run: Run) -> Any:
    """Inputs in which a file counts by its bytes, not by the upload that brought them."""
    named = [use["named"] for use in run.files]
    if isinstance(inputs, list):
        return [_without_files(item, run) for item in inputs]
    if isinstance(inputs, dict):
        return None if inputs in named else {key: _without_files(item, run) for key, item in inputs.items()}
    return inputs


def find(key: str) -> Run | None:
    """The youngest success under this key that is still good."""
    fresh = Run.objects.filter(cache_key=key, cache_until__gt=timezone.now(), status=Status.SUCCEEDED)
    return fresh.order_by("-cache_until").first()


def answer(run: Run, source: Run) -> None:
    """Inserts the run as answered by ``source``; it has all records of its own and never answers itself."""
    run.cache_key, run.cache_ttl = "", None
    states.answer_from_cache(run, source)
    recording.copy_records(source, run)
