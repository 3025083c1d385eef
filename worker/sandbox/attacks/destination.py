"""What a run with an allowlist may reach while its proxy is attacked: one small server, and names for it."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from registry.packages.problems import refuse
from worker.sandbox import codes as codes  # declares what is refused here


@dataclass
class Place:
    """``resolve`` is what a resolver and its check would say of names that are made up."""

    port: int
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def allowlist(self) -> tuple[str, ...]:
        names = ("allowed.example", "rebinding.example", "*.below.example")
        return (*(f"{name}:{self.port}" for name in names), "private.example", "usual.example")

    def resolve(self, host: str, port: int) -> list[str]:
        self.asked[host] += 1
        if host == "private.example" or (host == "rebinding.example" and self.asked[host] > 1):
            raise refuse("NETWORK_ADDRESS_REFUSED", host=host)
        return ["127.0.0.1"]


class _Answers(BaseHTTPRequestHandler):
    """Tells by which name it was asked; below /big more than anybody wants."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            if self.path.startswith("/big"):
                for _ in range(1000):
                    self.wfile.write(b"x" * 65_536)
            self.wfile.write(f"served {self.headers['Host']}".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


@contextlib.contextmanager
def served() -> Iterator[Place]:
    with _Server(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Place(server.server_address[1])
        finally:
            server.shutdown()
