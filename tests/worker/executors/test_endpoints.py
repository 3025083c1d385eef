"""A service or distributed skill is run by asking its declared endpoints, and no others."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from registry.packages.manifest.endpoints import is_allowed, origin_of
from registry.packages.problems import Refusal
from tests.checks import not_none
from worker.executors import conductor
from worker.models import Run, RunStatus, Step
from worker.queue import claims
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C3")]

FRONT = """---
name: weather
description: Tells the weather.
version: 1.0.0
type: %s
capabilities: [weather]
tags: [weather]
triggers: {phrases: [weather]}
input_schema: {type: object, properties: {city: {type: string}, input_path: {type: string}}}
output_schema: {type: object, required: [city]}
security: {timeout_ms: %d, network: allowlist, network_allowlist: [%s]}
resources: {}
%s
---
# Weather
"""


class Endpoint(ThreadingHTTPServer):
    """Sends the ``responses`` by path and records the ``requests``."""

    def __init__(self):
        self.responses, self.requests, self.release = {}, [], threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append((self.path, json.loads(body), dict(self.headers)))
        answer = self.server.responses[self.path]
        if answer == "never":
            self.server.release.wait(20)
            return
        status, body, *headers = answer
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def served(settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def service(team, alice):
    """``service(endpoints…)``: a version of the type that is run by them."""
    from registry.identity.actors import Actor
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    def make(*endpoints, kind="service", hosts="127.0.0.1:*", timeout_ms=5000, more=""):
        hosts = (
            ", ".join(f'"127.0.0.1:{not_none(origin_of(url))[1]}"' for url in endpoints)
            if hosts == "127.0.0.1:*"
            else hosts
        )
        declared = (
            f"endpoint: {endpoints[0]}" if len(endpoints) == 1 else f"endpoints: {json.dumps(endpoints)}"
        )
        text = FRONT % (kind, timeout_ms, hosts, declared + "\n" + more)
        return publish(read_files([("SKILL.md", text.encode())]), team=team, actor=Actor(user=alice)).version

    return make


def test_what_is_asked_and_answered_is_an_execute_call(served, service, queue_run, alice):
    served.responses["/"] = (200, {"output": {"city": "Kyiv"}, "message": "sunny", "warnings": ["w"]})
    run = execute_here(queue_run(service(served.url("/")), {"city": "Kyiv"}))
    assert (run.status, run.result["output"], run.message) == (RunStatus.SUCCEEDED, {"city": "Kyiv"}, "sunny")
    ((_path, asked, headers),) = served.requests
    assert asked["parameters"] == {"city": "Kyiv"}
    assert (asked["skill"], asked["version"], asked["config"]["timeout_ms"]) == ("weather", "1.0.0", 5000)
    assert asked["context"]["userId"] == asked["context"]["user_id"]
    assert alice.email not in json.dumps(asked) or not alice.email
    assert headers["idempotency-key"] == run.uid
    assert not {"authorization", "cookie"} & {name.lower() for name in headers}
    step = Step.objects.get(run=run)
    assert (step.kind, step.output["status"], run.protocol) == ("request", 200, "endpoint")
    assert run.sandbox == {}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((500, {}), "EXTERNAL_SERVICE_ERROR"),
        ((404, b"no"), "EXTERNAL_SERVICE_ERROR"),
        ((302, b"", ("location", "http://127.0.0.1:1/")), "EXTERNAL_SERVICE_ERROR"),
        ((400, {"error": {"code": "MISSING_PARAM", "message": "city"}}), "MISSING_PARAM"),
        ((200, b"not JSON"), "INVALID_JSON"),
        ((200, b"\xff" * 100), "INVALID_JSON"),
        ((200, b'{"output": NaN}'), "INVALID_JSON"),
        ((200, {"output": {}, "status": "error", "error": "down"}), "SCRIPT_FAILED"),
        ((200, {"output": {"town": 1}}), "OUTPUT_INVALID"),
        ((200, b"x" * 200_000), "OUTPUT_LIMIT"),
    ],
)
def test_each_bad_answer_has_its_code(served, service, queue_run, settings, answer, code):
    settings.SKILLQUAY_MAX_RUN_OUTPUT_BYTES = 100_000
    served.responses["/"] = answer
    run = execute_here(queue_run(service(served.url("/"))))
    assert (run.failure_code, run.status) == (code, RunStatus.FAILED), run.message
    assert len(served.requests) == 1


@pytest.mark.row("C6")
def test_further_endpoint_outside_the_allowlist_is_not_called(served, service, queue_run):
    served.responses |= {"/one": (503, {}), "/two": (200, {"output": {"city": "Kyiv"}})}
    endpoints = (served.url("/one"), f"http://localhost:{served.server_port}/two")
    version = service(*endpoints, kind="distributed", hosts=f'"127.0.0.1:{served.server_port}"')
    assert execute_here(queue_run(version)).failure_code == "ENDPOINT_NOT_ALLOWED"
    assert [path for path, *_ in served.requests] == ["/one"]


@pytest.mark.row("C6")
def test_redirect_is_not_followed(served, service, queue_run):
    served.responses["/"] = (307, b"", ("location", served.url("/elsewhere")))
    served.responses["/elsewhere"] = (200, {"output": {"city": "Kyiv"}})
    run = execute_here(queue_run(service(served.url("/"))))
    assert (run.failure_code, len(served.requests)) == ("EXTERNAL_SERVICE_ERROR", 1)


def test_a_slow_endpoint_ends_at_the_limit(served, service, queue_run):
    served.responses["/"] = "never"
    began = time.monotonic()
    run = execute_here(queue_run(service(served.url("/"), timeout_ms=400)))
    assert (run.status, run.failure_code) == (RunStatus.TIMED_OUT, "TIMEOUT")
    assert time.monotonic() - began < 2


def test_cancel_is_felt_within_a_second(served, service, queue_run, monkeypatch):
    served.responses["/"] = "never"
    run = queue_run(service(served.url("/")))
    claim = not_none(claims.claim_next("host:1"))
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=run.created_at)
    began = time.monotonic()
    conductor.execute(claim)
    run.refresh_from_db()
    assert (run.status, run.failure_code) == (RunStatus.CANCELLED, "CANCELLED")
    assert time.monotonic() - began < 1


def test_a_lost_lease_writes_nothing(served, service, queue_run):
    served.responses["/"] = "never"
    run = queue_run(service(served.url("/")))
    claim = not_none(claims.claim_next("host:1"))
    Run.objects.filter(pk=run.pk).update(claim_token="another's")
    assert conductor.execute(claim) is False
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING


def test_a_host_that_is_not_listed_is_refused_before_anything_is_queued(served, service, queue_run):
    version = service(served.url("/"), hosts="api.example.com")
    with pytest.raises(Refusal) as refused:
        queue_run(version)
    assert refused.value.code == "ENDPOINT_NOT_ALLOWED"
    assert served.requests == []


def test_a_private_address_is_refused_though_the_skill_lists_it(served, service, queue_run, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    run = execute_here(queue_run(service(f"https://127.0.0.1:{served.server_port}/")))
    assert run.failure_code == "OUTBOUND_REFUSED"
    assert served.requests == []


def test_a_distributed_skill_asks_the_next_where_one_is_not_there(served, service, queue_run):
    served.responses |= {"/busy": (503, b""), "/here": (200, {"output": {"city": "Riga"}})}
    version = service("http://127.0.0.1:1/", served.url("/busy"), served.url("/here"), kind="distributed")
    run = execute_here(queue_run(version))
    assert run.result["output"] == {"city": "Riga"}
    steps = Step.objects.filter(run=run).order_by("seq")
    assert [bool(step.error) for step in steps] == [True, True, False]


def test_an_endpoint_that_answers_for_itself_is_not_asked_around(served, service, queue_run):
    served.responses |= {"/one": (400, b""), "/two": (200, {"output": {"city": "Riga"}})}
    run = execute_here(queue_run(service(served.url("/one"), served.url("/two"), kind="distributed")))
    assert run.failure_code == "EXTERNAL_SERVICE_ERROR"
    assert [path for path, *_ in served.requests] == ["/one"]


def test_files_cannot_be_sent(served, service, queue_run, alice, actor_of):
    from worker.files.inputs import store_input

    upload = store_input([b"x"], "a.txt", actor_of(alice))
    with pytest.raises(Refusal) as refused:
        queue_run(service(served.url("/")), {"input_path": {"input": upload.uid}})
    assert refused.value.code == "ENDPOINT_FILES"


def test_a_service_without_an_endpoint_runs_its_script(publish_skill, queue_run):
    text = FRONT % ("service", 5000, "api.example.com", "")
    front = "\n".join(text.splitlines()[4:-2]).replace(
        "resources: {}", "resources: {entry: scripts/local.py}"
    )
    script = "def execute(parameters):\n    return {'output': {'city': 'here'}}\n"
    run = execute_here(queue_run(publish_skill("local", script, front=front.strip() + "\n")))
    assert (run.protocol, run.result["output"]) == ("execute", {"city": "here"})


@pytest.mark.parametrize(
    ("address", "entry", "allowed"),
    [
        ("https://api.example.com/x", "api.example.com", True),
        ("https://api.example.com/x", "https://api.example.com", True),
        ("https://api.example.com/x", "https://API.example.com/other/path", True),
        ("https://api.example.com:8443/x", "api.example.com:8443", True),
        ("https://api.example.com/x", "*.example.com", True),
        ("https://api.example.com:8443/x", "https://api.example.com", False),
        ("http://api.example.com/x", "https://api.example.com", False),
        ("https://example.com/x", "*.example.com", False),
        ("https://evilexample.com/x", "*.example.com", False),
        ("https://api.example.com.evil.org/", "api.example.com", False),
        ("https://api.example.com@evil.org/", "api.example.com", False),
        ("https://evil.org\\@api.example.com/", "api.example.com", False),
        ("ftp://api.example.com/", "api.example.com", False),
    ],
)
def test_hosts_are_matched_as_a_whole(address, entry, allowed):
    assert is_allowed(address, [entry]) is allowed
