"""A model endpoint on loopback with scripted responses in the formats of OpenAI and Anthropic."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Usage = tuple[int, int] | None  # prompt and completion tokens


class ScriptedModel:
    """The state of the server: the ``requests`` it received and the ``responses`` it sends in turn.

    A response is a document, ``(status, document)``, or a function of the request body that returns one.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.responses: list[Any] = []
        self.url = ""
        self.started, self.release = threading.Event(), threading.Event()

    def respond_with(self, *responses: Any) -> None:
        """Sends these responses in turn, and the last one from then on."""
        self.responses = list(responses)

    def next_response(self, body: dict[str, Any]) -> Any:
        """Records the request and returns its response."""
        self.requests.append(body)
        response = self.responses[min(len(self.requests), len(self.responses)) - 1]
        return response(body) if callable(response) else response


@contextmanager
def model_server() -> Iterator[ScriptedModel]:
    """Runs the endpoint on a free port."""
    model = ScriptedModel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            model.paths.append(self.path)
            response = model.next_response(json.loads(body))
            status, document = response if isinstance(response, tuple) else (200, response)
            data = document if isinstance(document, bytes) else json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the client closed the connection

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def text_response(text: str, *, finish: str = "stop", usage: Usage = (10, 5)) -> dict[str, Any]:
    """A completion of this text in the format of OpenAI."""
    return _openai({"role": "assistant", "content": text}, finish, usage)


def tool_call_response(name: str, *, usage: Usage = (10, 5), **arguments: object) -> dict[str, Any]:
    """A completion that calls one tool, in the format of OpenAI."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return _openai({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls", usage)


def _openai(message: dict[str, Any], finish: str, usage: Usage) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **(
            {"usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}}
            if usage
            else {}
        ),
    }


def anthropic_response(*content: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    """A message of these content blocks in the format of Anthropic."""
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
