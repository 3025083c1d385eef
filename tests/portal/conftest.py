"""Skills of each visibility, a browser client for each user and web processes, for the tests of pages."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client
from django.utils import translation

from registry.batched_writes import flush, writer
from tests.factories.second_factors import ORIGIN, SECRET
from tests.factories.skills import prompt_files, publish_files, tidy_files


@pytest.fixture
def processes(transactional_db, monkeypatch):
    """Two web processes. Uses are written by ``flush``."""
    from tests.portal.kept_answers import WebProcesses  # builds Django's whole stack, for these tests only

    monkeypatch.setattr(writer, "is_running", True)
    found = WebProcesses(2)
    yield found
    found.close()
    flush()


@pytest.fixture
def private(team, alice):
    """docs/weekly-report, visible to the team Docs only."""
    return publish_files(tidy_files(), team=team, user=alice).skill


@pytest.fixture
def public(team, alice):
    """docs/kind-review, a public prompt without scripts."""
    return publish_files(prompt_files(), team=team, user=alice, visibility="public").skill


@pytest.fixture
def browse():
    """``browse(user)``: a signed-in client; anonymous without a user."""

    def make(user=None, language="en"):
        client = Client(headers={"accept-language": language})
        if user:
            client.force_login(user)
        return client

    return make


@pytest.fixture(autouse=True)
def restore_english():
    """Resets the language of the thread, which a Chinese page changes."""
    yield
    translation.activate("en")


@pytest.fixture
def https(settings):
    """Serves the site at an HTTPS address, where browsers allow keys."""
    settings.SKILLQUAY_PUBLIC_URL = ORIGIN


@pytest.fixture
def app(bob, https):
    """Bob's authenticator app, with SECRET."""
    return TOTP.activate(bob, SECRET).instance
