"""A published skill of Alice's, the clients of everybody, and nothing that is not real."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

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
    """A zip of these files; by default the skill that all these tests publish."""
    files = files or {"SKILL.md": SKILL_MD, "scripts/main.py": MAIN_PY, "references/notes.md": "# Notes\n"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for path, text in files.items():
            zipped.writestr(folder + path, text)
    return buffer.getvalue()


class Api:
    """The API as one caller sees it, errors as answers."""

    def __init__(self, client, **headers):
        self.client = client
        self.headers = headers

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
    """``token_api(user, *scopes)``: the API with a fresh token."""
    from registry import tokens
    from registry.actors import Actor

    def make(user, *scopes, team=None):
        token, secret = tokens.issue(
            user,
            name="test",
            scopes=scopes or ("read", "run", "publish"),
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
    """``publish(files=…, visibility=…)``: a version of Alice's team."""
    from registry import publishing
    from registry.actors import Actor
    from registry.packages.reading import read_upload

    def make(files=None, **options):
        options = {"team": team, "actor": Actor(user=alice), **options}
        return publishing.publish(read_upload(archive(files)), **options).version

    return make


@pytest.fixture
def version(publish):
    return publish()


@pytest.fixture
def public_version(publish):
    return publish(visibility="public")


ERROR_KEYS = {"code", "message", "remedy", "retryable", "docs_url", "request_id", "problems"}


def refused(response, status, code):
    """Asserts the one error shape, and answers the document."""
    assert response["Content-Type"] == "application/json", response.content[:300]
    document = response.json()
    assert (response.status_code, document.get("code")) == (status, code), document
    assert set(document) == ERROR_KEYS
    assert document["request_id"] == response["X-Request-ID"]
    assert document["message"]
    assert document["remedy"]
    assert document["problems"]
    return document
