"""A model's endpoint on this machine: real HTTP, OpenAI's and Anthropic's wire formats, scripted answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scripted:
    """The server's side: ``asked`` are the bodies it got, ``answers`` what it says in turn."""

    def __init__(self):
        self.asked, self.headers, self.paths, self.answers = [], [], [], []
        self.url = ""
        self.entered, self.leave = threading.Event(), threading.Event()

    def says(self, *answers):
        self.answers = list(answers)

    def next(self, body):
        self.asked.append(body)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        return answer(body) if isinstance(answer, Callable) else answer


@contextmanager
def model_server():
    scripted = Scripted()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            scripted.headers.append({name.lower(): value for name, value in self.headers.items()})
            scripted.paths.append(self.path)
            answer = scripted.next(json.loads(body))
            status, document = answer if isinstance(answer, tuple) else (200, answer)
            data = document if isinstance(document, bytes) else json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the asker has gone

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.leave.set()
        server.shutdown()
        server.server_close()
        thread.join()


def says(text, *, finish="stop", usage=(10, 5)):
    return _openai({"role": "assistant", "content": text}, finish, usage)


def calls(name, *, usage=(10, 5), **arguments):
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return _openai({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls", usage)


def _openai(message, finish, usage):
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


def anthropic(*content, stop="end_turn"):
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
