"""A whole site in processes of its own, as ``make run`` starts it, in a folder of its own."""

from __future__ import annotations

import io
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from bench._strangers import sign_in
from tests import cluster, migrated

ROOT = Path(__file__).resolve().parent.parent
SET_UP = """
from datetime import timedelta
from django.core.management import call_command
from django.utils import timezone
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Scope, Team, User
call_command("set_up")
user = User.objects.get(username="admin")
until = timezone.now() + timedelta(days=1)
print(tokens.issue(user, name="test", scopes=Scope.values, expires_at=until, by=Actor(user=user))[1])
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Site:
    def __init__(self, folder: Path, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = folder
        self.corner = ExitStack()
        mine = {"SKILLQUAY_VAR": str(folder / "var"), "SKILLQUAY_PORT": str(self.port)}
        # one process starts faster; on a busy machine, requests may wait
        mine |= {"SKILLQUAY_WEB_PROCESSES": "1", "SKILLQUAY_MAX_QUEUE_SECONDS": "60"}
        mine |= self.corner.enter_context(cluster.corner())
        self.environment = {**os.environ, **mine, **environment}
        self.log = folder / "up.log"
        self.up: subprocess.Popen[bytes] | None = None
        self.token = ""
        self.printed = ""  # by set_up

    def manage(
        self, *arguments: str, check: bool = True, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        argv, environment = [sys.executable, "manage.py", *arguments], {**self.environment, **settings}
        return subprocess.run(
            argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=check, timeout=120
        )

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.up = subprocess.Popen(
                [sys.executable, "manage.py", "up"], cwd=ROOT, env=self.environment, stderr=log, stdout=log
            )
        self.wait_for(self.answers, seconds=60)

    def set_up(self, *teams: str) -> str:
        """What ``manage.py set_up`` prints: here in one process with the token and the teams of the tests."""
        migrated.lay(self.environment)
        make = [
            f"Membership(team=Team.objects.create(slug={t!r}), user=user, role='owner').save()" for t in teams
        ]
        told = self.manage("shell", "--no-imports", "-c", "\n".join([SET_UP, *make])).stdout
        self.printed, _, self.token = told.rstrip().rpartition("\n")
        return self.printed

    def stop(self) -> int:
        with self.corner:
            if self.up is None:
                return 0
            self.up.terminate()
            return self.up.wait(60)

    def publish(self, slug: str, script: str, *, team: str, front: str = "") -> None:
        """A private skill whose one script is Python."""
        status, _, body = self.upload(slug, script, team=team, front=front)
        assert status == 201, body

    def upload(self, slug: str, script: str, *, team: str, front: str = "", number: str = "1.0.0"):
        """The response to the skill's upload."""
        head = f"---\nname: {slug}\ndescription: For tests.\nversion: {number}\n{front}---\n# {slug}\n"
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(f"{slug}/SKILL.md", head)
            archive.writestr(f"{slug}/scripts/{slug}.py", script)
        path = f"/api/v1/packages?team={team}&visibility=private"
        return self.ask(path, body=buffer.getvalue(), Content_Type="application/zip")

    def sign_in(self) -> tuple[int, str, bool]:
        """Signs in as the administrator: the status, the last page, and whether there is a session."""
        password = re.search(r"password {2,}(\S+)", self.printed)
        assert password, self.printed
        return sign_in(self.url, "admin", password[1])

    def run(self, skill: str, *, wait: int = 0, **inputs: object) -> dict[str, Any]:
        status, _, body = self.ask(f"/api/v1/runs?wait={wait}", body={"skill": skill, "inputs": inputs})
        assert status in (200, 201, 202), body
        return json.loads(body)

    def ended(self, run: dict[str, Any], *, wait: int = 30) -> dict[str, Any]:
        return json.loads(self.ask(f"/api/v1/runs/{run['id']}?wait={wait}")[2])

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.connected() as database:
            return database.execute(query).fetchall()

    def connected(self) -> AbstractContextManager[Any]:
        file = Path(self.environment["SKILLQUAY_VAR"], "skillquay.sqlite3")
        return cluster.connected(self.environment["DATABASE_URL"] or file)

    def pids(self, name: str) -> list[int]:
        return [int(pid) for pid in re.findall(rf"{name} started, pid (\d+)", self.log.read_text())]

    def answers(self) -> bool:
        try:
            return self.ask("/", token=None)[0] == 200
        except OSError:
            return False

    def ask(self, path: str, *, body: object = None, token: str | None = "", **headers: str):
        """(status, headers, bytes) of a GET, or of a POST of ``body``; the site's token unless None."""
        request = urllib.request.Request(self.url + path)
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token or self.token}")
        if body is not None:
            request.data = body if isinstance(body, bytes) else json.dumps(body).encode()
            if not request.has_header("Content-type"):
                request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=70) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def wait_for(self, condition, seconds: float = 30):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.05)
        return found
