"""The skills API of OpenAI: what its SDK sends, and the answers that it accepts."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get, send_files
from tests.registry.facades.test_anthropic import FILES, delete, zipped

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
API = "/openai/v1/skills"


def create(headers, *, status=200):
    return send_files(API, {"csv-clean.zip": zipped(FILES)}, headers, field="files", status=status).json()


def test_skill_is_created_listed_changed_and_deleted(member):
    skill = create(member)
    assert (skill["object"], skill["name"], skill["default_version"]) == ("skill", "csv-clean", "0.1.0")
    uid = skill["id"]
    changed = {**FILES, "csv-clean/scripts/a.py": b"print(2)\n"}
    version = send_files(f"{API}/{uid}/versions", changed, member).json()
    assert (version["object"], version["skill_id"], version["version"]) == ("skill.version", uid, "0.1.1")
    rows = get(API, **member).json()
    assert (rows["object"], rows["first_id"], rows["last_id"], rows["has_more"]) == ("list", uid, uid, False)
    assert rows["data"][0]["latest_version"] == "0.1.1"
    versions = get(f"{API}/{uid}/versions?order=asc", **member).json()["data"]
    assert [row["version"] for row in versions] == ["0.1.0", "0.1.1"]
    newest = get(f"{API}/{uid}/content", **member).getvalue()
    assert newest == get(f"{API}/{uid}/versions/0.1.1/content", **member).getvalue()
    assert newest != get(f"{API}/{uid}/versions/0.1.0/content", **member).getvalue()

    gone = delete(f"{API}/{uid}/versions/0.1.1", member)
    assert (gone["object"], gone["deleted"], gone["version"]) == ("skill.version.deleted", True, "0.1.1")
    assert get(f"{API}/{uid}", **member).json()["latest_version"] == "0.1.0"
    assert delete(f"{API}/{uid}", member) == {"id": uid, "object": "skill.deleted", "deleted": True}
    assert get(f"{API}/{uid}", status=404, **member).json()["error"]["code"] == "NOT_FOUND"


def test_default_version_is_the_latest(member):
    uid = create(member)["id"]
    for number, status in (("0.1.0", 200), ("0.1.9", 404)):
        body = json.dumps({"default_version": number})
        answer = Client().post(f"{API}/{uid}", body, "application/json", headers=member)
        assert answer.status_code == status


def test_lists_have_pages(member, team, alice):
    for number in ("1.1.0", "1.2.0", "1.3.0"):
        version = publish_files(tidy_files(number), team=team, user=alice)
    path = f"{API}/skill_{version.skill.uid}/versions"
    first = get(f"{path}?limit=2", **member).json()
    second = get(f"{path}?limit=2&after={first['last_id']}", **member).json()
    assert [row["version"] for page in (first, second) for row in page["data"]] == ["1.3.0", "1.2.0", "1.1.0"]
    assert (first["has_more"], second["has_more"]) == (True, False)
    get(f"{path}?after=skver_none", status=400, **member)


@pytest.mark.row("P2")
def test_stranger_learns_nothing_of_a_private_skill(team, alice, charlie, token_of):
    version = publish_files(tidy_files(), team=team, user=alice)
    headers = {**token_of(charlie), "x-request-id": "stranger-1"}
    for path in ("", "/content", "/versions", "/versions/1.2.0", "/versions/1.2.0/content"):
        there, absent = f"{API}/skill_{version.skill.uid}{path}", f"{API}/skill_{'0' * 26}{path}"
        answers = [get(each, status=404, **headers).content for each in (there, absent)]
        assert answers[0].replace(version.skill.uid.encode(), b"0" * 26) == answers[1]
    place = f"{API}?after=skill_{version.skill.uid}"
    assert (
        get(place, status=400, **headers).content
        == get(f"{API}?after=skill_0", status=400, **headers).content
    )
    assert get(API, **headers).json()["data"] == []


@pytest.mark.row("P2")
def test_scopes_are_enforced(alice, team, token_of):
    create(token_of(alice, "read"), status=403)
    assert create({}, status=401)["error"]["type"] == "authentication_error"


@pytest.mark.parametrize("path", [API, f"{API}/x", f"{API}/x/versions", "/openai/v1/none"])
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=b", "application/json", "text/plain"])
@pytest.mark.parametrize("body", [b"", b"--b\r\n", b"\xff\0" * 50, b'{"default_version": []}'])
def test_malformed_request_gets_an_error_of_the_api(member, path, kind, body):
    answer = Client().post(path, body, kind, headers=member)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["message"]
