"""The loop itself, led by pydantic-ai; every request of its clients goes through ``registry.outbound``."""

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

from registry.outbound.transport import OutboundTransport
from registry.packages.problems import Refused, refuse
from worker.fork.budget import Endpoint
from worker.fork.conversation import Asked, Message, ToolCall, Turn
from worker.fork.tools import Tool

_ANSWER_BYTES = 4 * 2**20
_ANSWER_TOKENS = 8_192
_RETRIES = 1  # of one request, where the endpoint is busy or fails
_WRONG_CALLS = 3  # of unknown tools, before the model is given up
_SAME_CALLS = 5  # in a row
_CHARACTERS_A_TOKEN = 4  # where an endpoint does not count
_SHOWN = 20_000
_NAMELESS = "none"  # the clients want a key, and a local endpoint may have none

Tell = Callable[[Message], None]


class Agency:
    """One loop; ``run`` blocks until its end, ``cut`` ends it from another thread."""

    def __init__(self, asked: Asked, tell: Tell) -> None:
        self.asked, self.tell = asked, tell
        self.transport = OutboundTransport(limit=_ANSWER_BYTES, timeout=asked.endpoint.seconds)
        self._last: deque[str] = deque(maxlen=_SAME_CALLS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None

    def run(self) -> str:
        try:
            return asyncio.run(self._run())
        except asyncio.CancelledError:
            raise refuse("CANCELLED") from None

    def cut(self) -> None:
        self.transport.cut()
        if self._loop and self._task and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _run(self) -> str:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.create_task(self._lead())
        return await self._task

    async def _lead(self) -> str:
        async with self.transport.client() as client:
            model = _Watched(_model(self.asked.endpoint, client), self.asked, self.tell, self.transport)
            agent = pydantic_ai.Agent(
                model,
                instructions=self.asked.instructions,
                tools=[self._tool(tool) for tool in self.asked.tools],
                retries=_WRONG_CALLS,
            )
            try:
                result = await agent.run(self.asked.prompt, usage_limits=UsageLimits(request_limit=None))
            except exceptions.AgentRunError as error:
                raise _refusal(error, self.transport) from None
            return str(result.output)

    def _tool(self, tool: Tool) -> pydantic_ai.Tool[Any]:
        async def call(**arguments: Any) -> str:
            self._count(tool.name, arguments)
            asked = ToolCall(tool.name, arguments)
            self.tell(asked)
            return await asyncio.wrap_future(asked.answer)

        return pydantic_ai.Tool.from_schema(call, tool.name, tool.description, dict(tool.schema))

    def _count(self, name: str, arguments: dict[str, Any]) -> None:
        self._last.append(f"{name} {json.dumps(arguments, sort_keys=True, default=str)}")
        if len(self._last) == _SAME_CALLS and len(set(self._last)) == 1:
            raise refuse("TOOL_LOOP")


class _Watched(WrapperModel):
    """Counts turns and tokens before each request, and tells of each answer."""

    def __init__(self, wrapped: Model, asked: Asked, tell: Tell, transport: OutboundTransport) -> None:
        super().__init__(wrapped)
        self.asked, self.tell, self.transport = asked, tell, transport
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
            no = _refusal(error, self.transport)
            self.tell(replace(turn, duration_ms=_since(turn.began), failure=no.code))
            raise no from None
        turn = _told(turn, messages, response)
        self.tokens += turn.tokens_in + turn.tokens_out
        self.tell(turn)
        if response.finish_reason == "length" and left < _ANSWER_TOKENS:
            raise refuse("TOKEN_BUDGET")
        return response

    def _require_budget(self) -> int:
        if self.turns >= self.asked.budget.turns:
            raise refuse("TURN_BUDGET")
        if (left := self.asked.budget.tokens - self.tokens) <= 0:
            raise refuse("TOKEN_BUDGET")
        return left


def _model(endpoint: Endpoint, client: Any) -> Model:
    key = endpoint.key or _NAMELESS
    if endpoint.wire == "anthropic":
        speaker = anthropic.AsyncAnthropic(
            base_url=endpoint.url, api_key=key, http_client=client, max_retries=_RETRIES
        )
        return AnthropicModel(endpoint.name, provider=AnthropicProvider(anthropic_client=speaker))
    caller = openai.AsyncOpenAI(base_url=endpoint.url, api_key=key, http_client=client, max_retries=_RETRIES)
    plain = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    provider = OpenAICompatibleProvider("model", openai_client=caller, profile=plain)
    return OpenAIChatModel(endpoint.name, provider=provider)


def _told(turn: Turn, messages: list[ModelMessage], response: ModelResponse) -> Turn:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        {"name": part.tool_name, "arguments": part.args_as_json_str()[:_SHOWN]}
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    read, written = response.usage.input_tokens, response.usage.output_tokens
    if not read and not written:
        read, written = len(str(messages)) // _CHARACTERS_A_TOKEN, len(text) // _CHARACTERS_A_TOKEN + 1
    return replace(
        turn,
        duration_ms=_since(turn.began),
        tokens_in=read,
        tokens_out=written,
        text=text[:_SHOWN],
        calls=calls,
    )


def _since(began: float) -> float:
    return round((time.time() - began) * 1000, 3)


def _refusal(error: Exception, transport: OutboundTransport) -> Refused:
    """The code for what went wrong; nothing of an answer's text, which may repeat the key."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, exceptions.ModelHTTPError):
        return refuse(_code_of(error.status_code))
    if transport.refused:
        return _refused_by_door(transport.refused)
    if isinstance(error, exceptions.ModelTimeoutError):
        return refuse("MODEL_TIMEOUT")
    return refuse("MODEL_UNUSABLE")


def _refused_by_door(no: Refused) -> Refused:
    codes = {
        "OUTBOUND_TIMEOUT": "MODEL_TIMEOUT",
        "OUTBOUND_TOO_LARGE": "MODEL_UNUSABLE",
        "OUTBOUND_FAILED": "MODEL_FAILED",
    }
    return refuse(codes[no.code]) if no.code in codes else no


def _code_of(status: int) -> str:
    if status in (401, 403):
        return "MODEL_REFUSED"
    if status in (408, 504):
        return "MODEL_TIMEOUT"
    if status == 429:
        return "MODEL_BUSY"
    return "MODEL_FAILED" if status >= 500 else "MODEL_REJECTED"
