"""What the tests of pages share: skills of every visibility, and a client for each person."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import translation

from tests.samples import prompt_files, publish_files, tidy_files


@pytest.fixture
def private(team, alice):
    """docs/weekly-report, which only Docs may know of."""
    return publish_files(tidy_files(), team=team, user=alice).skill


@pytest.fixture
def public(team, alice):
    """docs/kind-review, for everybody; it is only a prompt."""
    return publish_files(prompt_files(), team=team, user=alice, visibility="public").skill


@pytest.fixture
def browse():
    """``browse(user)``: a signed-in client, or a stranger's for None."""

    def opened(user=None, language="en"):
        client = Client(headers={"accept-language": language})
        if user:
            client.force_login(user)
        return client

    return opened


@pytest.fixture(autouse=True)
def english_again():
    """A page in Chinese leaves its language to the thread: the next test begins in English."""
    yield
    translation.activate("en")
