from __future__ import annotations

import json

import pytest

from tests.api.conftest import assert_error

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1")]

SKILL = "skills/docs/summarise"
VERSION = f"{SKILL}/versions/1.0.0"


def test_a_version_is_yanked_and_taken_back(version, as_alice, as_bob):
    once = {"Idempotency-Key": "yank-1"}
    first = as_alice.post(f"{VERSION}/yank", {"reason": "Wrong."}, headers=once)
    assert (first.status_code, first.json()["yank_reason"]) == (200, "Wrong.")
    again = as_alice.post(f"{VERSION}/yank", {"reason": "Wrong."}, headers=once)
    assert (again.content, again["Idempotency-Replayed"]) == (first.content, "true")
    assert as_bob.get(SKILL).json()["version"] is None
    assert_error(as_bob.get(f"{SKILL}/versions/latest"), 404, "NO_LATEST")
    shown = as_bob.get(VERSION).json()
    assert [notice["code"] for notice in shown["notices"]] == ["VERSION_YANKED"]
    assert as_bob.get(f"{VERSION}/archive").getvalue()
    assert_error(as_bob.post(f"{VERSION}/yank", {"reason": "x"}), 403, "FORBIDDEN")
    assert_error(as_alice.post(f"{VERSION}/yank", {}), 422, "FIELD_REQUIRED")
    assert as_alice("DELETE", f"{VERSION}/yank").json()["yanked_at"] is None
    assert as_bob.get(SKILL).json()["version"] == "1.0.0"


def test_a_channel_is_set_used_and_removed(version, as_alice, as_bob, public_version):
    asked = as_alice("PUT", f"{SKILL}/channels/stable", {"version": "1.0.0"})
    assert asked.json() == {"channels": {"stable": "1.0.0"}}
    assert as_bob.get(f"{SKILL}/channels").json() == asked.json()
    assert as_bob.get(f"{SKILL}/versions/stable").json()["channels"] == ["stable"]
    archive = as_bob.get(f"{SKILL}/versions/stable/archive")
    assert archive["ETag"] == f'"{version.digest}"'
    assert "immutable" not in archive["Cache-Control"]
    assert archive.getvalue()
    unchanged = as_bob.get(f"{SKILL}/versions/stable/archive", headers={"If-None-Match": archive["ETag"]})
    assert unchanged.status_code == 304
    assert_error(as_alice("PUT", f"{SKILL}/channels/1.0", {"version": "1.0.0"}), 422, "CHANNEL_NAME_INVALID")
    assert_error(as_bob("PUT", f"{SKILL}/channels/stable", {"version": "1.0.0"}), 403, "FORBIDDEN")
    assert as_alice("DELETE", f"{SKILL}/channels/stable").json() == {"channels": {}}
    assert_error(as_bob.get(f"{SKILL}/versions/stable"), 404, "NOT_FOUND")


def test_skill_and_version_are_deprecated_with_a_successor(version, publish, as_alice):
    publish({"SKILL.md": "---\nname: abstract\ndescription: Shorter.\n---\n"})
    said = as_alice.post(f"{SKILL}/deprecation", {"reason": "Old.", "successor": "docs/abstract"}).json()
    assert (said["deprecation_reason"], said["successor"]) == ("Old.", "docs/abstract")
    assert as_alice("DELETE", f"{SKILL}/deprecation").json()["deprecated_at"] is None
    assert_error(
        as_alice.post(f"{VERSION}/deprecation", {"reason": "Old.", "successor": "9.9.9"}),
        422,
        "SUCCESSOR_INVALID",
    )
    assert as_alice.post(f"{VERSION}/deprecation", {"reason": "Old."}).json()["deprecation_reason"] == "Old."
    assert as_alice("DELETE", f"{VERSION}/deprecation").json()["deprecation_reason"] == ""


def test_a_changelog_changes_for_who_read_the_present_one(version, as_alice):
    etag = as_alice.get(VERSION)["ETag"]
    changed = as_alice("PATCH", VERSION, {"changelog": "Now."}, headers={"If-Match": etag})
    assert (changed.json()["changelog"], changed.json()["digest"]) == ("Now.", version.digest)
    late = as_alice("PATCH", VERSION, {"changelog": "Then."}, headers={"If-Match": etag})
    assert_error(late, 412, "PRECONDITION_FAILED")


@pytest.mark.row("P12")
def test_a_purge_leaves_410_for_some_and_nothing_for_strangers(
    version, as_alice, as_bob, as_charlie, token_api, alice
):
    assert_error(token_api(alice).post(f"{VERSION}/purge", {"reason": "x"}), 403, "FORBIDDEN")
    assert_error(as_bob.post(f"{VERSION}/purge", {"reason": "x"}), 403, "FORBIDDEN")
    once = {"Idempotency-Key": "purge-1"}
    done = as_alice.post(f"{VERSION}/purge", {"reason": "A password."}, headers=once)
    assert done.json() == {"skill": "docs/summarise", "version": "1.0.0", "reason": "A password."}
    again = as_alice.post(f"{VERSION}/purge", {"reason": "A password."}, headers=once)
    assert again.content == done.content
    gone = assert_error(as_bob.get(VERSION), 410, "PURGED")
    assert "A password." in gone["message"]
    assert_error(as_charlie.get(VERSION), 404, "NOT_FOUND")
    assert as_alice.post(f"{SKILL}/purge", {"reason": "All."}).status_code == 200
    assert_error(as_bob.get(SKILL), 410, "PURGED")
    assert_error(as_charlie.get(SKILL), 404, "NOT_FOUND")


def test_an_old_address_answers_with_the_present_one(version, publish, as_alice, as_bob, as_charlie):
    renamed = as_alice.post(f"{SKILL}/rename", {"slug": "sum-up"})
    assert renamed.json()["skill"] == "docs/sum-up"
    assert as_bob.get(SKILL).json()["skill"] == "docs/sum-up"
    assert as_bob.get(VERSION).json()["url"].endswith("docs/sum-up/versions/1.0.0")
    assert_error(as_charlie.get(SKILL), 404, "NOT_FOUND")
    publish({"SKILL.md": "---\nname: abstract\ndescription: Shorter.\n---\n"})
    merged = as_alice.post("skills/docs/sum-up/merge", {"into": "docs/abstract"})
    assert merged.json()["skill"] == "docs/abstract"
    assert as_bob.get(SKILL).json()["skill"] == "docs/abstract"
    assert as_bob.get(VERSION).json()["digest"] == version.digest


def test_changes_tell_what_is_gone(version, as_alice, as_charlie, monkeypatch):
    from datetime import timedelta

    from registry.search.api import search

    monkeypatch.setattr(search, "SETTLE_TIME", timedelta(0))
    before = as_alice.get("changes").json()
    assert [item["removed_as"] for item in before["items"]] == [""]
    as_alice.post(f"{SKILL}/purge", {"reason": "x"})
    after = as_alice.get(f"changes?since={before['next_since']}").json()
    assert [(item["id"], item["removed_as"], item["version"]) for item in after["items"]] == [
        (version.skill.uid, "purged", None)
    ]
    assert as_charlie.get("changes").json()["items"] == []


@pytest.mark.row("P12")
def test_a_person_exports_and_erases_themselves(as_bob, bob, token_api, anonymous):
    answer = as_bob.get("me/export")
    assert json.loads(answer.getvalue())["account"]["username"] == "bob"
    assert as_bob.get("me/export", HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304
    assert_error(token_api(bob).get("me/export"), 403, "FORBIDDEN")
    assert_error(anonymous.get("me/export"), 401, "SIGN_IN_REQUIRED")
    assert_error(as_bob.post("me/erase", {"username": "alice"}), 422, "FIELD_INVALID")
    assert as_bob.post("me/erase", {"username": "bob"}).json() == {"pseudonym": f"erased-{bob.uid}"}
    assert_error(as_bob.get("me"), 401, "SIGN_IN_REQUIRED")
