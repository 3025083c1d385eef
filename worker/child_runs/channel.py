"""A run's channel for child runs: requests are checked as if the run's caller had made them.

script ── {skill, parameters} ──► requires → permission → rules → budget → child run, in process ──► answer

Child runs execute in their parent's worker process, so they need no free worker and can't wait for each
other.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from django.db import connections, transaction

from registry.core.hooks import Hook
from registry.identity.actors import Actor
from registry.lookup import skills
from registry.models import Skill, Version
from registry.packages.problems import Refusal
from registry.rules import decision
from worker.child_runs.errors import CHILD_NOT_REQUIRED, CHILD_RUNS_CLOSED
from worker.child_runs.lineage import Lineage, caller_of, lineage_of
from worker.child_runs.messages import ChildRunRequest, answer_line, parse_request, refusal_line
from worker.core.errors import WORKER_ERROR
from worker.models import Run, RunStatus
from worker.protocols.call import Request, StepTrace
from worker.queue import claims, states
from worker.queue.claims import Claim

if TYPE_CHECKING:
    from worker.attempts.context import AttemptContext

log = logging.getLogger(__name__)
_MAX_STEPS = 200  # number of requests per run, including refusals
_GRACE_S = 8.0  # limit for a child to end after its cancellation


class ChildRunner(Protocol):
    """Requests and executes a child run; provided through a hook because the executors import this module."""

    def request(
        self, *, actor: Actor, version: Version, request: Request, lineage: Lineage
    ) -> tuple[Run, Claim | None]: ...

    def execute(self, claim: Claim) -> None: ...


def _find_skill(label: str, actor: Actor) -> Skill | None:
    try:
        return skills.find_skill(label, actor)
    except Refusal:
        return None


runner_provider: Hook[[], ChildRunner] = Hook()


def _child_runner() -> ChildRunner:
    return runner_provider.send()[0]


class ChildRunChannel:
    """Answers a script's requests, one at a time, and records child runs and refusals as steps."""

    def __init__(self, attempt: AttemptContext) -> None:
        self.attempt = attempt
        self.deadline = time.monotonic() + attempt.limits.timeout_s
        self._steps: list[StepTrace] = []
        self._step_count = 0
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._is_closed = False
        self._child: int | None = None

    def serve(self, line: bytes) -> bytes:
        """Calls ``answer``, then closes the thread's database connections, which no other code closes."""
        try:
            return self.answer(line)
        finally:
            connections.close_all()

    def answer(self, line: bytes) -> bytes:
        """Executes the child run that the line requests, and returns the answer line.

        Never raises an Exception: invalid lines, refusals and errors get an answer, too.
        """
        request, started_ms = ChildRunRequest(), time.time() * 1000
        self._idle.clear()
        try:
            request = parse_request(line)
            run = self._run(request)
            self._add_step(request, started_ms, run=run)
            return answer_line(request, run)
        except Refusal as error:
            self._add_step(request, started_ms, error=error)
            return refusal_line(request, error)
        except Exception as error:
            log.exception("The channel of run %s failed", self.attempt.claim.uid)
            return refusal_line(request, WORKER_ERROR.refusal(reason=type(error).__name__))
        finally:
            self._child = None
            self._idle.set()

    def take_steps(self) -> list[StepTrace]:
        """Removes and returns the steps since the last call."""
        with self._lock:
            steps, self._steps = self._steps, []
        return steps

    def close(self) -> None:
        """Refuses further requests, cancels a running child and waits at most ``_GRACE_S`` for its end."""
        with self._lock:
            self._is_closed, child = True, self._child
        if child is not None:
            states.cancel(child)
        self._idle.wait(_GRACE_S)

    def _run(self, request: ChildRunRequest) -> Run:
        if self._is_closed:
            raise CHILD_RUNS_CLOSED.refusal()
        parent = _load_run(self.attempt.claim.run_id)
        actor = caller_of(parent)
        label, number = self._find_required(request.skill, actor)
        version = skills.find_version(skills.find_skill(label, actor), number, actor)
        decision.require_allowed(decision.decide(version, team=parent.team, token=actor.token))
        with transaction.atomic():
            if not claims.lock_claim(
                self.attempt.claim
            ):  # another worker took it, or the reaper cancelled it
                raise CHILD_RUNS_CLOSED.refusal()
            run, claim = _child_runner().request(
                actor=actor,
                version=version,
                request=Request(
                    request.parameters,
                    script=request.script,
                    action=request.action,
                    tool=request.tool,
                ),
                lineage=lineage_of(parent, seconds=self.deadline - time.monotonic()),
            )
        if claim:
            self._begin(run.pk)
            _child_runner().execute(claim)
        run.refresh_from_db()
        return run

    def _begin(self, child: int) -> None:
        """Sets the current child; cancels it if the channel was closed meanwhile, so that it ends at once."""
        with self._lock:
            self._child = child
            closed = self._is_closed
        if closed:
            states.cancel(child)

    def _find_required(self, name: str, actor: Actor) -> tuple[str, str | None]:
        """The label and version (None: any) of a required skill; raises CHILD_NOT_REQUIRED for any other.

        Also finds the skill under another name that the actor can use, such as ``sum`` for ``handbook/sum``.
        """
        label, _, number = name.partition("@")
        entries = [required.partition("@") for required in self.attempt.package.manifest.requires]
        entries = [each for each in entries if not each[2] or number in ("", each[2])]
        same = next((each for each in entries if each[0] == label), None)
        if same is None and entries and (skill := _find_skill(label, actor)):
            same = next((each for each in entries if _find_skill(each[0], actor) == skill), None)
        if same is None:
            raise CHILD_NOT_REQUIRED.refusal(name=ascii(name[:100])[1:-1])
        return label, same[2] or number or None

    def _add_step(
        self,
        request: ChildRunRequest,
        started_ms: float,
        *,
        run: Run | None = None,
        error: Refusal | None = None,
    ) -> None:
        mask = self.attempt.mask.mask_name
        declared = mask(request.skill)[:200]
        step = StepTrace(
            step_id=run.uid if run else "",
            name=f"{run.skill_label}@{run.version_number}" if run else declared or "?",
            input={"skill": declared},
            output={"run": run.uid, "status": run.status} if run else None,
            duration_ms=round(time.time() * 1000 - started_ms, 3),
            error=_error(run, error, mask),
            timestamp=started_ms,
            kind="child",
            child=run.uid if run else "",
        )
        with self._lock:
            self._step_count += 1
            if self._step_count <= _MAX_STEPS:
                self._steps.append(step)


def _error(run: Run | None, error: Refusal | None, mask: Callable[[str], str]) -> Mapping[str, Any] | None:
    if error:
        return {"name": error.code, "message": mask(error.problems[0].message())}
    if run and run.status != RunStatus.SUCCEEDED:
        return {"name": run.failure_code, "message": run.message[:1000]}
    return None


def _load_run(key: int) -> Run:
    related = ("caller", "team", "token__team", "root")
    return Run.objects.select_related(*related).defer("request", "result").get(pk=key)


@contextmanager
def open_channel(attempt: AttemptContext) -> Iterator[ChildRunChannel | None]:
    """A context manager that yields the run's channel, or None if the skill requires no other skill.

    Closes the channel at the end.
    """
    if not attempt.package.manifest.requires:
        yield None
        return
    channel = ChildRunChannel(attempt)
    try:
        yield channel
    finally:
        channel.close()
