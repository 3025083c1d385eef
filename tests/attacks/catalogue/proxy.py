"""Attacks on the proxy by malformed and excessive requests."""

from __future__ import annotations

import contextlib
import os
import socket

from worker.sandbox.doctor.attacks.inside import HOST, Escaped, ProbeSet, denied
from worker.sandbox.doctor.attacks.proxied import PROXY, get, refused, require_service, send

PROBES = ProbeSet()


@PROBES.add("ask a name server without the proxy")
def _names() -> str:
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    first = denied(lambda: datagram.sendto(b"x", ("8.8.8.8", 53)))
    return first + "; " + denied(lambda: socket.getaddrinfo("allowed.example", 80))


@PROBES.add("reach services of the worker through the proxy")
def _worker() -> str:
    return refused("localhost:5432", "localhost:6379", "localhost:8000", "skill:3128", "127.0.0.1:3128")


@PROBES.add("send targets that can be read in two ways")
def _ambiguous() -> str:
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
        answer = send(head + "\r\n\r\n").split("\r\n")[0]
        if answer[9:12] not in ("403", "400"):
            raise Escaped(f"{head}: {answer}")
    return f"{len(heads)} targets refused"


@PROBES.add("send another name in the Host header")
def _host_header() -> str:
    answer = get("allowed.example", headers="Host: other.example\r\nConnection: keep-alive\r\n")
    if "served allowed.example" not in answer:
        raise Escaped(answer)
    return "the server received the allowed name"


@PROBES.add("send a head without an end")
def _endless_head() -> str:
    for text in ("GET " + "x" * 1_000_000, "GET http://x/ HTTP/1.1\r\n" + "X: y\r\n" * 100_000):
        with contextlib.suppress(ConnectionError):
            if send(text)[9:12] == "200":
                raise Escaped("it was served")
    require_service()
    return "cut off, and other requests are served"


@PROBES.add("send requests byte by byte")
def _drip() -> str:
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(socket.create_connection(PROXY, 5))
            connection.sendall(b"C")
        require_service()
    return "other requests are served meanwhile"


@PROBES.add("open 1,000 connections at the same time")
def _many() -> str:
    with contextlib.ExitStack() as stack:
        count = 0
        with contextlib.suppress(OSError):
            for _ in range(1000):
                connection = stack.enter_context(socket.socket())
                connection.setblocking(False)
                connection.connect_ex(PROXY)
                count += 1
    for _attempt in range(50):
        with contextlib.suppress(Escaped, OSError):
            require_service()
            return f"{count} opened; other requests are served afterwards"
        os.sched_yield()
    raise Escaped("no request is served any more")


@PROBES.add("transfer more bytes than allowed")
def _bytes() -> str:
    with socket.create_connection(PROXY, 5) as connection:
        connection.sendall(f"GET http://allowed.example:{HOST['port']}/big HTTP/1.1\r\n\r\n".encode())
        size = 0
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(1 << 20):
                size += len(chunk)
    if size > 4_000_000:
        raise Escaped(f"{size} bytes of 4000000")
    return f"cut after {size} bytes; " + refused(f"allowed.example:{HOST['port']}")
