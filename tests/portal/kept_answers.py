"""The web process's answers without a server: kept ones, and those that Django gives each time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.db import connection

from portal.health.http_metrics import count_request
from portal.streaming.bridge import WsgiBridge
from portal.streaming.files.middleware import FileMiddleware, defer_file_sending
from portal.streaming.kept.middleware import KeptAnswers
from portal.wsgi import application


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes


class WebProcesses:
    """Several fronts with kept answers before one Django, in a loop of their own."""

    def __init__(self, number=1):
        self.calls = 0
        self.bridge = WsgiBridge(defer_file_sending(self._count(application)), workers=1)
        self.django = FileMiddleware(self.bridge)
        self.fronts = [KeptAnswers(self.django, self.bridge.run, count_request) for _ in range(number)]
        self.thread = ThreadPoolExecutor(1)
        self.runner = self.thread.submit(asyncio.Runner).result()

    def _count(self, django):
        def counted(environ, start_response):
            self.calls += 1  # answers that no front had
            return django(environ, start_response)

        return counted

    def get(self, path, *, process=0, method="GET", query="", **headers):
        """The answer of a process; ``process=None`` asks Django without kept answers."""
        front = self.django if process is None else self.fronts[process]
        return self.run(front, path, method=method, query=query, **headers)

    def get_at_once(self, path, number, **headers):
        """The answers of one process to several equal requests at the same time."""

        async def ask_all():
            asked = [ask(self.fronts[0], path, "GET", "", headers) for _ in range(number)]
            return await asyncio.gather(*asked)

        return self.thread.submit(self.runner.run, ask_all()).result()

    def run(self, app, path, *, method="GET", query="", body=b"", **headers):
        return self.thread.submit(self.runner.run, ask(app, path, method, query, headers, body)).result()

    def close(self):
        for front in self.fronts:
            if front.numbers:
                self.thread.submit(self.runner.run, front.numbers.close()).result()
        self.bridge.executor.submit(lambda: connection.close()).result()
        self.bridge.executor.shutdown()
        self.thread.submit(self.runner.close).result()
        self.thread.shutdown()


async def ask(app, path, method, query, headers, body=b""):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    if "x_request_id" not in headers:
        pairs.append((b"x-request-id", b"request-of-a-test"))
    if body:
        pairs.append((b"content-length", str(len(body)).encode()))
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), *pairs],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    start, *rest = sent
    found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Response(start["status"], found, b"".join(message.get("body", b"") for message in rest))
