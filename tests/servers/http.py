"""An HTTP server on loopback with responses written by the test, and TLS if wanted."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from socket import AF_INET6

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Responder = Callable[["Handler"], None]
KEYS = {"access_key": "named", "secret_key": "for-this-source", "teams": "docs"}  # S3 keys


@dataclass
class RecordedRequest:
    """One request as the server received it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Handler(BaseHTTPRequestHandler):
    """Records each request and calls the responder of its path."""

    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.recorded = RecordedRequest(self.command, self.path, headers, body)
        self.server.requests.append(self.recorded)
        with suppress(OSError):  # the client closed the connection, as the test intends
            self.server.responders.get(self.path.partition("?")[0], self.server.default_responder)(self)
        self.close_connection = True

    do_GET = do_POST = do_HEAD = answer

    def send(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        """Sends a response; ``_`` in the name of a header becomes ``-``."""
        self.send_response(status)
        lower = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        for name, value in {"content-length": str(len(body)), **lower}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Responds by path: ``server.responders["/path"] = lambda handler: handler.send(200, b"…")``."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: str) -> None:
        self.requests: list[RecordedRequest] = []
        self.responders: dict[str, Responder] = {}
        self.statuses = [200]
        self.default_responder: Responder = lambda handler: handler.send(404)
        super().__init__((address, 0), Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a TLS handshake that fails on purpose

    def send_next_status(self, handler: Handler) -> None:
        """A responder that sends the ``statuses`` in turn, and the last one from then on."""
        handler.send(self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0])

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Server6(Server):
    address_family = AF_INET6


@contextmanager
def run_server(address: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Runs a server on a free port of this address."""
    server = (Server6 if ":" in address else Server)(address)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Authority:
    """A certificate authority for one test."""

    folder: Path
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
        certificate = self._builder(self.name, self.key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.pem = self.folder / "authority.pem"
        self.pem.write_bytes(
            certificate.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )

    def context(self, *names: str) -> ssl.SSLContext:
        """The TLS context of a server with a certificate for these names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
        certificate = self._builder(subject, key).add_extension(
            x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False
        )
        file = self.folder / f"{names[0]}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
        )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
