"""What a run says to its proxy and its door to harm the worker: it is refused, bounded, or costs nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

import pytest

from registry.http_client.addresses import is_local, is_public
from registry.packages.problems import Refusal
from worker.sandbox import channel_server
from worker.sandbox.egress import proxy
from worker.sandbox.egress.proxy_requests import BadRequest, read_head

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]


def _run(coroutine):
    """In a thread of its own: where a browser was driven before, this one has a loop that goes on."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.mark.parametrize(
    "request_line",
    [
        b"CONNECT evil.example\0.allowed.example:443 HTTP/1.1",
        b"CONNECT allowed.example:443@evil.example:443 HTTP/1.1",
        b"CONNECT \x1b[2Jallowed.example:443 HTTP/1.1",
        b"CONNECT [fe80::1%25eth0]:443 HTTP/1.1",
        b"CONNECT allowed.example:0 HTTP/1.1",
        b"CONNECT allowed.example:99999 HTTP/1.1",
        b"CONNECT " + b"a." * 200 + b"example:443 HTTP/1.1",
        b"GET http://allowed.example\\@evil.example/ HTTP/1.1",
        b"GET http://allowed.example/ HTTP/1.1\nHost: evil.example",
        b"GET / HTTP/1.1\r\nHost: allowed.example",
        b"GET file:///etc/passwd HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"*1\r\n$4\r\nPING",
    ],
)
def test_what_is_no_plain_request_for_a_host_is_refused(request_line):
    async def queue_run():
        reader = asyncio.StreamReader(limit=proxy.MAX_HEAD_BYTES)
        reader.feed_data(request_line + b"\r\n\r\n")
        return await read_head(reader)

    with pytest.raises(BadRequest):
        _run(queue_run())


def test_a_script_that_never_reads_keeps_no_descriptor_of_the_worker(monkeypatch):
    monkeypatch.setattr(proxy, "_CLOSE_GRACE_S", 0.1)

    async def leave():
        ours, theirs = socket.socketpair()
        _reader, writer = await asyncio.open_unix_connection(sock=ours)
        writer.write(bytes(8 << 20))
        await proxy._close(writer)
        await asyncio.sleep(0)  # the transport closes its socket in the next turn of the loop
        theirs.close()
        return ours.fileno()

    assert _run(leave()) == -1


def test_blanks_at_the_door_are_no_requests_and_cost_next_to_nothing():
    request_fd, answer_fd, read_fd, write_fd = channel_server.create_pipes()
    answered = []
    began = time.process_time()
    with channel_server.ChannelServer(
        lambda line: answered.append(line) or b"{}", read_fd, write_fd
    ) as server:
        for _ in range(64):
            os.write(request_fd, b"\n" * 65_536)
        os.write(request_fd, b'{"skill": "a"}\n')
        assert os.read(answer_fd, 100) == b"{}\n"
    assert answered == [b'{"skill": "a"}']
    assert server.remaining >= channel_server.MAX_REQUESTS - 1
    assert time.process_time() - began < 2
    for descriptor in (request_fd, answer_fd):
        os.close(descriptor)


@pytest.mark.parametrize("address", ["168.63.129.16", "192.0.0.192", "fec0::2", "192.88.99.1", "3fff::1"])
def test_what_clouds_and_emulators_answer_on_is_not_public(address):
    assert not is_public(ip_address(address))


def test_this_machine_s_own_addresses_are_known():
    assert all(is_local(ip_address(address)) for address in ("127.0.0.1", "127.9.9.9"))
    assert not is_local(ip_address("198.51.100.7"))


def test_a_public_address_of_this_machine_is_not_dialled(monkeypatch):
    from registry.http_client import addresses

    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("9.9.9.9", 443))]
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *asked, **more: answer)
    assert addresses.resolve_host("allowed.example", 443) == ["9.9.9.9"]
    monkeypatch.setattr(addresses, "is_local", lambda address: True)
    with pytest.raises(Refusal) as refused:
        addresses.resolve_host("allowed.example", 443)
    assert refused.value.code == "OUTBOUND_REFUSED"
