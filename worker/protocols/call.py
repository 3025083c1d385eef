"""Frozen values of the protocols: requests, prepared calls and their outcomes. Imports no Django."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Protocol = Literal["script", "stdin_json", "execute", "abp", "prompt", "fork", "static", "endpoint"]


@dataclass(frozen=True)
class Request:
    """A request to a package: its inputs and context, and at most one of script, action and tool."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    script: str | None = None
    action: str | None = None
    tool: str | None = None
    stdin: str | None = None  # protocol "script" only
    debug: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)  # agent_id, user_id, request_id: opaque ids
    # For execute(): the manifest's own settings and the run's limits.
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A prepared call: its protocol, and the argument vector, stdin and environment for the sandbox."""

    protocol: Protocol
    entry: str  # path within the package
    argv: tuple[str, ...]
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    channel: bool = False  # execute() answers on descriptor 3
    request: Request = field(default_factory=Request)


@dataclass(frozen=True)
class StepTrace:
    """A step of a run; ``kind`` is a ``worker.models.StepKind``, ``child`` the id of the run it started."""

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
    """The answer of a script, in the same form for all protocols.

    ``failure_code`` is "" on success. Protocol ``script`` sets ``outputs``, all others set ``output``.
    ``error`` is ``{code, message, details}`` of a failed call; ``answer`` is the whole answer of the JSON
    stdin protocol.
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
    messages: tuple[Mapping[str, Any], ...] = ()  # of a prompt: {role, content}
    # Changed by a prompt: allowedTools, model, effort.
    context: Mapping[str, Any] = field(default_factory=dict)
