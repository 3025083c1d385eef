"""A service or distributed skill is run by asking its declared endpoints, and no others."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from registry.packages.endpoints import is_allowed, origin_of
from registry.packages.problems import Refused
from worker import execution, states
from worker.models import Run, Status, Step
from worker.runs import run_here

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


class Served(ThreadingHTTPServer):
    """Answers as ``answers`` says, by path; keeps what it was asked."""

    def __init__(self):
        self.answers, self.asked, self.release = {}, [], threading.Event()
        super().__init__(("127.0.0.1", 0), _Answering)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Answering(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append((self.path, json.loads(body), dict(self.headers)))
        answer = self.server.answers[self.path]
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
    server = Served()
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
    from registry.actors import Actor
    from registry.packages.reading import read_files
    from registry.publishing import publish

    def make(*endpoints, kind="service", hosts="127.0.0.1:*", timeout_ms=5000, more=""):
        hosts = (
            ", ".join(f'"127.0.0.1:{origin_of(url)[1]}"' for url in endpoints)
            if hosts == "127.0.0.1:*"
            else hosts
        )
        declared = (
            f"endpoint: {endpoints[0]}" if len(endpoints) == 1 else f"endpoints: {json.dumps(endpoints)}"
        )
        text = FRONT % (kind, timeout_ms, hosts, declared + "\n" + more)
        return publish(read_files([("SKILL.md", text.encode())]), team=team, actor=Actor(user=alice)).version

    return make


def test_what_is_asked_and_answered_is_an_execute_call(served, service, ask, alice):
    served.answers["/"] = (200, {"output": {"city": "Kyiv"}, "message": "sunny", "warnings": ["w"]})
    run = run_here(ask(service(served.url("/")), {"city": "Kyiv"}))
    assert (run.status, run.result["output"], run.message) == (Status.SUCCEEDED, {"city": "Kyiv"}, "sunny")
    ((_path, asked, headers),) = served.asked
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
def test_each_bad_answer_has_its_code(served, service, ask, settings, answer, code):
    settings.SKILLQUAY_RUN_OUTPUT_BYTES = 100_000
    served.answers["/"] = answer
    run = run_here(ask(service(served.url("/"))))
    assert (run.failure_code, run.status) == (code, Status.FAILED), run.message
    assert len(served.asked) == 1


def test_a_slow_endpoint_ends_at_the_limit(served, service, ask):
    served.answers["/"] = "never"
    began = time.monotonic()
    run = run_here(ask(service(served.url("/"), timeout_ms=400)))
    assert (run.status, run.failure_code) == (Status.TIMED_OUT, "TIMEOUT")
    assert time.monotonic() - began < 2


def test_cancel_is_felt_within_a_second(served, service, ask, monkeypatch):
    served.answers["/"] = "never"
    run = ask(service(served.url("/")))
    claim = states.claim_next("host:1")
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=run.created_at)
    began = time.monotonic()
    execution.execute(claim)
    run.refresh_from_db()
    assert (run.status, run.failure_code) == (Status.CANCELLED, "CANCELLED")
    assert time.monotonic() - began < 1


def test_a_lost_lease_writes_nothing(served, service, ask):
    served.answers["/"] = "never"
    run = ask(service(served.url("/")))
    claim = states.claim_next("host:1")
    Run.objects.filter(pk=run.pk).update(claim_token="another's")
    assert execution.execute(claim) is False
    run.refresh_from_db()
    assert run.status == Status.RUNNING


def test_a_host_that_is_not_listed_is_refused_before_anything_is_queued(served, service, ask):
    version = service(served.url("/"), hosts="api.example.com")
    with pytest.raises(Refused) as refused:
        ask(version)
    assert refused.value.code == "ENDPOINT_NOT_ALLOWED"
    assert served.asked == []


def test_a_private_address_is_refused_though_the_skill_lists_it(served, service, ask, settings):
    settings.SKILLQUAY_OUTBOUND_ALLOW = []
    run = run_here(ask(service(f"https://127.0.0.1:{served.server_port}/")))
    assert run.failure_code == "OUTBOUND_REFUSED"
    assert served.asked == []


def test_a_distributed_skill_asks_the_next_where_one_is_not_there(served, service, ask):
    served.answers |= {"/busy": (503, b""), "/here": (200, {"output": {"city": "Riga"}})}
    version = service("http://127.0.0.1:1/", served.url("/busy"), served.url("/here"), kind="distributed")
    run = run_here(ask(version))
    assert run.result["output"] == {"city": "Riga"}
    steps = Step.objects.filter(run=run).order_by("seq")
    assert [bool(step.error) for step in steps] == [True, True, False]


def test_an_endpoint_that_answers_for_itself_is_not_asked_around(served, service, ask):
    served.answers |= {"/one": (400, b""), "/two": (200, {"output": {"city": "Riga"}})}
    run = run_here(ask(service(served.url("/one"), served.url("/two"), kind="distributed")))
    assert run.failure_code == "EXTERNAL_SERVICE_ERROR"
    assert [path for path, *_ in served.asked] == ["/one"]


def test_files_cannot_be_sent(served, service, ask, alice, actor_of):
    from worker.inputs import store_input

    upload = store_input([b"x"], "a.txt", actor_of(alice))
    with pytest.raises(Refused) as refused:
        ask(service(served.url("/")), {"input_path": {"input": upload.uid}})
    assert refused.value.code == "ENDPOINT_FILES"


def test_a_service_without_an_endpoint_runs_its_script(published, ask):
    text = FRONT % ("service", 5000, "api.example.com", "")
    front = "\n".join(text.splitlines()[4:-2]).replace(
        "resources: {}", "resources: {entry: scripts/local.py}"
    )
    script = "def execute(parameters):\n    return {'output': {'city': 'here'}}\n"
    run = run_here(ask(published("local", script, front=front.strip() + "\n")))
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
