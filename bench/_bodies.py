"""Measures sign-ins and uploads on a site while many anonymous clients send slow requests."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from urllib.error import URLError
from urllib.request import Request, urlopen

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from bench._scratch import spread
from bench._strangers import Crowd, held_bytes, sign_in
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Scope, User

PASSWORD = "a long password"  # password on the measured site
INPUT_BYTES = 50_000_000
TIMEOUT_S = 60


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    user = User.objects.create_superuser("bench", password=PASSWORD)
    until = timezone.now() + timedelta(days=1)
    token = tokens.issue(user, name="bench", scopes=Scope.values, expires_at=until, by=Actor(user=user))[1]
    with serve() as (port, pid):
        url = f"http://127.0.0.1:{port}"
        alone = _sign_ins(url, 5)
        idle = sum(held_bytes(pid))
        with Crowd(port, options["connections"]) as crowd, _looks(pid) as looks:
            crowded = _sign_ins(url, options["seconds"])
        most = max(looks, key=sum)
        uploads = [_upload(url, token) for _ in range(options["uploads"])]
    held = {"most": sum(most) - idle, "memory": most[0] - idle, "disk": most[1]}
    print(
        json.dumps(
            {
                "held_mb": {name: round(value / 1e6, 1) for name, value in held.items()},
                "responses": crowd.responses,
                "sign_in_ms": {"alone": spread(alone), "crowded": spread(crowded)},
                "upload_mb_per_s": round(INPUT_BYTES / 1e6 / median(uploads), 1),
            }
        )
    )


@contextmanager
def serve():
    """Runs a site with ``manage.py up``; yields its port and the process id of its web server."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    log = Path(settings.SKILLQUAY_VAR, "up.log")
    with log.open("wb") as file:
        environment = {**os.environ, "SKILLQUAY_PORT": str(port), "SKILLQUAY_SIGN_INS_PER_MINUTE": "0"}
        environment |= {"SKILLQUAY_WEB_PROCESSES": "1"}
        up = subprocess.Popen([sys.executable, "manage.py", "up"], stdout=file, stderr=file, env=environment)
    try:
        _wait_for(f"http://127.0.0.1:{port}/sign-in/")
        yield port, int(log.read_text().split("web started, pid ")[1].split()[0])
    finally:
        up.terminate()
        up.wait()


def _wait_for(url):
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        try:
            return urlopen(url, timeout=TIMEOUT_S).close()
        except URLError:
            time.sleep(0.1)
    raise SystemExit("the site does not answer")


def _sign_ins(url, seconds):
    """The duration of each of at least five sign-ins in milliseconds, including the request for the form."""
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until or len(times) < 5:
        started = time.perf_counter()
        if not sign_in(url, "bench", PASSWORD)[2]:
            raise SystemExit("a sign-in failed")
        times.append((time.perf_counter() - started) * 1000)
    return times


@contextmanager
def _looks(pid):
    """Yields a list to which a thread adds the pair (memory, disk) in bytes ten times a second."""
    found, ended = [], threading.Event()

    def look():
        while not ended.wait(0.1):
            found.append(held_bytes(pid))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def _upload(url, token):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
    request = Request(f"{url}/api/v1/inputs?name=a.bin", os.urandom(INPUT_BYTES), headers)
    started = time.perf_counter()
    urlopen(request, timeout=TIMEOUT_S).close()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
