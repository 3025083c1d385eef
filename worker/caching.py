"""Answers that are given again (row C12): which calls are the same, and the stored run that answers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils import timezone

from registry.models import Team, Version
from registry.packages.package import Manifest
from registry.packages.problems import refuse
from registry.packages.safety import asks_of
from worker import recording, states
from worker.models import Run, Status
from worker.protocols.call import Request

DEFAULT_TTL_S = 300
LONGEST_TTL_S = 30 * 24 * 3600
_CUTTING = ("timeout_s", "output_bytes")
_OURS = ("agent_id", "user_id", "request_id")  # what the portal itself puts into the context


def is_shared(request: Request, manifest: Manifest, team: Team | None) -> bool:
    """Whether a team shares answers: the manifest says so, and neither own context nor secrets are used.

    What a skill that starts others answers hangs on what its caller may run.
    """
    own_context = any(key not in _OURS for key in request.context)
    return (
        manifest.cacheable
        and manifest.cache_scope == "team"
        and team is not None
        and not own_context
        and not manifest.security.secrets
        and not manifest.requires
    )


def ttl_of(manifest: Manifest) -> int:
    return min(DEFAULT_TTL_S if manifest.ttl is None else manifest.ttl, LONGEST_TTL_S)


def key_of(run: Run, manifest: Manifest) -> str:
    """The same for the same call: package, script or action, inputs, files' bytes, grants and caller.

    Time and output that a child has left are not in it: they cut a run short and change no success.
    """
    request = run.request
    context = {key: value for key, value in request["context"].items() if key != "request_id"}
    limits = {name: value for name, value in run.limits.items() if name not in _CUTTING}
    asked: dict[str, Any] = {
        "skill": run.skill_id,
        "version": run.version_number,
        "digest": run.digest,
        "protocol": run.protocol,
        "entry": run.entry,
        "asked": [request[key] for key in ("script", "action", "tool", "stdin", "debug", "config")],
        "inputs": _without_files(request["inputs"], run),
        "files": [[use["pointer"], use["path"], use["digest"]] for use in run.files],
        "grants": [limits, run.grants, _permissions(manifest)],
        "session": run.session_id,
        "team": run.team_id,
        "caller": _caller(run, manifest),
        "context": context,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _permissions(manifest: Manifest) -> dict[str, list[str]]:
    """Everything that the version may do beyond computing."""
    return asks_of(manifest, has_scripts=False).document()


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
    """The youngest success under this key that is still good.

    Calls that are made at once are all executed: none waits for another, and each gets an answer of its own.
    """
    fresh = Run.objects.filter(cache_key=key, cache_until__gt=timezone.now(), status=Status.SUCCEEDED)
    usable = Version.objects.usable().filter(skill=OuterRef("skill"), number=OuterRef("version_number"))
    fresh = fresh.filter(Exists(usable), erased_at=None)
    return fresh.order_by("-cache_until").first()


def answer(run: Run, source: Run) -> None:
    """Inserts the run as answered by ``source``; it has all records of its own and never answers itself."""
    run.cache_key, run.cache_ttl = "", None
    states.answer_from_cache(run, source)
    if not Run.objects.filter(
        pk=source.pk, erased_at=None
    ).exists():  # since it was found; now it holds still
        raise refuse("UNAVAILABLE")
    recording.copy_records(source, run)
