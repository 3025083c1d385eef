"""How a script is spoken to, and what came of it: the protocols' frozen values. No Django."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Protocol = Literal["script", "stdin_json", "execute", "abp", "prompt", "fork", "static", "endpoint"]


@dataclass(frozen=True)
class Request:
    """What the caller asks of a package: at most one of script, action and tool; the inputs; the context."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    script: str | None = None
    action: str | None = None
    tool: str | None = None
    stdin: str | None = None  # protocol "script" only
    debug: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)  # agent_id, user_id, request_id: opaque ids
    config: Mapping[str, Any] = field(
        default_factory=dict
    )  # execute(): the manifest's settings, the run's limits


@dataclass(frozen=True)
class Call:
    """One prepared start: the protocol chosen, the vector, stdin and environment for the sandbox."""

    protocol: Protocol
    entry: str  # path within the package
    argv: tuple[str, ...]
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    channel: bool = False  # execute() answers on descriptor 3
    request: Request = field(default_factory=Request)


@dataclass(frozen=True)
class StepTrace:
    """One step of a run; ``kind`` is a ``worker.models.StepKind``, ``child`` the id of a run it started."""

    step_id: str
    name: str
    input: Any = None
    output: Any = None
    duration_ms: float | None = None
    error: Mapping[str, Any] | None = None  # name, message, stack
    timestamp: float | None = None  # epoch milliseconds
    kind: str = "skill"
    child: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the script answered, in one shape for all protocols.

    ``failure_code`` is "" on success; ``outputs`` is document A's, ``output`` everyone else's; ``error`` is
    ``{code, message, details}`` of a failed call; ``answer`` is the whole JSON answer of document B.
    """

    success: bool
    failure_code: str = ""
    message: str = ""
    output: Any = None
    format: str = ""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    token_usage: int | None = None
    memory_writes: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[StepTrace, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[Mapping[str, Any], ...] = ()  # a prompt's: {role, content}
    context: Mapping[str, Any] = field(default_factory=dict)  # what they change: allowedTools, model, effort
