from __future__ import annotations

from collections.abc import Mapping

from worker.attempts.context import AttemptContext, AttemptResult, Executor
from worker.executors import agent, endpoint, prompt, script
from worker.protocols.call import Call, Protocol

_EXECUTORS: Mapping[Protocol, Executor] = {
    "script": script.execute,
    "stdin_json": script.execute,
    "execute": script.execute,
    "abp": script.execute,
    "prompt": prompt.execute,
    "fork": agent.execute,
    "endpoint": endpoint.execute,
}


def execute_call(attempt: AttemptContext, call: Call) -> AttemptResult:
    """Executes the call by its protocol; raises Refusal if it can't start or its files can't be stored."""
    return _EXECUTORS[call.protocol](attempt, call)
