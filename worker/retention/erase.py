"""Erases the content of runs, and exports or erases the runs of people. Erased rows keep caller, version,
times and status.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.erasure import hooks
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.models import IdempotencyKey, Skill, Tombstone, User, Version
from worker.annotations import erase as annotations
from worker.approvals import erase as approvals
from worker.attempts import unpacking
from worker.failures.recount import recount
from worker.files.inputs import erasable
from worker.memory import erase as memory
from worker.models import Approval, Artifact, Attempt, ErrorGroup, InputFile, LogChunk, Run, Step
from worker.protocols.call import Request
from worker.queue import states
from worker.retention.errors import RUN_UNFINISHED
from worker.run_views.documents import run_document
from worker.sharing import erase as sharing


def erase_run(run: Run, *, actor: Actor) -> Run:
    """Erases a run's content, with an audit entry, and returns the run reloaded; safe to repeat.

    Raises NOT_FOUND if the actor can't see the run, FORBIDDEN if they can't control it or use a token,
    and RUN_UNFINISHED before its end.
    """
    if not Run.objects.visible_to(actor).filter(pk=run.pk).exists():
        raise NOT_FOUND.refusal(what="run", name=run.uid)
    if actor.token or not Run.objects.controlled_by(actor).filter(pk=run.pk).exists():
        raise FORBIDDEN.refusal(action="erase a run's content")
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("team").get(pk=run.pk)
        if run.status not in states.ENDED:
            raise RUN_UNFINISHED.refusal()
        if run.erased_at is None:
            hooks.discard_on_commit(_erase(Run.objects.filter(pk=run.pk)))
            audit.record(actor, "run.erase", run.uid, team=run.team)
    run.refresh_from_db()
    return run


def erase_version(skill: Skill, number: str, digest: str) -> set[str]:
    """Erases the ended runs of a purged version and cancels the others, which ``sweep`` erases later.

    Also removes the unpacked package from this machine if no version uses it. Returns the digests of files
    that may now be unused.
    """
    if not Version.objects.filter(digest=digest).exists():
        unpacking.remove_package(digest)
    return _stop_and_erase(Run.objects.filter(skill=skill, version_number=number))


def export_person(user: User) -> dict[str, Any]:
    """Iterators over the user's uploads, runs with their requests, memories, proposals and decisions, by
    name.

    Reads runs one at a time, because a request or result can contain megabytes.
    """
    runs = Run.objects.filter(caller=user).order_by("pk").values_list("pk", flat=True)
    inputs = InputFile.objects.filter(owner=user).order_by("pk").iterator(chunk_size=200)
    return {
        "inputs": ({"id": file.uid, "name": file.name, "size": file.size} for file in inputs),
        "runs": map(partial(_export_run, actor=Actor(user=user)), runs.iterator(chunk_size=1000)),
        **memory.export_person(user),
        **approvals.export_person(user),
    }


def erase_person(user: User) -> set[str]:
    decided = Approval.objects.filter(decided_by=user).values("run")
    _lock(Run.objects.filter(Q(caller=user) | Q(pk__in=decided)))
    uploads = InputFile.objects.filter(owner=user)
    digests = set(uploads.values_list("digest", flat=True))
    uploads.delete()
    memory.erase_person(user)
    approvals.erase_person(user)
    ErrorGroup.objects.filter(assigned_to=user).update(assigned_to=None)
    ErrorGroup.objects.filter(resolved_by=user).update(resolved_by=None)
    return digests | _stop_and_erase(Run.objects.filter(caller=user))


def sweep() -> None:
    """Erases runs that had not ended when their version was purged or their caller was erased."""
    purged = Tombstone.objects.filter(skill=OuterRef("skill"), number=OuterRef("version_number"))
    unerased = Run.objects.filter(Q(Exists(purged)) | Q(caller__erased_at__isnull=False))
    with transaction.atomic():
        _lock(unerased.filter(status__in=states.ENDED, erased_at=None))
        hooks.discard_on_commit(_erase(unerased))


def _export_run(key: int, *, actor: Actor) -> dict[str, Any]:
    stored = Run.objects.annotate(text=Cast("request", TextField())).filter(pk=key)
    run = Run.objects.defer("request").get(pk=key)
    return {
        **run_document(run, actor=actor, with_inputs=False),
        "request": hooks.StoredJson(stored.values_list("text", flat=True).get()),
    }


def _lock(runs: QuerySet[Run]) -> None:
    """Locks the runs, oldest first and before related rows, like ``approvals.decide``, to avoid deadlocks."""
    list(runs.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True))


def _stop_and_erase(runs: QuerySet[Run]) -> set[str]:
    _lock(runs)
    for key in runs.exclude(status__in=states.ENDED).order_by("pk").values_list("pk", flat=True):
        states.cancel(key)
    return _erase(runs)


def _erase(runs: QuerySet[Run]) -> set[str]:
    """Erases the content of runs that have ended; returns the ``erasable`` digests of their files."""
    ended = runs.filter(status__in=states.ENDED, erased_at=None)
    files = {run.pk: run.files for run in ended.only("files")}
    artifacts = Artifact.objects.filter(run__in=files)
    digests = {*artifacts.values_list("digest", flat=True), *_file_digests(files.values())}
    memory.erase_runs(files)
    approvals.erase_runs(files)
    annotations.erase_runs(files)
    sharing.erase_runs(files)
    for rows in (artifacts, LogChunk.objects.filter(run__in=files), Step.objects.filter(run__in=files)):
        rows.delete()
    Attempt.objects.filter(run__in=files).update(steps=[], network=[])
    _clear_stored_answers(set(Run.objects.filter(pk__in=files).values_list("uid", flat=True)))
    keys = set(Run.objects.filter(pk__in=files).exclude(error_key="").values_list("error_key", flat=True))
    Run.objects.filter(pk__in=files).update(
        request=asdict(Request()),
        files=[],
        result=None,
        message="",
        cause={},
        error_key="",
        request_id="",
        idempotency_key="",
        log_bytes=0,
        cache_key="",
        cache_until=None,
        pinned_at=None,
        erased_at=timezone.now(),
    )
    recount(keys)
    return erasable(digests)


def _clear_stored_answers(uids: set[str]) -> None:
    """Keeps only the run's id in the stored answers to the requests that created these runs.

    Repeated requests are still recognized by their idempotency key.
    """
    for row in IdempotencyKey.objects.only("headers").iterator() if uids else ():
        uid = row.headers.get("Location", "").rpartition("/")[2]
        if uid in uids:
            IdempotencyKey.objects.filter(pk=row.pk).update(body=json.dumps({"id": uid}).encode())


def _file_digests(files: Iterable[list[dict[str, Any]]]) -> set[str]:
    return {use["digest"] for uses in files for use in uses}
