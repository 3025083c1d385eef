"""Attacks on a run's proxy from inside the sandbox; ``destination`` serves the hosts that it allows."""

from __future__ import annotations

import contextlib
import socket
from functools import partial

from worker.sandbox.doctor.attacks.inside import HOST, Escaped, ProbeSet, denied

PROBES = ProbeSet()
PROXY = ("127.0.0.1", 3128)


def send(text: str, *, seconds: float = 5) -> str:
    """Sends ``text`` to the proxy and returns the answer, up to about 64 KB or until a CONNECT succeeds.

    Raises OSError if the proxy does not answer within ``seconds``.
    """
    with socket.create_connection(PROXY, seconds) as connection:
        connection.sendall(text.encode("latin-1"))
        answer = b""
        with contextlib.suppress(ConnectionError):
            while len(answer) < 65_536 and (chunk := connection.recv(65_536)):
                answer += chunk
                if b"200 Connection established" in answer:
                    break
        return answer.decode("latin-1")


def get(host: str, path: str = "/", *, headers: str = "") -> str:
    return send(f"GET http://{host}:{HOST['port']}{path} HTTP/1.1\r\n{headers}\r\n")


def refused(*targets: str) -> str:
    """Sends CONNECT to each target and returns a summary; raises Escaped if one is not refused."""
    for target in targets:
        answer = send(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").split("\r\n")[0]
        if answer[9:12] not in ("403", "400"):
            raise Escaped(f"{target}: {answer}")
    return "403 or 400: " + ", ".join(targets)


def require_service() -> None:
    """Raises Escaped if the allowed host is no longer reachable."""
    answer = get("allowed.example")
    if "served allowed.example" not in answer:
        raise Escaped(f"the allowed host is no longer reachable: {answer[:200]!r}")


@PROBES.add("bypass the proxy")
def _bypass() -> str:
    addresses = (("127.0.0.1", HOST["port"]), ("1.1.1.1", 443), ("192.168.0.1", 80), ("169.254.169.254", 80))
    errors = "; ".join(denied(partial(socket.create_connection, address, 2)) for address in addresses)
    require_service()
    return errors


@PROBES.add("reach hosts that are not listed")
def _unlisted() -> str:
    port = HOST["port"]
    return refused(
        *(f"{host}:{port}" for host in ("other.example", "below.example", "xallowed.example")),
        *(f"{host}:{port}" for host in ("allowed.example.evil.example", "allowed.example%00.evil.example")),
        *("localhost:443", "localhost:5432", "localhost:6379", "skill:3128"),
    )


@PROBES.add("reach address literals through the proxy")
def _literals() -> str:
    port = HOST["port"]
    forms = ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0")
    return refused(*(f"{form}:{port}" for form in forms), "169.254.169.254:80", "[fd00:ec2::254]:80")


@PROBES.add("reach other ports of an allowed host")
def _ports() -> str:
    ports = (22, 25, 80, 443, 5432, 6379, 0, 65_536, -1)
    return refused(*(f"allowed.example:{port}" for port in ports), "usual.example:8080")


@PROBES.add("reach a private address by a listed name")
def _private() -> str:
    return refused("private.example:443", "private.example:80")


@PROBES.add("rebind a listed name to another address")
def _rebinding() -> str:
    if "served" not in get("rebinding.example"):
        raise Escaped("the proxy did not connect to the first, checked address")
    return refused(f"rebinding.example:{HOST['port']}")
