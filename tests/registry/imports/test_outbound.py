"""The one door out: what it dials, what it follows, how much and how long it reads."""

from __future__ import annotations

import gzip
import socket
import time

import pytest

from registry.http_client.addresses import is_public
from registry.http_client.fetch import fetch, stream
from registry.packages.problems import Refusal, code_named
from tests.servers.http import Authority, run_server

pytestmark = pytest.mark.row("P9")
LIMIT = 100_000


def _code(url, **more):
    with pytest.raises(Refusal) as caught:
        fetch(url, limit=more.pop("limit", LIMIT), **more)
    assert code_named(caught.value.code).remedy
    return caught.value.code


def _resolving(monkeypatch, **names):
    """Answers of a resolver: ``name=[first answer, second, …]``; returns the names asked for."""
    asked, real = [], socket.getaddrinfo

    def getaddrinfo(host, port, *args, **more):
        key = host.replace(".", "_").replace("-", "_") if isinstance(host, str) else ""
        if key not in names:
            return real(host, port, *args, **more)
        asked.append(host)
        answers = names[key]
        addresses = answers[min(len(asked), len(answers)) - 1]
        return [row for address in addresses for row in real(address, port, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_what_a_listed_address_answers_is_read_whole(server):
    server.responders["/a"] = lambda h: h.send(200, b"hello", ETag='"1"')
    got = fetch(f"{server.url}/a?b=c d".replace(" ", "%20"), headers={"X-Key": "k"}, limit=LIMIT)
    assert (got.status, got.body, got.headers["etag"]) == (200, b"hello", '"1"')
    request = server.requests[0]
    assert request.path == "/a?b=c%20d"
    assert request.headers["x-key"] == "k"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "10.0.0.1",
        "172.16.3.4",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "2130706433",
        "0x7f.1",
        "127.1",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fc00::1]",
        "[ff02::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:10.0.0.1]",
        "[::127.0.0.1]",
        "[2002:7f00:1::]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::a00:1]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    ],
)
def test_no_inner_address_is_dialled(host, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *a, **k: pytest.fail("dialled"))
    assert _code(f"https://{host}/") == "OUTBOUND_REFUSED"


def test_public_addresses_are_known_as_such():
    from ipaddress import ip_address

    public = ("93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101")
    assert [each for each in public if not is_public(ip_address(each))] == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "https:///x",
        "https://user:secret@example.org/",
        "https://@example.org/",
        "https://example.org:99999/",
        "https://exa mple.org/",
        "https://example.org/\r\nX: y",
        "https://[::1",
        "https://" + "a" * 70 + ".org/",
        "https://example.org/\ud800",
        "//example.org/",
        "",
    ],
)
def test_what_is_no_address_is_said_to_be_none(url):
    assert _code(url) == "OUTBOUND_ADDRESS"


def test_http_is_for_listed_places_alone(monkeypatch):
    _resolving(monkeypatch, plain_example=[["93.184.216.34"]])
    assert _code("http://plain.example/") == "OUTBOUND_ADDRESS"


def test_a_port_that_is_not_listed_is_not_asked(server):
    with run_server() as other:
        assert _code(f"https://127.0.0.1:{other.port}/") == "OUTBOUND_REFUSED"
        assert other.requests == []


def test_a_listed_network_may_be_asked(server, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    server.responders["/"] = lambda h: h.send(200, b"in")
    assert fetch(server.url, limit=LIMIT).body == b"in"


def test_a_name_that_changes_its_address_after_the_check_gains_nothing(server, monkeypatch, settings):
    asked = _resolving(monkeypatch, rebinding_example=[["127.0.0.1"], ["127.0.0.2"]])
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    server.responders["/"] = lambda h: h.send(200, b"checked")
    assert fetch(f"http://rebinding.example:{server.port}/", limit=LIMIT).body == b"checked"
    assert asked == ["rebinding.example"]


def test_of_several_addresses_only_allowed_ones_are_dialled(server, monkeypatch, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    _resolving(monkeypatch, mixed_example=[["10.9.8.7", "127.0.0.1"]])
    server.responders["/"] = lambda h: h.send(200, b"one")
    assert fetch(f"http://mixed.example:{server.port}/", limit=LIMIT).body == b"one"


def test_ipv6_is_spoken(settings):
    with run_server("::1") as server:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"[::1]:{server.port}"]
        server.responders["/"] = lambda h: h.send(200, b"six")
        assert fetch(f"http://[::1]:{server.port}/", limit=LIMIT).body == b"six"
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


def test_redirects_are_followed_and_checked_again(server):
    server.responders["/old"] = lambda h: h.send(301, Location="/new?a=1")
    server.responders["/new"] = lambda h: h.send(200, b"here")
    got = fetch(f"{server.url}/old", headers={"Authorization": "Bearer t"}, limit=LIMIT)
    assert (got.body, got.url) == (b"here", f"{server.url}/new?a=1")
    assert server.requests[1].headers["authorization"] == "Bearer t"


def test_a_redirect_to_an_inner_address_is_refused(server):
    with run_server() as inner:
        server.responders["/"] = lambda h: h.send(302, Location=f"https://127.0.0.1:{inner.port}/secret")
        assert _code(server.url) == "OUTBOUND_REFUSED"
        assert inner.requests == []
    server.responders["/"] = lambda h: h.send(302, Location="file:///etc/passwd")
    assert _code(server.url) == "OUTBOUND_ADDRESS"


def test_credentials_do_not_go_to_another_origin(server, settings):
    with run_server() as other:
        settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
        server.responders["/"] = lambda h: h.send(307, Location=f"http://127.0.0.1:{other.port}/")
        other.responders["/"] = lambda h: h.send(200, b"other")
        secret = {"Authorization": "Bearer t", "Cookie": "c", "X-Api-Key": "k", "Accept": "text/plain"}
        assert fetch(server.url, headers=secret, limit=LIMIT).body == b"other"
        assert not {"authorization", "cookie", "x-api-key"} & set(other.requests[0].headers)
        assert other.requests[0].headers["accept"] == "text/plain"


@pytest.mark.parametrize("location", ["http://[", "//[::1", "http://[x]/", "http://a\u2100.example/"])
def test_a_redirect_to_an_invalid_address_is_refused(server, location):
    server.responders["/"] = lambda h: h.send(302, Location=location.encode().decode("latin-1"))
    assert _code(server.url) == "OUTBOUND_ADDRESS"


def test_a_redirected_post_keeps_its_body_only_where_it_is_told_to(server):
    server.responders["/keep"] = lambda h: h.send(308, Location="/end")
    server.responders["/drop"] = lambda h: h.send(303, Location="/end")
    server.responders["/end"] = lambda h: h.send(200, h.command.encode())
    for path, then in (("/keep", b"POST"), ("/drop", b"GET")):
        assert fetch(server.url + path, method="POST", body=b"x", limit=LIMIT).body == then
    assert [request.body for request in server.requests if request.path == "/end"] == [b"x", b""]


def test_a_circle_of_redirects_ends(server):
    server.responders["/"] = lambda h: h.send(302, Location="/")
    assert _code(server.url) == "OUTBOUND_REDIRECTS"
    assert len(server.requests) == 6


def test_an_endless_body_is_left(server):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)

    server.responders["/"] = endless
    assert _code(server.url) == "OUTBOUND_TOO_LARGE"


def test_a_compressed_bomb_is_counted_as_it_unpacks(server):
    bomb = gzip.compress(b"\0" * 50_000_000)
    server.responders["/"] = lambda h: h.send(200, bomb, Content_Encoding="gzip")
    assert _code(server.url) == "OUTBOUND_TOO_LARGE"
    server.responders["/"] = lambda h: h.send(200, gzip.compress(b"small"), Content_Encoding="gzip")
    assert fetch(server.url, limit=LIMIT).body == b"small"
    server.responders["/"] = lambda h: h.send(200, b"no gzip", Content_Encoding="gzip")
    assert _code(server.url) == "OUTBOUND_FAILED"


def _dripping(write):
    def drip(handler):
        write(handler)
        while True:
            handler.wfile.write(b"x")
            time.sleep(0.02)

    return drip


@pytest.mark.parametrize(
    "beginning",
    [
        lambda h: None,  # the status line never ends
        lambda h: h.wfile.write(b"HTTP/1.1 200 OK\r\nA: "),  # a header never ends
        lambda h: h.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"),
        lambda h: h.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n"),
    ],
)
def test_who_dawdles_is_left_when_the_time_is_over(server, beginning):
    server.responders["/"] = _dripping(beginning)
    assert _code(server.url, timeout=0.3) == "OUTBOUND_TIMEOUT"


def test_who_never_shakes_hands_is_left_too(settings):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
        assert _code(f"https://127.0.0.1:{silent.getsockname()[1]}/", timeout=0.2) == "OUTBOUND_TIMEOUT"


def test_an_answer_that_breaks_off_is_no_answer(server):
    server.responders["/"] = lambda h: h.send(200, b"half", content_length="8")
    assert _code(server.url) == "OUTBOUND_FAILED"
    server.responders["/"] = lambda h: h.wfile.write(b"\0nonsense\r\n\r\n")
    assert _code(server.url) == "OUTBOUND_FAILED"


def test_nobody_there_is_said_so(server, monkeypatch, settings):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    assert _code(f"https://127.0.0.1:{port}/") == "OUTBOUND_FAILED"
    assert _code("https://nowhere.invalid/") == "OUTBOUND_FAILED"


def test_a_certificate_is_of_the_name_whatever_address_is_dialled(tmp_path, settings, monkeypatch):
    authority = Authority(tmp_path)
    _resolving(monkeypatch, right_example=[["127.0.0.1"]], wrong_example=[["127.0.0.1"]])
    with run_server(tls=authority.context("right.example")) as server:
        server.responders["/"] = lambda h: h.send(200, b"sealed")
        settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
        right = f"https://right.example:{server.port}/"
        assert _code(right) == "OUTBOUND_FAILED"  # an authority that nobody trusts
        settings.SKILLQUAY_OUTBOUND_CA = str(authority.pem)
        assert fetch(right, limit=LIMIT).body == b"sealed"
        assert _code(f"https://wrong.example:{server.port}/") == "OUTBOUND_FAILED"
        assert [request.headers["host"] for request in server.requests] == [f"right.example:{server.port}"]


def test_the_hosts_proxies_and_netrc_are_not_asked(server, monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.responders["/"] = lambda h: h.send(200, b"direct")
    assert fetch(server.url, limit=LIMIT).body == b"direct"
    assert "authorization" not in server.requests[0].headers


def test_a_stream_is_read_as_it_comes(server):
    def two(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"first")
        handler.wfile.flush()
        handler.connection.recv(1)  # until the client goes

    server.responders["/"] = two
    with stream(server.url, limit=LIMIT) as answer:
        assert answer.read() == b"first"
