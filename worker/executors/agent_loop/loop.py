"""Runs the agent loop with pydantic-ai. All of its requests use ``registry.http_client``."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anthropic
import openai
import pydantic_ai
from pydantic_ai import exceptions
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from registry.http_client.errors import OUTBOUND_FAILED, OUTBOUND_TIMEOUT, OUTBOUND_TOO_LARGE
from registry.http_client.transport import OutboundTransport
from registry.packages.problems import Code, Refusal
from worker.core.budget import ModelEndpoint
from worker.core.errors import CANCELLED
from worker.executors import errors
from worker.executors.agent_loop.loop_runner import LoopSpec, Message, ToolCall, Turn
from worker.executors.agent_loop.tools import Tool

_ANSWER_BYTES = 4 * 2**20
_ANSWER_TOKENS = 8_192
_RETRIES = 1  # number of retries of a request if the endpoint is busy or fails
_MAX_WRONG_CALLS = 3  # number of calls of unknown tools before the loop fails
_MAX_SAME_CALLS = 5  # number of equal calls in a row before the loop fails
_CHARACTERS_PER_TOKEN = 4  # estimated for endpoints that do not report usage
_MAX_CHARACTERS = 20_000
_NO_KEY = "none"  # a placeholder, because the clients require a key and a local endpoint may have none

Emit = Callable[[Message], None]


class AgentLoop:
    """One agent loop. ``run`` blocks and returns the model's last text or raises Refusal.

    ``abort`` ends the loop from another thread.
    """

    def __init__(self, spec: LoopSpec, emit: Emit) -> None:
        self.spec, self.emit = spec, emit
        self.transport = OutboundTransport(limit=_ANSWER_BYTES, timeout=spec.endpoint.seconds)
        self._last: deque[str] = deque(maxlen=_MAX_SAME_CALLS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None

    def run(self) -> str:
        try:
            return asyncio.run(self._run())
        except asyncio.CancelledError:
            raise CANCELLED.refusal() from None

    def abort(self) -> None:
        self.transport.abort()
        if self._loop and self._task and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _run(self) -> str:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.create_task(self._run_agent())
        return await self._task

    async def _run_agent(self) -> str:
        async with self.transport.client() as client:
            model = _BudgetedModel(_model(self.spec.endpoint, client), self.spec, self.emit, self.transport)
            agent = pydantic_ai.Agent(
                model,
                instructions=self.spec.instructions,
                tools=[self._tool(tool) for tool in self.spec.tools],
                retries=_MAX_WRONG_CALLS,
            )
            try:
                result = await agent.run(self.spec.prompt, usage_limits=UsageLimits(request_limit=None))
            except exceptions.AgentRunError as error:
                raise _refusal(error, self.transport) from None
            return str(result.output)

    def _tool(self, tool: Tool) -> pydantic_ai.Tool[Any]:
        async def call(**arguments: Any) -> str:
            self._count(tool.name, arguments)
            tool_call = ToolCall(tool.name, arguments)
            self.emit(tool_call)
            return await asyncio.wrap_future(tool_call.answer)

        return pydantic_ai.Tool.from_schema(call, tool.name, tool.description, dict(tool.schema))

    def _count(self, name: str, arguments: dict[str, Any]) -> None:
        self._last.append(f"{name} {json.dumps(arguments, sort_keys=True, default=str)}")
        if len(self._last) == _MAX_SAME_CALLS and len(set(self._last)) == 1:
            raise errors.TOOL_LOOP.refusal()


class _BudgetedModel(WrapperModel):
    def __init__(self, wrapped: Model, spec: LoopSpec, emit: Emit, transport: OutboundTransport) -> None:
        super().__init__(wrapped)
        self.spec, self.emit, self.transport = spec, emit, transport
        self.turns = self.tokens = 0

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        left = self._require_budget()
        self.turns += 1
        settings = ModelSettings(max_tokens=min(left, _ANSWER_TOKENS))
        turn = Turn(self.turns, time.time(), 0.0)
        try:
            response = await self.wrapped.request(messages, settings, model_request_parameters)
        except Exception as error:
            refusal = _refusal(error, self.transport)
            self.emit(replace(turn, duration_ms=_since(turn.began), failure=refusal.code))
            raise refusal from None
        turn = _complete_turn(turn, messages, response)
        self.tokens += turn.tokens_in + turn.tokens_out
        self.emit(turn)
        if response.finish_reason == "length" and left < _ANSWER_TOKENS:
            raise errors.TOKEN_BUDGET.refusal()
        return response

    def _require_budget(self) -> int:
        if self.turns >= self.spec.budget.turns:
            raise errors.TURN_BUDGET.refusal()
        if (left := self.spec.budget.tokens - self.tokens) <= 0:
            raise errors.TOKEN_BUDGET.refusal()
        return left


def _model(endpoint: ModelEndpoint, client: Any) -> Model:
    key = endpoint.key or _NO_KEY
    if endpoint.wire == "anthropic":
        speaker = anthropic.AsyncAnthropic(
            base_url=endpoint.url, api_key=key, http_client=client, max_retries=_RETRIES
        )
        return AnthropicModel(endpoint.name, provider=AnthropicProvider(anthropic_client=speaker))
    caller = openai.AsyncOpenAI(base_url=endpoint.url, api_key=key, http_client=client, max_retries=_RETRIES)
    plain = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    provider = OpenAICompatibleProvider("model", openai_client=caller, profile=plain)
    return OpenAIChatModel(endpoint.name, provider=provider)


def _complete_turn(turn: Turn, messages: list[ModelMessage], response: ModelResponse) -> Turn:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        {"name": part.tool_name, "arguments": part.args_as_json_str()[:_MAX_CHARACTERS]}
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    read, written = response.usage.input_tokens, response.usage.output_tokens
    if not read and not written:
        read, written = len(str(messages)) // _CHARACTERS_PER_TOKEN, len(text) // _CHARACTERS_PER_TOKEN + 1
    return replace(
        turn,
        duration_ms=_since(turn.began),
        tokens_in=read,
        tokens_out=written,
        text=text[:_MAX_CHARACTERS],
        calls=calls,
    )


def _since(started_at: float) -> float:
    return round((time.time() - started_at) * 1000, 3)


def _refusal(error: Exception, transport: OutboundTransport) -> Refusal:
    """The refusal for an error of the loop; never quotes the model's response, which may repeat the key."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, exceptions.ModelHTTPError):
        return _code_of(error.status_code).refusal()
    if transport.refused:
        return _map_outbound_refusal(transport.refused)
    if isinstance(error, exceptions.ModelTimeoutError):
        return errors.MODEL_TIMEOUT.refusal()
    return errors.MODEL_UNUSABLE.refusal()


def _map_outbound_refusal(error: Refusal) -> Refusal:
    codes = {
        OUTBOUND_TIMEOUT.name: errors.MODEL_TIMEOUT,
        OUTBOUND_TOO_LARGE.name: errors.MODEL_UNUSABLE,
        OUTBOUND_FAILED.name: errors.MODEL_FAILED,
    }
    return codes[error.code].refusal() if error.code in codes else error


def _code_of(status: int) -> Code[[]]:
    if status in (401, 403):
        return errors.MODEL_REFUSED
    if status in (408, 504):
        return errors.MODEL_TIMEOUT
    if status == 429:
        return errors.MODEL_BUSY
    return errors.MODEL_FAILED if status >= 500 else errors.MODEL_REJECTED
