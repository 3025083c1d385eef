"""The skills API of Anthropic: what its SDKs send, and the answers that they accept."""

from __future__ import annotations

import hashlib
import io
import zipfile

import pytest
from django.test import Client

from registry.canonical.pins import set_canonical
from registry.identity.actors import Actor
from registry.models import Membership, Skill, Team, Use, Version
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get, send_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
API = "/anthropic/v1/skills"
FILES = {
    "csv-clean/SKILL.md": b"---\nname: csv-clean\ndescription: Clean CSV files.\n---\n# x\n",
    "csv-clean/scripts/a.py": b"print(1)\n",
}


def delete(path, headers, *, status=200):
    answer = Client().delete(path, headers=headers)
    assert answer.status_code == status, answer.content
    return answer.json()


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return buffer.getvalue()


def create(headers, files=FILES, *, status=200):
    return send_files(API, files, headers, status=status, display_name="CSV Clean").json()


def test_skill_is_created_listed_changed_and_deleted(member):
    skill = create(member)
    assert (skill["type"], skill["source"], skill["latest_version"]) == ("skill", {"type": "custom"}, "0.1.0")
    uid = skill["id"]
    changed = {**FILES, "csv-clean/scripts/a.py": b"print(2)\n"}
    version = send_files(f"{API}/{uid}/versions", {"csv-clean.zip": zipped(changed)}, member).json()
    assert (version["type"], version["skill_id"], version["version"]) == ("skill_version", uid, "0.1.1")
    assert [row["id"] for row in get(API, **member).json()["data"]] == [uid]
    assert get(f"{API}/{uid}", **member).json()["latest_version_id"] == version["id"]
    rows = get(f"{API}/{uid}/versions", **member).json()
    assert [row["version"] for row in rows["data"]] == ["0.1.1", "0.1.0"]
    assert get(f"{API}/{uid}/versions/{version['id']}", **member).json() == version

    archive = get(f"{API}/{uid}/versions/{version['id']}/content", **member)
    stored = Version.objects.get(number="0.1.1")
    assert archive["ETag"] == f'"{stored.digest}"'
    assert zipfile.ZipFile(io.BytesIO(archive.getvalue())).read("scripts/a.py") == b"print(2)\n"
    assert Use.objects.get().last_kind == "install"

    gone = delete(f"{API}/{uid}/versions/{version['id']}", member)
    assert (gone["id"], gone["type"]) == (version["id"], "skill_version_deleted")
    assert get(f"{API}/{uid}", **member).json()["latest_version"] == "0.1.0"
    assert delete(f"{API}/{uid}", member) == {"id": uid, "type": "skill_deleted"}
    assert get(f"{API}/{uid}", status=404, **member).json()["error"]["type"] == "not_found_error"
    assert get(API, **member).json()["data"] == []


def test_token_as_api_key_is_accepted_and_wrong_one_refused(member):
    create(member)
    secret = member["Authorization"].removeprefix("Bearer ")
    assert get(API, **{"X-Api-Key": secret}).json()["data"]
    document = get(API, status=401, **{"X-Api-Key": "sk-ant-none"}).json()
    assert (document["type"], document["error"]["type"]) == ("error", "authentication_error")
    assert document["request_id"]


def test_lists_have_pages(member, team, alice):
    for number in ("1.1.0", "1.2.0", "1.3.0"):
        version = publish_files(tidy_files(number), team=team, user=alice)
    path = f"{API}/skill_{version.skill.uid}/versions"
    first = get(f"{path}?limit=2", **member).json()
    second = get(f"{path}?limit=2&page={first['next_page']}", **member).json()
    assert [row["version"] for page in (first, second) for row in page["data"]] == ["1.3.0", "1.2.0", "1.1.0"]
    assert (first["has_more"], second["has_more"], second["next_page"]) == (True, False, None)
    assert get(f"{API}?source=anthropic", **member).json()["data"] == []


def test_existing_name_and_other_name_are_refused(member):
    uid = create(member)["id"]
    assert "SKILL_EXISTS" in create(member, status=409)["error"]["message"]
    other = {"x/SKILL.md": b"---\nname: other\ndescription: Other.\n---\n# x\n"}
    answer = send_files(f"{API}/{uid}/versions", other, member, status=400).json()
    assert answer["error"]["type"] == "invalid_request_error"
    assert Skill.objects.count() == 1


def test_canonical_skill_has_one_id(report, alice, administrator):
    set_canonical("weekly-report", report, Actor(user=administrator), reason="Best.")
    document = get(f"{API}/canonical_weekly-report").json()
    assert (document["id"], document["latest_version"]) == ("canonical_weekly-report", "1.2.0")
    archive = get(f"{API}/canonical_weekly-report/versions/latest/content")
    assert f"sha256:{hashlib.sha256(archive.getvalue()).hexdigest()}" == report.digest


@pytest.mark.row("P2")
def test_stranger_learns_nothing_of_a_private_skill(team, alice, charlie, token_of):
    version = publish_files(tidy_files(), team=team, user=alice)
    headers = {**token_of(charlie), "x-request-id": "stranger-1"}
    for path in ("", "/versions", "/versions/1.2.0", f"/versions/skver_{version.uid}/content"):
        there, absent = f"{API}/skill_{version.skill.uid}{path}", f"{API}/skill_{'0' * 26}{path}"
        answers = [get(each, status=404, **headers).content for each in (there, absent)]
        assert answers[0].replace(version.skill.uid.encode(), b"0" * 26) == answers[1]
    delete(f"{API}/skill_{version.skill.uid}", headers, status=404)
    assert get(API, **headers).json()["data"] == []


@pytest.mark.row("P2")
def test_scopes_and_teams_are_enforced(member, alice, bob, team, token_of):
    create(token_of(alice, "read"), status=403)
    create({}, status=401)
    other = Team.objects.create(slug="other", name="Other")
    Membership.objects.create(team=other, user=alice, role="member")
    assert "FIELD_INVALID" in create(member, status=400)["error"]["message"]  # which of the two teams?
    uid = create({**member, "Anthropic-Workspace-Id": "docs"})["id"]
    delete(f"{API}/{uid}", token_of(bob), status=403)  # only maintainers yank


@pytest.mark.parametrize("path", [API, f"{API}/x", f"{API}/x/versions", "/anthropic/v1/none"])
@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=b", "text/plain"])
@pytest.mark.parametrize("body", [b"", b"--b\r\n", b"\xff\0" * 50, b"--b\r\nContent-Disposition: x\r\n\r\n"])
def test_malformed_request_gets_an_error_of_the_api(member, path, kind, body):
    answer = Client().post(path, body, kind, headers=member)
    assert 400 <= answer.status_code < 500
    assert answer.json()["type"] == "error"
