"""The demo site of the main paths: seeded once for each process, behind the streaming front."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import uvicorn
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.tokens import default_token_generator
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.wsgi import get_wsgi_application
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from portal.streaming.bridge import WsgiBridge
from portal.streaming.changes.middleware import ChangesMiddleware
from registry.identity.actors import Actor
from registry.models import Skill, Team, User, Version
from tests.checks import not_none
from tests.demo.inbox import make_agent
from tests.demo.pages import SKILL, TEAM, fill_records
from tests.demo.seed import seed
from tests.factories.runs import make_run
from tests.factories.second_factors import SECRET
from tests.factories.skills import publish_files
from worker.models import Memory, MemoryWrite, Notification, NotificationEvent, NotificationKind, Run
from worker.protocols.call import Request
from worker.runs.request import request_run

_numbers = count(1)


@dataclass(frozen=True)
class DemoSite:
    url: str
    records: dict[str, dict[str, str]]  # the parts of routes by the routes' start

    def uid(self, start: str) -> str:
        return self.records[start]["uid"]

    day = timedelta(days=1)

    @property
    def now(self) -> datetime:
        return timezone.now()

    @property
    def team(self) -> Team:
        return Team.objects.get(slug=TEAM)

    @property
    def skill(self) -> Skill:
        return Skill.objects.get(slug=SKILL, team__slug=TEAM)

    def user(self, name: str) -> User:
        return User.objects.get(username=name)

    def actor(self, name: str = "alice") -> Actor:
        return Actor(user=self.user(name))

    def new_name(self, word: str = "demo") -> str:
        """A name that no other path uses."""
        return f"{word}-{next(_numbers)}"

    def new_user(self, word: str = "visitor") -> User:
        name = self.new_name(word)
        return User.objects.create_user(name, password=f"{name}-password", must_change_password=False)

    def publish(self, *, front: str = "", script: str = "") -> Version:
        """Version 1.0.0 of a new skill of the team with one script."""
        slug = self.new_name("tool")
        head = f"name: {slug}\ndisplayName: {slug.title()}\ndescription: Counts rows.\nversion: 1.0.0\n"
        files = {
            "SKILL.md": f"---\n{head}{front}---\n# {slug.title()}\n\nCounts rows.\n".encode(),
            "scripts/main.py": (script or "print('{\"rows\": 3}')\n").encode(),
        }
        version = publish_files(files, team=self.team, user=self.user("alice"))
        return not_none(Version.objects.select_related("skill__team").filter(pk=version.pk).first())

    def run(self, version: Version | None = None, **fields: Any) -> Run:
        """A run that alice started, of the demo skill by default; ``fields`` override its values."""
        request = {"inputs": {"path": "orders.csv"}, "script": None, "stdin": None, "debug": False}
        version = version or not_none(self.skill.latest)
        return make_run(version, self.user("alice"), self.team, **{"request": request, **fields})

    def ask(self) -> Run:
        """A run of an agent that waits for approval."""
        front = "allowed-tools: [Bash]\n"
        agent = make_agent(self.user("bob"), self.team, self.new_name("agent"))
        return request_run(actor=agent, version=self.publish(front=front), request=Request(inputs={"n": 1}))

    def remember(self, team: Team | None = None) -> Memory:
        """A memory of alice, or of the team."""
        user = None if team else self.user("alice")
        key, now = f"group:{team.pk}" if team else f"user:{not_none(user).pk}", timezone.now()
        return Memory.objects.create(
            owner_type="group" if team else "user",
            owner_user=user,
            owner_team=team,
            owner_key=key,
            type="fact",
            importance=3,
            content="The fiscal year starts in April.",
            content_key=self.new_name("key"),
            created_at=now,
            updated_at=now,
        )

    def propose(self) -> MemoryWrite:
        """A memory of the team that waits for review."""
        return MemoryWrite.objects.create(
            owner_type="group",
            owner_team=self.team,
            type="fact",
            importance=3,
            content="Reports use the date format 2026-11-22.",
            run=self.run(),
            attempt=1,
            seq=0,
            state="waiting",
            created_at=timezone.now(),
        )

    def notify(self) -> None:
        """Puts a failed run into the inbox of alice."""
        run, now = self.run(status="failed", failure_code="SCRIPT_FAILED", result=None), timezone.now()
        event = NotificationEvent.objects.create(
            kind=NotificationKind.RUN_FAILED, at=now, skill=run.skill, team=run.team, run=run, expanded_at=now
        )
        Notification.objects.create(event=event, user=self.user("alice"), created_at=now)

    def add_app(self, user: User) -> str:
        """Gives the user an authenticator app, and returns its secret."""
        TOTP.activate(user, SECRET)
        return SECRET

    def reset_path(self, user: User) -> str:
        """The path of a link to set a new password."""
        uid = urlsafe_base64_encode(force_bytes(user.pk))
        return reverse("reset-password", args=(uid, default_token_generator.make_token(user)))

    def session(self, user: User) -> dict[str, str]:
        """The cookies of a new session."""
        client = Client()
        client.force_login(user)
        return {name: cookie.value for name, cookie in client.cookies.items()}


def fill() -> dict[str, dict[str, str]]:
    """Seeds the site. Returns the parts of routes by the routes' start."""
    seed(runs=60)
    User.objects.create_superuser("admin", password="admin-password")
    return fill_records()


@contextmanager
def served() -> Iterator[str]:
    """The site in a thread of this process; the value is its address."""
    app = ChangesMiddleware(WsgiBridge(StaticFilesHandler(get_wsgi_application()), workers=2))
    front = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=front.run, daemon=True)
    thread.start()
    while not front.started:
        time.sleep(0.01)
    yield f"http://localhost:{front.servers[0].sockets[0].getsockname()[1]}"
    front.should_exit = front.force_exit = True
    thread.join(10)
