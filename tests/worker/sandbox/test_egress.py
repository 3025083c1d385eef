"""What real clients get through the proxy of a run, and what is written down of it."""

from __future__ import annotations

import re
import shutil

import pytest

from registry.http_client import fetch as fetch  # declares why a name has no address
from registry.http_client.errors import OUTBOUND_FAILED
from tests.worker.sandbox.conftest import usable
from worker.sandbox.doctor.attacks import destination
from worker.sandbox.doctor.attacks.arena import has_network
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import HostAccess
from worker.sandbox.site_settings import TIERS

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

CLIENTS = {
    "urllib": (
        "python",
        "-c",
        "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())",
    ),
    "curl": ("curl", "-sS", "-m", "10"),
    "curl by CONNECT": ("curl", "-sS", "-m", "10", "-p"),
    "node": ("node", "-e", "fetch(process.argv[1]).then(async got => console.log(await got.text()))"),
    "deno": ("deno", "eval", "console.log(await (await fetch(Deno.args[0])).text())"),
}


@pytest.fixture(params=[tier for tier in TIERS if has_network(tier)])
def tier(request):
    """Those in which a run has a network of its own."""
    return usable(request.param)


@pytest.fixture
def place(tier):
    with destination.serve_destination() as place:
        yield place


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_reach_an_allowed_host_and_no_other(go, place, client):
    _needs_curl(client)
    asked = {
        host: go(
            *CLIENTS[client], f"http://{host}:{place.port}/", network=place.allowlist, resolve=place.resolve
        )
        for host in ("allowed.example", "other.example")
    }
    reached, refused = asked.values()
    assert b"served allowed.example" in reached.stdout, reached.stderr
    assert reached.network == (HostAccess("allowed.example", place.port, True),)
    assert b"served" not in refused.stdout
    assert refused.network == (HostAccess("other.example", place.port, False, "NETWORK_HOST_REFUSED"),)
    assert reached.enforcement["network"] == "proxy"


def test_a_run_without_network_has_no_proxy(go, place):
    ended = go("bash", "-c", "env | grep -ic proxy; exec 3<>/dev/tcp/127.0.0.1/3128")
    assert ended.stdout == b"0\n"
    assert b"refused" in ended.stderr
    assert (ended.network, ended.enforcement["network"]) == ((), "namespace")


def test_the_same_decision_is_counted_once_for_all(go, place):
    _needs_curl("curl")
    script = "for n in 1 2 3; do curl -s -m 5 http://other.example:80/ > /dev/null; done"
    ended = go("bash", "-c", script, network=place.allowlist, resolve=place.resolve)
    assert [(dial.host, dial.count) for dial in ended.network] == [("other.example", 3)]


ASKS = """
import re, socket
for line in ("nonsense", "CONNECT unknown.example:443 HTTP/1.1", "CONNECT shut.example:9 HTTP/1.1"):
    with socket.create_connection(("127.0.0.1", 3128)) as proxy:
        proxy.sendall(line.encode() + b"\\r\\n\\r\\n")
        said = b"".join(iter(lambda: proxy.recv(65536), b""))
    print(said.split()[1].decode(), re.search(r"NETWORK_[A-Z_]+", said.decode())[0])
"""


def test_what_is_no_request_no_name_or_no_listener_is_told_by_code(go, place):
    def resolve(host, port):
        if host == "unknown.example":
            raise OUTBOUND_FAILED.refusal(host=host, reason="it has no address")
        return ["127.0.0.1"]

    network = ("unknown.example", "shut.example:9")
    ended = go("python", "-c", ASKS, network=network, resolve=resolve)
    assert ended.stdout.decode().split("\n")[:3] == [
        "400 NETWORK_REQUEST_INVALID",
        "403 NETWORK_NAME_UNKNOWN",
        "403 NETWORK_UNREACHABLE",
    ], ended.stderr
    assert {dial.code for dial in ended.network} == set(re.findall("NETWORK_[A-Z_]+", ended.stdout.decode()))


def test_more_than_the_run_may_fetch_ends_the_line_and_is_noted(go, place):
    limits = Limits(timeout_s=20, network_bytes=100_000)
    url = f"http://allowed.example:{place.port}/big"
    code = f"import urllib.request as u; print(len(u.urlopen({url!r}).read()))"
    ended = go("python", "-c", code, network=place.allowlist, resolve=place.resolve, limits=limits)
    assert "NETWORK_TOO_MUCH" in {dial.code for dial in ended.network}
    assert int(ended.stdout or 0) <= 100_000


def _needs_curl(client):
    if client.startswith("curl") and not shutil.which("curl", path="/usr/bin:/bin"):
        pytest.skip("curl is not installed on this machine")
