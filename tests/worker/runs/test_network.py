"""A run that may reach hosts: what it asks for, what it gets, and where its decisions are shown."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from registry.identity.actors import Actor
from tests.pages import part
from tests.skipping import require_network
from worker.models import Attempt, RunStatus
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db(transaction=True)]

SCRIPT = """
import os, urllib.request
os.environ["no_proxy"] = ""
for host in ("localhost:{port}", "other.example"):
    try:
        print(urllib.request.urlopen("http://" + host + "/").read().decode())
    except Exception as error:
        print(error)
"""


@pytest.fixture
def server():
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"served")

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served.server_address[1]
        served.shutdown()


@pytest.fixture
def finished(publish_skill, queue_run, server):
    """``finished(hosts)``: a run that asks a listed local server and a host that is not listed."""

    def finished(*hosts, network="allowlist"):
        listed = "".join(f"\n    - {host.format(port=server)}" for host in hosts)
        front = f"security:\n  network: {network}\n  network_allowlist:{listed or ' []'}\n"
        script = SCRIPT.replace("{port}", str(server))
        return execute_here(queue_run(publish_skill(script=script, front=front)))

    return finished


@pytest.fixture(autouse=True)
def _some_network():
    require_network()


def test_a_listed_host_is_reached_where_the_site_lists_its_address(finished, settings, alice):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1", "::1"]
    run = finished("localhost:{port}")
    document = run_document(run, actor=Actor(user=alice))
    assert document["stdout"].startswith("served\n"), document["stderr"]
    reached, refused = document["network"]
    assert (reached["host"], reached["allowed"], reached["code"]) == ("localhost", True, "")
    assert (refused["host"], refused["port"], refused["code"]) == (
        "other.example",
        80,
        "NETWORK_HOST_REFUSED",
    )
    assert "other.example" in refused["message"]
    assert "network_allowlist" in refused["remedy"]


def test_without_network_no_listed_host_is_reached(finished, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1", "::1"]
    run = finished("localhost:{port}", network="none")
    assert "served" not in run_document(run, actor=Actor(user=run.caller))["stdout"]
    assert [dial["allowed"] for dial in Attempt.objects.get().network] == [False, False]


def test_a_listed_host_at_a_private_address_is_refused(finished):
    run = finished("localhost:{port}")
    assert Attempt.objects.get(run=run).network[0]["code"] == "NETWORK_ADDRESS_REFUSED"


def test_network_without_hosts_refuses_and_shows_every_one(finished, client, alice):
    run = finished()
    assert run.status == RunStatus.SUCCEEDED
    client.force_login(alice)
    dial = part(client.get(f"/runs/{run.uid}/"), "dial", value="other.example")
    assert dial["code"] == "NETWORK_HOST_REFUSED"
    assert "network_allowlist" in dial


def test_the_dials_of_a_run_are_nothing_to_a_stranger(finished, charlie):
    run = finished()
    with pytest.raises(Exception, match="was not found"):
        run_document(run, actor=Actor(user=charlie))


def test_the_script_is_told_its_network(publish_skill, queue_run):
    front = "security:\n  network: allowlist\n  network_allowlist: [example.org]\n"
    config = queue_run(publish_skill(front=front)).request["config"]
    assert (config["network"], config["network_allowlist"]) == ("allowlist", ["example.org"])
