"""A published skill with files, one that is a single SKILL.md, and requests without a session."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Visibility
from registry.versions.lifecycle.settings import set_visibility
from tests.factories.skills import prompt_files, publish_files, tidy_files

HOST = "http://127.0.0.1:8000"


def show(version, visibility=Visibility.PUBLIC):
    set_visibility(version.skill, visibility, Actor(user=version.published_by))
    version.skill.refresh_from_db()
    return version


@pytest.fixture
def report(team, alice):
    return show(publish_files(tidy_files(), team=team, user=alice))


@pytest.fixture
def prompt(team, alice):
    return show(publish_files(prompt_files(), team=team, user=alice))


@pytest.fixture
def secret_of():
    """``secret_of(user)``: the secret of a new token that can read."""

    def make(user):
        expiry = timezone.now() + timedelta(days=1)
        return tokens.issue(user, name="t", scopes=["read"], expires_at=expiry, by=Actor(user=user))[1]

    return make


def get(address, *, client=None, status=200, **headers):
    answer = (client or Client()).get(address.removeprefix(HOST), headers=headers)
    assert answer.status_code == status, answer.getvalue()
    return answer


@pytest.fixture
def token_of():
    """``token_of(user)``: headers with a new token that can read and publish."""

    def make(user, *scopes):
        until = timezone.now() + timedelta(days=1)
        names = scopes or ("read", "publish")
        row = tokens.issue(user, name="t", scopes=names, expires_at=until, by=Actor(user=user))
        return {"Authorization": f"Bearer {row[1]}"}

    return make


@pytest.fixture
def member(team, alice, token_of):
    return token_of(alice)


def post(path, body, headers, *, status=200, kind="application/json"):
    data = body if isinstance(body, bytes) else json.dumps(body)
    answer = Client().post(path.removeprefix(HOST), data, kind, headers=headers)
    assert answer.status_code == status, answer.content
    return answer


def send_files(path, files, headers, *, status=200, field="files[]", **fields):
    """A form with the files, whose names are paths. Django's test client would drop the folders."""
    parts = [(name, value.encode()) for name, value in fields.items()]
    parts += [(f'{field}"; filename="{name}', data) for name, data in files.items()]
    head = '--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n'
    body = b"".join((head % name).encode() + data + b"\r\n" for name, data in parts) + b"--b--\r\n"
    return post(path, body, headers, status=status, kind="multipart/form-data; boundary=b")
