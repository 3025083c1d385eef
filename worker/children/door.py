"""One run's door: a request is checked as if its caller had made it, and what it asks for is run here.

script ── {skill, parameters} ──► requires → rights → rules → budget → child run, in this process ──► answer

Beside the run that waits for them, children need no free worker: none waits for another.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import connections, transaction

from registry import catalog, rules
from registry.packages.problems import Refused, refuse
from worker import states
from worker.children.asking import Asked, answer_document, read, refusal
from worker.children.lineage import caller_of, lineage_of
from worker.models import Run, Status
from worker.protocols.call import Request, StepTrace

if TYPE_CHECKING:
    from worker.ways.values import Attempted

log = logging.getLogger(__name__)
_STEPS = 200  # refusals count, too
_GRACE_S = 8.0  # for a child that was told to end


class Door:
    """Answers one request at a time, and keeps the runs that it started and the refusals as steps."""

    def __init__(self, attempted: Attempted) -> None:
        self.attempted = attempted
        self.ends = time.monotonic() + attempted.limits.timeout_s
        self._steps: list[StepTrace] = []
        self._noted = 0
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._shut = False
        self._child: int | None = None

    def serve(self, line: bytes) -> bytes:
        """``answer``, in a thread whose connections nobody else would close."""
        try:
            return self.answer(line)
        finally:
            connections.close_all()

    def answer(self, line: bytes) -> bytes:
        """The answer to one line, whatever it holds; never raises."""
        asked, began = Asked(), time.time() * 1000
        self._idle.clear()
        try:
            asked = read(line)
            run = self._run(asked)
            self._note(asked, began, run=run)
            return answer_document(asked, run)
        except Refused as no:
            self._note(asked, began, no=no)
            return refusal(asked, no)
        except Exception as error:
            log.exception("A run's door failed")
            return refusal(asked, refuse("WORKER_ERROR", reason=type(error).__name__))
        finally:
            self._child = None
            self._idle.set()

    def taken(self) -> list[StepTrace]:
        """The steps since it was last asked."""
        with self._lock:
            taken, self._steps = self._steps, []
        return taken

    def shut(self) -> None:
        """Ends a child that is under way, and waits until it has; from now on everything is refused."""
        with self._lock:
            self._shut, child = True, self._child
        if child is not None:
            states.cancel(child)
        self._idle.wait(_GRACE_S)

    def _run(self, asked: Asked) -> Run:
        from worker.execution import execute
        from worker.runs import request_run
        from worker.tasks import worker_name

        label, number = self._required(asked.skill)
        parent = _row(self.attempted.claim.run_id)
        actor = caller_of(parent)
        version = catalog.find_version(catalog.find_skill(label, actor), number, actor)
        rules.require_allowed(rules.decide(version, team=parent.team, token=actor.token))
        with transaction.atomic():
            if not states.hold(self.attempted.claim):  # another worker's by now, or cancelled by the reaper
                raise refuse("CHILD_DOOR_SHUT")
            run = request_run(
                actor=actor,
                version=version,
                request=Request(asked.parameters, asked.script, asked.action, asked.tool),
                team=parent.team,
                lineage=lineage_of(parent, seconds=self.ends - time.monotonic()),
            )
            claim = states.claim_next(worker_name(), run_id=run.pk)
        if claim and self._begin(run.pk):
            execute(claim, wait=True)
        run.refresh_from_db()
        return run

    def _begin(self, child: int) -> bool:
        """False, and the child is cancelled, where the door was shut meanwhile; it then ends as it begins."""
        with self._lock:
            self._child = child
            shut = self._shut
        if shut:
            states.cancel(child)
        return True

    def _required(self, name: str) -> tuple[str, str | None]:
        """Name and number of what ``requires`` calls so; refused before anything is looked up."""
        if self._shut:
            raise refuse("CHILD_DOOR_SHUT")
        label, _, number = name.partition("@")
        for required in self.attempted.package.manifest.requires:
            entry, _, pinned = required.partition("@")
            if entry == label and (not pinned or number in ("", pinned)):
                return label, pinned or number or None
        raise refuse("CHILD_NOT_REQUIRED", name=ascii(name[:100])[1:-1])

    def _note(self, asked: Asked, began: float, *, run: Run | None = None, no: Refused | None = None) -> None:
        hidden = self.attempted.mask.name
        named = hidden(asked.skill)[:200]
        step = StepTrace(
            step_id=run.uid if run else "",
            name=f"{run.skill_label}@{run.version_number}" if run else named or "?",
            input={"skill": named},
            output={"run": run.uid, "status": run.status} if run else None,
            duration_ms=round(time.time() * 1000 - began, 3),
            error=_error(run, no, hidden),
            timestamp=began,
            kind="child",
            child=run.uid if run else "",
        )
        with self._lock:
            self._noted += 1
            if self._noted <= _STEPS:
                self._steps.append(step)


def _error(run: Run | None, no: Refused | None, hidden: Callable[[str], str]) -> Mapping[str, Any] | None:
    if no:
        return {"name": no.code, "message": hidden(no.problems[0].message())}
    if run and run.status != Status.SUCCEEDED:
        return {"name": run.failure_code, "message": run.message[:1000]}
    return None


def _row(key: int) -> Run:
    related = ("caller", "team", "token__team", "root")
    return Run.objects.select_related(*related).defer("request", "result").get(pk=key)


@contextmanager
def opened(attempted: Attempted) -> Iterator[Door | None]:
    """The door of a run whose skill requires others; none, where it requires nothing."""
    if not attempted.package.manifest.requires:
        yield None
        return
    door = Door(attempted)
    try:
        yield door
    finally:
        door.shut()
