"""Serves the hosts that a run may reach while its proxy is attacked: one server under several names."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from worker.sandbox.errors import NETWORK_ADDRESS_REFUSED


@dataclass
class Destination:
    """A running server with its allowlist. ``resolve`` replaces the resolver and counts look-ups by name.

    ``resolve`` refuses private.example, and rebinding.example from the second look-up on.
    """

    port: int
    lookups: Counter[str] = field(default_factory=Counter)

    @property
    def allowlist(self) -> tuple[str, ...]:
        names = ("allowed.example", "rebinding.example", "*.below.example")
        return (*(f"{name}:{self.port}" for name in names), "private.example", "usual.example")

    def resolve(self, host: str, port: int) -> list[str]:
        self.lookups[host] += 1
        if host == "private.example" or (host == "rebinding.example" and self.lookups[host] > 1):
            raise NETWORK_ADDRESS_REFUSED.refusal(host=host)
        return ["127.0.0.1"]


class _Handler(BaseHTTPRequestHandler):
    """Answers with the requested host name; for paths below /big, sends 65 MB of other data first."""

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
def serve_destination() -> Iterator[Destination]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Destination(server.server_address[1])
        finally:
            server.shutdown()
