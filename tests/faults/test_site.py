"""The whole site as ``make run`` starts it: from publishing to the file left behind, and what kills it."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

from bench._strangers import Crowd, held_bytes
from tests.site import ROOT, Site

pytestmark = [
    pytest.mark.matrix(at_most=2),
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.faults,
    pytest.mark.row("P9", "P5"),
]

SKILL = """---
name: counter
description: Counts slowly and leaves a file behind.
version: 1.0.0
---
# Counter
"""
SCRIPT = """
import argparse, json, pathlib, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--upto", type=int, default=3)
parser.add_argument("--pause", type=float, default=0.0)
parser.add_argument("--output-dir", default="output")
args = parser.parse_args()
for n in range(args.upto):
    print(f"line {n}", file=sys.stderr, flush=True)
    print(f"{(n + 1) * 100 // args.upto}% complete", file=sys.stderr, flush=True)
    time.sleep(args.pause)
pathlib.Path(args.output_dir, "count.txt").write_text("x" * 600_000)
print(json.dumps({"counted": args.upto}))
"""


def _package():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("counter/SKILL.md", SKILL)
        archive.writestr("counter/scripts/count.py", SCRIPT)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"), SKILLQUAY_EXAMPLES="0")
    try:
        site.set_up("ops")
        site.start()
        upload = "/api/v1/packages?team=ops&visibility=private"
        status, _, body = site.ask(upload, body=_package(), Content_Type="application/zip")
        assert status == 201, body
        yield site
    finally:
        ended = site.stop()
    assert ended == 0


def _run(site, wait=30, **inputs):
    inputs = {"output_dir": "here", **inputs}
    status, _, body = site.ask(
        f"/api/v1/runs?wait={wait}", body={"skill": "ops/counter", "script": "count", "inputs": inputs}
    )
    assert status in (200, 201, 202), body
    return json.loads(body)


def test_the_administrator_is_told_once_and_a_second_start_changes_nothing(site):
    assert "password" in site.printed
    assert site.manage("set_up").stdout == ""


def test_a_call_waits_for_its_result_and_the_file_left_behind_downloads_whole(site):
    run = _run(site, upto=2)
    assert (run["status"], run["outputs"]) == ("succeeded", {"counted": 2})
    status, headers, body = site.ask(f"/api/v1/runs/{run['id']}/artifacts/count.txt")
    assert (status, len(body), set(body)) == (200, 600_000, {ord("x")})
    assert "attachment" in headers["Content-Disposition"]


def test_probes_and_metrics_report_the_running_processes(site):
    """The worker's first heartbeat comes seconds after the first page."""
    site.wait_for(lambda: site.ask("/-/ready", token=None)[0] == 200)
    status, _, body = site.ask("/metrics", token=None)
    assert status == 200
    text = body.decode()
    assert 'skillquay_check_ok{check="broker"} 1.0' in text
    assert re.search(r'skillquay_worker_slots\{worker="[^"]+"\} 2\.0', text)
    assert json.loads(site.manage("status", "--json").stdout)["ok"]


def test_a_wait_that_is_too_short_answers_with_the_run_under_way(site):
    run = _run(site, wait=1, upto=3, pause=1)
    assert run["status"] in ("queued", "running")
    body = site.ask(f"/api/v1/runs/{run['id']}?wait=30")[2]
    assert json.loads(body)["status"] == "succeeded"


def _events(site, uid, seconds=20, last=""):
    request = urllib.request.Request(f"{site.url}/api/v1/runs/{uid}/events")
    request.add_header("Authorization", f"Bearer {site.token}")
    if last:
        request.add_header("Last-Event-ID", last)
    with urllib.request.urlopen(request, timeout=seconds) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        return stream.read().decode()


@pytest.mark.row("B6")
def test_events_bring_every_line_once_while_it_happens(site):
    run = _run(site, wait=0, upto=4, pause=0.4)
    text = _events(site, run["id"])
    assert [text.count(f"line {n}\\n") for n in range(4)] == [1, 1, 1, 1]
    assert "event: progress" in text
    assert text.rstrip().endswith("event: end\ndata: {}")


def test_who_comes_back_with_the_last_position_hears_nothing_twice(site):
    run = _run(site, upto=2)
    first = _events(site, run["id"])
    last = [line[4:] for line in first.splitlines() if line.startswith("id: ")][-1]
    assert "line 0" in first
    assert "line" not in _events(site, run["id"], last=last)


@pytest.mark.row("P2")
def test_a_stranger_hears_the_same_of_a_run_as_of_none(site):
    run = _run(site, upto=1)
    answers = [
        site.ask(f"/api/v1/runs/{uid}/events", token=None)
        for uid in (run["id"], run["id"][:-1] + ("0" if run["id"][-1] != "0" else "1"))
    ]
    bodies = [{**json.loads(body), "request_id": ""} for _, _, body in answers]
    assert answers[0][0] == answers[1][0] != 200
    assert bodies[0] == bodies[1]


def test_a_second_supervisor_over_the_same_folder_is_refused(site):
    refused = site.manage("up", check=False)
    assert refused.returncode == 1
    assert "SKILLQUAY_VAR" in refused.stderr


@pytest.mark.row("P9")
def test_worker_with_another_key_says_so_in_one_line_and_ends(site):
    argv = [sys.executable, "-m", "celery", "--quiet", "-A", "worker", "worker", "--concurrency", "1"]
    environment = {**site.environment, "SKILLQUAY_SECRET_KEY": "another", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("Can't start: SKILLQUAY_SECRET_KEY")
    assert "Traceback" not in done.stderr


def test_followers_hold_no_thread(site):
    run = _run(site, wait=0, upto=5, pause=0.5)
    threads = [threading.Thread(target=_events, args=(site, run["id"])) for _ in range(40)]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    assert site.ask("/", token=None)[0] == 200
    assert time.monotonic() - started < 10
    for thread in threads:
        thread.join()


def test_a_killed_web_process_comes_back_and_leaves_nothing_of_an_upload(site):
    var, pid = site.folder / "var", site.pids("web")[-1]
    had = set(var.iterdir())
    head = "POST /api/v1/inputs?name=a HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n"
    with socket.create_connection(("127.0.0.1", site.port)) as client:
        client.sendall(f"{head}Authorization: Bearer {site.token}\r\n\r\n".encode() + bytes(1_000_000))
        site.wait_for(lambda: _open_below(var, pid))
        os.kill(pid, signal.SIGKILL)
    site.wait_for(lambda: site.pids("web")[-1] != pid and site.answers())
    assert set(var.iterdir()) - had <= {var / "cache"}  # a worker unpacks there at any time


def _open_below(folder, pid):
    """Files without a name that the process writes there."""
    files = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
    return [name for name in files if name.startswith(f"{folder}/") and name.endswith("(deleted)")]


@pytest.mark.row("P3")
def test_stalled_uploads_hold_no_thread(site):
    stalled = []
    for _ in range(12):
        client = socket.create_connection(("127.0.0.1", site.port))
        client.sendall(b"POST /api/v1/packages HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nPK")
        stalled.append(client)
    started = time.monotonic()
    assert site.ask("/api/v1/skills")[0] == 200
    assert time.monotonic() - started < 5
    for client in stalled:
        client.close()


@pytest.mark.row("P3")
def test_a_thousand_strangers_hold_little_and_let_others_sign_in(site):
    usual = max(_seconds_to_sign_in(site) for _ in range(3))
    pid = site.pids("web")[-1]
    idle = sum(held_bytes(pid))
    with Crowd(site.port, 1000) as crowd:
        looks = [(sum(held_bytes(pid)) - idle, _seconds_to_sign_in(site)) for _ in range(4)]
    assert max(held for held, _ in looks) < 64_000_000
    assert min(seconds for _, seconds in looks) < max(1.0, 4 * usual), "1 s, unless the machine is busy"
    assert set(crowd.responses) <= {"401", "413", "503", "closed"}, "each refusal has a reason"
    site.publish("afterwards", "print(1)", team="ops")


def _seconds_to_sign_in(site):
    started = time.monotonic()
    assert site.sign_in()[2]
    return time.monotonic() - started


@pytest.mark.row("P3")
def test_a_chunked_upload_is_taken(site):
    client = http.client.HTTPConnection("127.0.0.1", site.port)
    headers = {"Authorization": f"Bearer {site.token}", "Content-Type": "application/zip"}
    client.request(
        "POST", "/api/v1/packages?team=ops&dry_run=1", iter([_package()]), headers, encode_chunked=True
    )
    answer = client.getresponse()
    assert (answer.status, json.loads(answer.read())["ok"]) == (200, True)
    client.close()


@pytest.mark.row("P3")
def test_a_body_past_every_limit_is_refused_with_a_code(site):
    client = http.client.HTTPConnection("127.0.0.1", site.port)
    piece = b"0" * 2**20
    with contextlib.suppress(ConnectionError):
        client.request("POST", "/api/v1/packages", (piece for _ in range(64)), encode_chunked=True)
    answer = client.getresponse()
    assert (answer.status, json.loads(answer.read())["code"]) == (413, "BODY_TOO_LARGE")
    client.close()
