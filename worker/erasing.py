"""The content of runs goes and their rows stay: who ran which version when, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from registry import audit, erasing
from registry.actors import Actor
from registry.models import IdempotencyKey, Skill, Tombstone, User, Version
from registry.moments import moment
from registry.packages.problems import refuse
from worker import states, unpacking
from worker.approvals import erasing as approvals
from worker.documents import run_document
from worker.memory import erasing as memory
from worker.models import Approval, Artifact, Attempt, InputFile, LogChunk, Run, Status, Step
from worker.protocols.call import Request


def erase_run(run: Run, *, actor: Actor) -> Run:
    """Erases inputs, log, steps, answer and artifacts of a run that has ended; for who may read them."""
    if not Run.objects.visible_to(actor).filter(pk=run.pk).exists():
        raise refuse("NOT_FOUND", what="run", name=run.uid)
    if actor.token or not Run.objects.readable_by(actor).filter(pk=run.pk).exists():
        raise refuse("FORBIDDEN", action="erase a run's content")
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("team").get(pk=run.pk)
        if run.status not in states.ENDED:
            raise refuse("RUN_UNFINISHED")
        if run.erased_at is None:
            erasing.discard_on_commit(_erase(Run.objects.filter(pk=run.pk)))
            audit.record(actor, "run.erase", run.uid, team=run.team)
    run.refresh_from_db()
    return run


def erase_version(skill: Skill, number: str, digest: str) -> set[str]:
    """Erases what runs of a purged version hold; those under way are stopped, and swept at their end."""
    if not Version.objects.filter(digest=digest).exists():
        unpacking.forget(digest)
    return _stop_and_erase(Run.objects.filter(skill=skill, version_number=number))


def export_person(user: User) -> dict[str, Any]:
    """Their uploads and runs, each as its document with what was asked."""
    who = Actor(user=user)
    runs = Run.objects.filter(caller=user).order_by("pk")
    inputs = InputFile.objects.filter(owner=user).order_by("pk")
    return {
        "inputs": [{"id": file.uid, "name": file.name, "size": file.size} for file in inputs],
        "runs": [_exported(run, who) for run in runs.iterator(chunk_size=100)],
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
    return digests | _stop_and_erase(Run.objects.filter(caller=user))


def sweep() -> None:
    """Erases the runs that were still under way when their version was purged or their caller erased."""
    purged = Tombstone.objects.filter(skill=OuterRef("skill"), number=OuterRef("version_number"))
    left = Run.objects.filter(Q(Exists(purged)) | Q(caller__erased_at__isnull=False))
    with transaction.atomic():
        _lock(left.filter(status__in=states.ENDED, erased_at=None))
        erasing.discard_on_commit(_erase(left))


def _exported(run: Run, who: Actor) -> dict[str, Any]:
    asked: Mapping[str, Any] = run.request
    return {**run_document(run, actor=who), "created_at": moment(run.created_at), "request": dict(asked)}


def _lock(runs: QuerySet[Run]) -> None:
    """By their age, as who decides on several takes them, and before anything else of theirs is touched."""
    list(runs.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True))


def _stop_and_erase(runs: QuerySet[Run]) -> set[str]:
    _lock(runs)
    for key in runs.exclude(status__in=states.ENDED).order_by("pk").values_list("pk", flat=True):
        states.cancel(key)
    return _erase(runs)


def _erase(runs: QuerySet[Run]) -> set[str]:
    """Empties those that have ended; answers the digests that they named.

    None while a run is under way, which may have stored the same bytes and names them at its end: then the
    sweep takes them.
    """
    ended = runs.filter(status__in=states.ENDED, erased_at=None)
    files = {run.pk: run.files for run in ended.only("files")}
    artifacts = Artifact.objects.filter(run__in=files)
    digests = {*artifacts.values_list("digest", flat=True), *_named(files.values())}
    memory.erase_runs(files)
    approvals.erase_runs(files)
    for rows in (artifacts, LogChunk.objects.filter(run__in=files), Step.objects.filter(run__in=files)):
        rows.delete()
    Attempt.objects.filter(run__in=files).update(steps=[], network=[])
    _forget_answers(set(Run.objects.filter(pk__in=files).values_list("uid", flat=True)))
    Run.objects.filter(pk__in=files).update(
        request=asdict(Request()),
        files=[],
        result=None,
        message="",
        request_id="",
        idempotency_key="",
        log_bytes=0,
        cache_key="",
        cache_until=None,
        erased_at=timezone.now(),
    )
    return set() if Run.objects.filter(status=Status.RUNNING).exists() else digests


def _forget_answers(uids: set[str]) -> None:
    """What is kept for requests that come again names the run alone; they are not done anew."""
    for row in IdempotencyKey.objects.only("headers").iterator() if uids else ():
        uid = row.headers.get("Location", "").rpartition("/")[2]
        if uid in uids:
            IdempotencyKey.objects.filter(pk=row.pk).update(body=json.dumps({"id": uid}).encode())


def _named(files: Iterable[list[dict[str, Any]]]) -> set[str]:
    return {use["digest"] for uses in files for use in uses}
