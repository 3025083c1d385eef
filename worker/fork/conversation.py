"""An agent loop in a thread of its own, and what it says to the worker's thread, which alone does anything.

The loop's thread knows the model's endpoint and nothing else: tools, steps, log, lease and cancel are the
worker's. So a slow answer of the model delays nothing, and nothing that the model says reaches the database
or the sandbox but through ``Toolbox``.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from registry.packages.problems import Refused, refuse
from worker.fork.budget import Budget, Endpoint
from worker.fork.tools import Tool
from worker.sandbox.policy import StopReason, Tick

_PATIENCE_S = 0.1
_FAREWELL_S = 0.3


@dataclass(frozen=True)
class Asked:
    """What a loop is begun with."""

    endpoint: Endpoint
    budget: Budget
    prompt: str
    instructions: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class Turn:
    """One answer of the model, or why there is none; ``began`` in epoch seconds."""

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
    """A call that waits in the loop's thread for the worker's answer."""

    name: str
    arguments: Mapping[str, Any]
    answer: Future[str] = field(default_factory=Future)


@dataclass(frozen=True)
class Ended:
    """How the loop came to its end by itself."""

    text: str = ""
    refused: Refused | None = None


class Leading(Protocol):
    """The loop itself (``worker.fork.agent``): blocks until its end, speaks through ``tell``."""

    def run(self) -> str: ...

    def cut(self) -> None: ...


Message = Turn | ToolCall | Ended


class Conversation:
    """Holds one loop to its end, its limits or the run's word."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.said: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._loop: Leading | None = None
        self._is_over = False

    def hold(
        self,
        *,
        use: Callable[[str, Mapping[str, Any]], str],
        on_turn: Callable[[Turn], None],
        tick: Tick,
        seconds: Callable[[], float],
    ) -> Ended | StopReason:
        """The loop's end, or why it was stopped; ``seconds`` are those that are left."""
        thread = threading.Thread(target=self._lead, daemon=True, name="agent-loop")
        ends = time.monotonic() + seconds()
        thread.start()
        try:
            while True:
                if stop := tick():
                    return stop
                if time.monotonic() >= ends:
                    return Ended(refused=refuse("TIMEOUT"))
                if ended := self._hear(use, on_turn):
                    return ended
        finally:
            self._hang_up(thread)

    def _hear(
        self, use: Callable[[str, Mapping[str, Any]], str], on_turn: Callable[[Turn], None]
    ) -> Ended | None:
        try:
            message = self.said.get(timeout=_PATIENCE_S)
        except queue.Empty:
            return None
        if isinstance(message, Turn):
            on_turn(message)
        elif isinstance(message, ToolCall):
            message.answer.set_result(use(message.name, message.arguments))
        else:
            return message
        return None

    def _lead(self) -> None:
        from worker.fork.agent import Agency  # heavy: loaded where a loop begins, and nowhere else

        try:
            self._loop = Agency(self.asked, self.said.put)
            if self._is_over:
                return
            self.said.put(Ended(text=self._loop.run()))
        except Refused as no:
            self.said.put(Ended(refused=no))
        except BaseException as error:
            self.said.put(Ended(refused=refuse("WORKER_ERROR", reason=type(error).__name__)))

    def _hang_up(self, thread: threading.Thread) -> None:
        """Nothing of the loop goes on: its request is cut and its thread ends by itself."""
        self._is_over = True
        if self._loop:
            self._loop.cut()
        thread.join(_FAREWELL_S if self._loop else 0)
