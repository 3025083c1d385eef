"""Attacks on the proxy of a run that may reach ``allowed.example`` at one port, and nothing else."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from functools import partial

from .trying import HOST, Escaped, Probe, denied
from .trying import probe as probe_among

PROXIED: dict[str, Probe] = {}
_PROXY = ("127.0.0.1", 3128)


def probe(attack: str) -> Callable[[Probe], Probe]:
    return probe_among(attack, PROXIED)


def ask(text: str, *, seconds: float = 5) -> str:
    """All that the proxy answers, up to 64 KB."""
    with socket.create_connection(_PROXY, seconds) as line:
        line.sendall(text.encode("latin-1"))
        found = b""
        with contextlib.suppress(ConnectionError):
            while len(found) < 65_536 and (piece := line.recv(65_536)):
                found += piece
                if b"200 Connection established" in found:
                    break
        return found.decode("latin-1")


def get(host: str, path: str = "/", *, more: str = "") -> str:
    return ask(f"GET http://{host}:{HOST['port']}{path} HTTP/1.1\r\n{more}\r\n")


def refused(*targets: str) -> str:
    for target in targets:
        answer = ask(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").split("\r\n")[0]
        if answer[9:12] not in ("403", "400"):
            raise Escaped(f"{target}: {answer}")
    return "403 or 400: " + ", ".join(targets)


def served() -> None:
    answer = get("allowed.example")
    if "served allowed.example" not in answer:
        raise Escaped(f"the allowed host is not served any more: {answer[:200]!r}")


@probe("go past the proxy")
def _past() -> str:
    addresses = (("127.0.0.1", HOST["port"]), ("1.1.1.1", 443), ("192.168.0.1", 80), ("169.254.169.254", 80))
    found = "; ".join(denied(partial(socket.create_connection, address, 2)) for address in addresses)
    served()
    return found


@probe("ask a name server past the proxy")
def _names() -> str:
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    first = denied(lambda: datagram.sendto(b"x", ("8.8.8.8", 53)))
    return first + "; " + denied(lambda: socket.getaddrinfo("allowed.example", 80))


@probe("hosts that are not listed")
def _others() -> str:
    port = HOST["port"]
    return refused(
        *(f"{host}:{port}" for host in ("other.example", "below.example", "xallowed.example")),
        *(f"{host}:{port}" for host in ("allowed.example.evil.example", "allowed.example%00.evil.example")),
        "localhost:443",
    )


@probe("address literals through the proxy")
def _literals() -> str:
    port = HOST["port"]
    forms = ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0")
    return refused(*(f"{form}:{port}" for form in forms), "169.254.169.254:80", "[fd00:ec2::254]:80")


@probe("other ports of an allowed host")
def _ports() -> str:
    ports = (22, 25, 80, 443, 5432, 6379, 0, 65_536, -1)
    return refused(*(f"allowed.example:{port}" for port in ports), "usual.example:8080")


@probe("services of the worker through the proxy")
def _worker() -> str:
    return refused("localhost:5432", "localhost:6379", "localhost:8000", "skill:3128", "127.0.0.1:3128")


@probe("a listed name at a private address")
def _private() -> str:
    return refused("private.example:443", "private.example:80")


@probe("rebinding: a name that changes its address")
def _rebinding() -> str:
    if "served" not in get("rebinding.example"):
        raise Escaped("the first, checked address was not the one that was dialled")
    return refused(f"rebinding.example:{HOST['port']}")


@probe("targets that can be read in two ways")
def _two_ways() -> str:
    port = HOST["port"]
    heads = (
        f"GET http://allowed.example:{port}@127.0.0.1:{port}/ HTTP/1.1",
        f"GET http://127.0.0.1:{port}#@allowed.example:{port}/ HTTP/1.1",
        f"GET http://127.0.0.1\\@allowed.example:{port}/ HTTP/1.1",
        f"CONNECT allowed.example:{port}@127.0.0.1:{port} HTTP/1.1",
        f"CONNECT http://allowed.example:{port} HTTP/1.1",
        f"CONNECT allowed.example:{port}/../ HTTP/1.1",
        "CONNECT allowed.example HTTP/1.1",
        f"GET ftp://allowed.example:{port}/ HTTP/1.1",
        f"GET https://allowed.example:{port}/ HTTP/1.1",
        "GET / HTTP/1.1",
        f"GET http://allowed.example:{port}/ HTTP/1.1\nX: y",
        "\x16\x03\x01\x00",
    )
    for head in heads:
        answer = ask(head + "\r\n\r\n").split("\r\n")[0]
        if answer[9:12] not in ("403", "400"):
            raise Escaped(f"{head}: {answer}")
    return f"{len(heads)} of them refused"


@probe("another name in the Host header")
def _host_header() -> str:
    answer = get("allowed.example", more="Host: other.example\r\nConnection: keep-alive\r\n")
    if "served allowed.example" not in answer:
        raise Escaped(answer)
    return "the server was asked by the allowed name"


@probe("a head without an end")
def _header_bomb() -> str:
    for text in ("GET " + "x" * 1_000_000, "GET http://x/ HTTP/1.1\r\n" + "X: y\r\n" * 100_000):
        with contextlib.suppress(ConnectionError):
            if ask(text)[9:12] == "200":
                raise Escaped("it was served")
    served()
    return "cut off, and others are served"


@probe("drip a request byte by byte")
def _drip() -> str:
    with contextlib.ExitStack() as held:
        for _ in range(20):
            line = held.enter_context(socket.create_connection(_PROXY, 5))
            line.sendall(b"C")
        served()
    return "others are served meanwhile"


@probe("1,000 connections at one time")
def _many() -> str:
    with contextlib.ExitStack() as held:
        count = 0
        with contextlib.suppress(OSError):
            for _ in range(1000):
                line = held.enter_context(socket.socket())
                line.setblocking(False)
                line.connect_ex(_PROXY)
                count += 1
    for _attempt in range(50):
        with contextlib.suppress(Escaped, OSError):
            served()
            return f"{count} opened; others are served afterwards"
        os.sched_yield()
    raise Escaped("nothing is served any more")


@probe("move more bytes than it may")
def _bytes() -> str:
    with socket.create_connection(_PROXY, 5) as line:
        line.sendall(f"GET http://allowed.example:{HOST['port']}/big HTTP/1.1\r\n\r\n".encode())
        size = 0
        with contextlib.suppress(ConnectionError):
            while piece := line.recv(1 << 20):
                size += len(piece)
    if size > 4_000_000:
        raise Escaped(f"{size} bytes of 4000000")
    return f"cut after {size} bytes; " + refused(f"allowed.example:{HOST['port']}")
