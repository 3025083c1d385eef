"""Runs an agent loop in its own thread and handles its messages in the worker's thread.

The loop's thread only sends requests to the model's endpoint. The worker's thread handles tools, steps, log,
lease and cancellation, so a slow model does not delay them. Only the worker's thread uses the database and
the sandbox.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from registry.packages.problems import Refusal
from worker.core.budget import Budget, ModelEndpoint
from worker.core.errors import WORKER_ERROR
from worker.executors.agent_loop.tools import Tool
from worker.protocols.errors import TIMEOUT
from worker.sandbox.policy import CheckStop, StopReason

_POLL_S = 0.1
_GRACE_S = 0.3


@dataclass(frozen=True)
class LoopSpec:
    endpoint: ModelEndpoint
    budget: Budget
    prompt: str
    instructions: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class Turn:
    """One answer of the model, or the code of its failure. ``began`` is in epoch seconds."""

    number: int
    began: float
    duration_ms: float
    tokens_in: int = 0
    tokens_out: int = 0
    text: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class ToolCall:
    """A tool call; the loop's thread waits for ``answer``, which the worker's thread sets."""

    name: str
    arguments: Mapping[str, Any]
    answer: Future[str] = field(default_factory=Future)


@dataclass(frozen=True)
class AgentResult:
    """The result of a loop that was not stopped: its last ``text``, or in ``refused`` the reason of its
    failure.
    """

    text: str = ""
    refused: Refusal | None = None


class Loop(Protocol):
    """The interface of ``AgentLoop``, which is imported only when a loop starts."""

    def run(self) -> str: ...

    def abort(self) -> None: ...


Message = Turn | ToolCall | AgentResult


class LoopRunner:
    """Runs one loop until it ends, reaches its time limit or must stop."""

    def __init__(self, spec: LoopSpec) -> None:
        self.spec = spec
        self.messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._loop: Loop | None = None
        self._is_stopped = False

    def run(
        self,
        *,
        use: Callable[[str, Mapping[str, Any]], str],
        on_turn: Callable[[Turn], None],
        check_stop: CheckStop,
        seconds: Callable[[], float],
    ) -> AgentResult | StopReason:
        """Runs the loop: calls ``on_turn`` for each turn and answers tool calls with ``use``.

        Returns the result, or the reason as soon as ``check_stop`` reports one. ``seconds`` is called once
        and returns the time limit. When it is over, the result is the refusal TIMEOUT.
        """
        thread = threading.Thread(target=self._run_agent, daemon=True, name="agent-loop")
        ends = time.monotonic() + seconds()
        thread.start()
        try:
            while True:
                if stop := check_stop():
                    return stop
                if time.monotonic() >= ends:
                    return AgentResult(refused=TIMEOUT.refusal())
                if result := self._handle_message(use, on_turn):
                    return result
        finally:
            self._stop(thread)

    def _handle_message(
        self, use: Callable[[str, Mapping[str, Any]], str], on_turn: Callable[[Turn], None]
    ) -> AgentResult | None:
        try:
            message = self.messages.get(timeout=_POLL_S)
        except queue.Empty:
            return None
        if isinstance(message, Turn):
            on_turn(message)
        elif isinstance(message, ToolCall):
            message.answer.set_result(use(message.name, message.arguments))
        else:
            return message
        return None

    def _run_agent(self) -> None:
        from worker.executors.agent_loop.loop import (
            AgentLoop,  # slow to import
        )

        try:
            self._loop = AgentLoop(self.spec, self.messages.put)
            if self._is_stopped:
                return
            self.messages.put(AgentResult(text=self._loop.run()))
        except Refusal as error:
            self.messages.put(AgentResult(refused=error))
        except BaseException as error:
            self.messages.put(AgentResult(refused=WORKER_ERROR.refusal(reason=type(error).__name__)))

    def _stop(self, thread: threading.Thread) -> None:
        self._is_stopped = True
        if self._loop:
            self._loop.abort()
        thread.join(_GRACE_S if self._loop else 0)
