"""Two versions compared by API and command; what Charlie may not see is not there."""

from __future__ import annotations

import json

import pytest

from tests.api.conftest import Api
from tests.factories.skills import publish_files, tidy_files
from tests.shell import api, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1")]
ADDRESS = "skills/docs/weekly-report/compare/1.2.0..1.3.0"


@pytest.fixture
def two(team, alice):
    publish_files(tidy_files("1.2.0"), team=team, user=alice)
    files = tidy_files("1.3.0")
    files["SKILL.md"] = files["SKILL.md"].replace(b"allowed-tools: Read", b"allowed-tools: Read, Write")
    files["SKILL.md"] = files["SKILL.md"].replace(b"minimum: 0", b"minimum: 1")
    return publish_files(files, team=team, user=alice).skill


def _api(client, user=None):
    if user:
        client.force_login(user)
    return Api(client)


def test_the_api_says_what_changed_and_what_it_may_now_do(client, bob, two):
    answer = _api(client, bob).get(f"{ADDRESS}?lines=1")
    found = json.loads(answer.content)
    assert answer.status_code == 200
    assert found["added_permissions"] == {"tools": ["Write"]}
    assert found["input_schema"] == [{"pointer": "/limit", "effect": "breaking", "reason": "minimum: 0 → 1"}]
    assert (found["breaking"], found["same_permissions"]) == (True, False)
    (file,) = found["files"]
    assert (file["kind"], file["path"]) == ("changed", "SKILL.md")
    assert {"before_line": 5, "after_line": 5}.items() <= file["lines"][0].items()


def test_lines_come_only_when_asked_for(client, bob, two):
    assert "lines" not in json.loads(_api(client, bob).get(ADDRESS).content)["files"][0]


@pytest.mark.row("P2")
def test_charlie_is_told_nothing(client, charlie, two):
    api = _api(client, charlie)
    assert api.get(ADDRESS).status_code == 404
    absent = ADDRESS.replace("weekly-report", "weakly-report")
    hidden, missing = api.get(ADDRESS).json(), api.get(absent).json()
    assert hidden["code"] == missing["code"] == "NOT_FOUND"


def test_a_version_that_is_not_there_is_refused(client, bob, two):
    assert _api(client, bob).get(ADDRESS.replace("1.3.0", "9.9.9")).status_code == 404


def test_shell_compares_versions(two, charlie):
    status, found = api("GET", "skills/docs/weekly-report/compare/1.2.0..1.3.0?lines=1")
    assert status == 0
    assert found["abilities"] == [{"name": "tools", "added": ["Write"], "removed": [], "broader": True}]
    assert any(line["after"] == "version: 1.3.0" for line in found["files"][0]["lines"])
    assert refusal("GET", "skills/docs/weekly-report/compare/1.2.0..1.3.0", by="charlie") == "NOT_FOUND"
