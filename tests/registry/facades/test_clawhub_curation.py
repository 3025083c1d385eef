"""Stars, reports, deletion and restoration by ClawHub clients."""

from __future__ import annotations

import pytest
from django.test import Client

from registry.models import AuditEntry, Membership, PinnedSkill, Report, Version
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get, post

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
API = "/clawhub/api/v1"
SKILL = f"{API}/skills/weekly-report"


def delete(path, headers, body=None, *, status=200):
    answer = Client().delete(path, body or {}, "application/json", headers=headers)
    assert answer.status_code == status, answer.content
    return answer


def usable():
    return sorted(Version.objects.usable().values_list("number", flat=True))


def test_star_pins_the_skill_once(member, alice, report):
    path = f"{API}/stars/weekly-report"
    first = post(path, {}, member).json()
    assert first == {"ok": True, "starred": True, "alreadyStarred": False}
    assert post(f"{path}?ownerHandle=docs", b"", member).json()["alreadyStarred"] is True
    assert PinnedSkill.objects.get().user == alice
    assert get(SKILL).json()["skill"]["stats"]["stars"] == 1
    assert get(f"{API}/skills").json()["items"][0]["stats"]["stars"] == 1
    assert delete(path, member).json() == {"ok": True, "unstarred": True, "alreadyUnstarred": False}
    assert delete(path, member).json()["alreadyUnstarred"] is True
    assert get(SKILL).json()["skill"]["stats"]["stars"] == 0


def test_deletion_yanks_all_versions_and_restoration_undoes_only_it(member, team, alice, report, token_of):
    for number in ("1.3.0", "1.4.0"):
        publish_files(tidy_files(number), team=team, user=alice)
    delete(f"{SKILL}/versions/1.3.0", member, {"version": "1.3.0"})
    assert usable() == ["1.2.0", "1.4.0"]
    delete(SKILL, member, {"reason": "Merged.", "ownerHandle": "docs"})
    assert usable() == []
    assert get(SKILL).json()["latestVersion"] is None
    assert get(f"{SKILL}/install", status=409).json()["reason"] == "archive_version_missing"
    assert b"(TOKEN_SCOPE_MISSING)" in post(f"{SKILL}/undelete", {}, member, status=403).content
    settings = token_of(alice, "publish", "settings")
    post(f"{SKILL}/undelete", {}, settings)
    assert usable() == ["1.2.0", "1.4.0"]
    post(f"{SKILL}/versions/1.3.0/restore", {"version": "1.3.0"}, settings)
    assert usable() == ["1.2.0", "1.3.0", "1.4.0"]
    assert AuditEntry.objects.filter(action="version.yank").count() == 3


def test_held_version_is_deleted_and_restored_by_its_team_only(team, alice, report, charlie, token_of):
    held = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    rows = Version.objects.filter(pk=held.pk)
    rows.update(held_at=held.created_at)
    mine, other = token_of(alice, "publish", "settings"), token_of(charlie, "publish", "settings")
    delete(f"{SKILL}/versions/1.3.0", other, status=404)
    delete(f"{SKILL}/versions/1.3.0", mine)
    assert rows.get().yanked_at
    post(f"{SKILL}/versions/1.3.0/restore", {}, other, status=404)
    post(f"{SKILL}/versions/1.3.0/restore", {}, mine)
    assert (rows.get().yanked_at, rows.get().is_held) == (None, True)


def test_report_is_filed_once(member, report, bob, token_of):
    path, body = f"{SKILL}/report", {"reason": "It deletes my files.", "version": "1.2.0"}
    first = post(path, body, member).json()
    assert (first["reported"], first["alreadyReported"], first["reportCount"]) == (True, False, 1)
    again = post(path, {"reason": "Again."}, member).json()
    assert (again["reportId"], again["alreadyReported"]) == (first["reportId"], True)
    assert Report.objects.get().text == "It deletes my files."
    assert post(path, body, token_of(bob)).json()["reportCount"] == 1


@pytest.mark.row("P2")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", f"{API}/stars/%s"),
        ("delete", f"{API}/stars/%s"),
        ("delete", f"{API}/skills/%s"),
        ("post", f"{API}/skills/%s/undelete"),
        ("delete", f"{API}/skills/%s/versions/1.2.0"),
        ("post", f"{API}/skills/%s/versions/1.2.0/restore"),
        ("post", f"{API}/skills/%s/report"),
    ],
)
def test_stranger_learns_nothing_of_a_private_skill(team, alice, charlie, token_of, method, path):
    publish_files(tidy_files(), team=team, user=alice)
    headers, answers = token_of(charlie, "read", "publish", "settings"), []
    for slug in ("weekly-report", "weekly-rxport"):
        send = getattr(Client(headers={"x-request-id": "stranger-1"}), method)
        answer = send(path % slug, {"reason": "x"}, "application/json", headers=headers)
        assert answer.status_code == 404
        answers.append(answer.content.decode().replace("rxport", "report"))
    assert answers[0] == answers[1]


def test_members_and_tokens_without_the_scope_delete_nothing(team, report, bob, alice, token_of):
    Membership.objects.filter(user=bob).update(role="member")
    delete(SKILL, token_of(bob), status=403)
    assert b"(TOKEN_SCOPE_MISSING)" in delete(SKILL, token_of(alice, "read"), status=403).content
    assert usable() == ["1.2.0"]


@pytest.mark.parametrize("path", [f"{SKILL}/report", f"{SKILL}/undelete", f"{API}/stars/weekly-report"])
@pytest.mark.parametrize("body", [b"{", b"[]", b"7", b'{"reason": {}}', b'{"ownerHandle": []}', b"\xff"])
def test_malformed_body_is_refused_as_text(alice, report, token_of, path, body):
    headers = token_of(alice, "publish", "settings")
    answer = Client().post(path, body, "application/json", headers=headers)
    assert answer.status_code < 500
    assert answer.status_code == 200 or answer["Content-Type"].startswith("text/plain")
