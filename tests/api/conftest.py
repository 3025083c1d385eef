"""A published skill of Alice, and an API client for each user."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import timezone

if TYPE_CHECKING:
    from registry.models import Token

SKILL_MD = """---
name: summarise
description: Summarises a document in a few sentences.
version: 1.0.0
tags: [text, summary]
---
# Summarise

Read the document, then say what it says.
"""
MAIN_PY = """import json, sys
print("50% complete", file=sys.stderr)
print(json.dumps({"said": sys.argv[1:]}))
"""


def archive(files=None, *, folder=""):
    """A zip of ``files``; by default the skill that all these tests publish."""
    files = files or {"SKILL.md": SKILL_MD, "scripts/main.py": MAIN_PY, "references/notes.md": "# Notes\n"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for path, text in files.items():
            zipped.writestr(folder + path, text)
    return buffer.getvalue()


# Path parameters of the skill that ``version`` publishes.
THERE = {"team": "docs", "slug": "summarise", "number": "1.0.0", "path": "SKILL.md", "name": "stable"}
THERE |= {"before": "1.0.0", "after": "latest", "note": "0", "collection": "start"}


class Api:
    """An API client of one caller. Errors are returned as responses, never raised."""

    def __init__(self, client, **headers):
        self.client = client
        self.headers = headers
        self.token: Token | None = None
        self.secret = ""

    def __call__(self, method, path, body=None, *, kind="application/json", headers=None, **extra):
        data = json.dumps(body) if kind == "application/json" and not isinstance(body, str | bytes) else body
        if body is None:
            data, kind = "", "application/json"
        address = path if path.startswith("/") else f"/api/v1/{path}"
        return self.client.generic(
            method, address, data, kind, headers={**self.headers, **(headers or {})}, **extra
        )

    def get(self, path, **more):
        return self("GET", path, **more)

    def post(self, path, body=None, **more):
        return self("POST", path, body, **more)


def session_api(user, *, csrf=False):
    client = Client(raise_request_exception=False, enforce_csrf_checks=csrf)
    if user:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return Api(client)


@pytest.fixture
def anonymous(db):
    return session_api(None)


@pytest.fixture
def as_alice(alice):
    return session_api(alice)


@pytest.fixture
def as_bob(bob):
    return session_api(bob)


@pytest.fixture
def as_charlie(charlie):
    return session_api(charlie)


@pytest.fixture
def token_api(db):
    """``token_api(user, *scopes)``: an API client with a new token."""
    from registry.identity import tokens
    from registry.identity.actors import Actor

    def make(user, *scopes, team=None):
        token, secret = tokens.issue(
            user,
            name="test",
            scopes=scopes or ("read", "run", "publish", "settings"),
            expires_at=timezone.now() + timedelta(days=1),
            by=Actor(user=user),
            team=team,
        )
        api = Api(Client(raise_request_exception=False), Authorization=f"Bearer {secret}")
        api.token, api.secret = token, secret
        return api

    return make


@pytest.fixture
def publish(team, alice):
    """``publish(files=…, visibility=…)``: publishes in Alice's team and returns the version."""
    from registry.identity.actors import Actor
    from registry.packages.read_package import read_upload
    from registry.versions.publishing import publish as publishing_publish

    def make(files=None, **options):
        options = {"team": team, "actor": Actor(user=alice), **options}
        return publishing_publish.publish(read_upload(archive(files)), **options).version

    return make


@pytest.fixture
def version(publish):
    return publish()


@pytest.fixture
def public_version(publish):
    return publish(visibility="public")


ERROR_KEYS = {"code", "message", "remedy", "retryable", "docs_url", "request_id", "problems"}


def assert_error(response, status, code):
    """Asserts status, code and the shape of errors, and returns the document."""
    assert response["Content-Type"] == "application/json", response.content[:300]
    document = response.json()
    assert (response.status_code, document.get("code")) == (status, code), document
    assert set(document) == ERROR_KEYS
    assert document["request_id"] == response["X-Request-ID"]
    assert document["message"]
    assert document["remedy"]
    assert document["problems"]
    return document


def private_schedule(version, user):
    from worker.models import Schedule

    return Schedule.objects.create(
        name="secret schedule", skill=version.skill, skill_label="docs/summarise", team=version.skill.team,
        skill_team=version.skill.team, run_as=user, request={}, kind="cron", cron="0 9 * * *",
        starts_at=timezone.now(), channel="latest", next_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip


def private_delivery(team):
    from worker.models import Delivery, NotificationSubscription

    row = NotificationSubscription.objects.create(team=team, channel="slack", kinds=["recovered"])
    times = {"created_at": timezone.now(), "due_at": timezone.now()}
    return {
        "subscriptions": row.uid,
        "deliveries": Delivery.objects.create(subscription=row, kind="test", **times).uid,
    }


def private_batch(user):
    from worker.models import RunBatch

    return RunBatch.objects.create(action="cancel", filter={"skill": "secret"}, user=user).uid


@pytest.fixture
def private(version, bob):
    """A private skill, a run of it with log and artifact, an uploaded file: all of Alice's team.

    The ids of the objects, by the first part of the path at which they are.
    """
    from registry.models import (
        Collection,
        Event,
        EventSubscription,
        Import,
        Rule,
        Source,
        Token,
        WebhookEndpoint,
    )
    from registry.models.upload import ResumableUpload
    from registry.storage import blobs
    from worker.models import Approval, Artifact, InputFile, LogChunk, Memory, MemoryWrite, Run

    now, digest = timezone.now(), blobs.store(b"secret bytes")
    run = Run.objects.create(
        skill=version.skill, skill_label="docs/summarise", version_number="1.0.0", digest=version.digest,
        team=version.skill.team, caller=bob, protocol="script", request={}, request_id="req-private",
        run_after=now, created_at=now, attempt=1, log_bytes=6,
    )  # fmt: skip
    LogChunk.objects.create(run=run, attempt=1, seq=0, stream="stdout", offset=0, data=b"secret")
    Artifact.objects.create(run=run, path="SKILL.md", size=12, digest=digest)
    file = InputFile.objects.create(owner=bob, name="secret.txt", size=12, digest=digest, expires_at=now)
    upload = ResumableUpload.objects.create(
        owner=bob, name="secret.txt", size=12, received=6, expires_at=now + timedelta(days=1)
    )
    Approval.objects.create(run=run, expires_at=now)
    Collection.objects.create(team=version.skill.team, slug="start", title="secret list")
    source = Source.objects.create(
        team=version.skill.team, kind="git", location="https://secret.example/x.git"
    )
    report = Import.objects.create(source=source, requested_by=bob)
    team = version.skill.team
    hook = WebhookEndpoint.objects.create(team=team, name="secret hook", secret="sealed", created_by=bob)
    event = Event.objects.create(
        team=team,
        type="secret.event",
        payload={},
        origin="user:1",
        external_id="evt-private",
        received_at=now,
    )
    said = EventSubscription.objects.create(
        team=team, skill=version.skill, event_type="secret.event", mode="start"
    )
    rule = Rule.objects.create(team=version.skill.team, effect="deny", name="secret", created_at=now)
    said_of_bob = {"owner_type": "user", "owner_user": bob, "type": "fact", "importance": 1, "content": "x"}
    memory = Memory.objects.create(
        **said_of_bob, owner_key=f"user:{bob.pk}", content_key="-", created_at=now, updated_at=now
    )
    proposal = MemoryWrite.objects.create(
        **said_of_bob, run=run, attempt=1, seq=0, state="waiting", created_at=now
    )
    return {
        "runs": run.uid,
        "run-batches": private_batch(bob),
        "rules": rule.uid,
        "me": Token.objects.create(owner=bob, name="secret", secret_hash="-", expires_at=now).uid,
        "inputs": file.uid,
        "uploads": upload.uid,
        "skill": version.skill.uid,
        "sources": source.uid,
        "imports": report.uid,
        "events": event.uid,
        "webhooks": hook.uid,
        "event-subscriptions": said.uid,
        "memories": memory.uid,
        "schedules": private_schedule(version, bob).uid,
        "memory-writes": proposal.uid,
        **private_delivery(team),
    }
