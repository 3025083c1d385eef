"""Value types of the protocols, without Django: requests, prepared calls and their outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Protocol = Literal["script", "stdin_json", "execute", "abp", "prompt", "fork", "static", "endpoint"]


@dataclass(frozen=True)
class Request:
    """A request to a package: inputs, context, and optionally a script, an action or a tool.

    ``arguments`` precede the inputs on the command line of a script.
    """

    inputs: Mapping[str, Any] = field(default_factory=dict)
    arguments: Sequence[Any] = ()  # protocol "script" only; JSON values
    script: str | None = None
    action: str | None = None
    tool: str | None = None
    stdin: str | None = None  # protocol "script" only
    debug: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)  # agent_id, user_id, request_id: opaque ids
    # The manifest's settings and the run's limits, for execute().
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A prepared call with arguments, stdin and environment for the sandbox.

    ``argv`` is empty for prompts and endpoints, which do not start a script.
    """

    protocol: Protocol
    entry: str  # path in the package; for an endpoint, its URL
    argv: tuple[str, ...]
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    channel: bool = False  # whether execute() answers on descriptor 3
    request: Request = field(default_factory=Request)


@dataclass(frozen=True)
class StepTrace:
    """A step of a run; ``kind`` is a ``worker.models.StepKind``, ``child`` the uid of the run it started."""

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
class Cause:
    """The cause of a failed call: an exception with its place in the skill, or a failure code with its
    message.
    """

    type: str  # such as "ValueError", or a failure code; "" if unknown
    message: str
    file: str = ""  # relative to the package; "" if unknown
    line: int | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a call, in the same form for all protocols.

    ``failure_code`` is "" on success. Protocol ``script`` sets ``outputs``, all others set ``output``.
    ``error`` is ``{code, message, details}`` of a failed call. ``answer`` is the whole answer of the
    protocols ``stdin_json`` and ``abp``.
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
    messages: tuple[Mapping[str, Any], ...] = ()  # messages of a prompt: {role, content}
    # Changed by a prompt: allowedTools, model, effort.
    context: Mapping[str, Any] = field(default_factory=dict)
    cause: Cause | None = None  # None if it must be found in the error or the output
