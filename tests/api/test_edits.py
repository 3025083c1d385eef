from __future__ import annotations

import pytest

from registry.models import Version
from tests.api.conftest import assert_error
from tests.checks import not_none

pytestmark = [pytest.mark.row("P1", "P3"), pytest.mark.django_db]
EDITS = "skills/docs/summarise/versions/1.0.0/edits"


def test_named_texts_change_and_the_rest_stays(version, as_bob):
    files = {"references/notes.md": None, "references/new.md": "# New\n", "scripts/main.py": "print(1)\n"}
    answer = as_bob.post(
        EDITS, {"files": files, "bump": "minor", "changelog": "New.", "base_digest": version.digest}
    )
    document = answer.json()
    assert (answer.status_code, document["version"], document["created"]) == (201, "1.1.0", True)
    found = Version.objects.get(number="1.1.0")
    assert set(found.files.values_list("path", flat=True)) == {
        "SKILL.md",
        "references/new.md",
        "scripts/main.py",
    }
    assert (found.changelog, found.manifest["version"], not_none(found.published_by).username) == (
        "New.",
        "1.1.0",
        "bob",
    )
    assert (
        as_bob.get(document["url"].partition("/api/v1/")[2] + "/files/scripts/main.py").content
        == b"print(1)\n"
    )


def test_a_newer_version_is_noticed(version, publish, as_bob):
    publish({"SKILL.md": "---\nname: summarise\ndescription: Other.\nversion: 1.0.1\n---\n"})
    body = {"files": {"scripts/main.py": "print(2)\n"}, "bump": "major"}
    assert_error(as_bob.post(EDITS, {**body, "base_digest": version.digest}), 409, "EDIT_CONFLICT")
    assert as_bob.post(EDITS, body).json()["version"] == "2.0.0"


def test_the_same_key_edits_once(version, as_bob):
    body = {"files": {"scripts/main.py": "print(3)\n"}}
    first, again = (as_bob.post(EDITS, body, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.json() == again.json()
    assert Version.objects.count() == 2


def test_what_is_wrong_is_said_and_nothing_is_kept(version, as_bob, as_charlie, token_api, bob):
    broken = {"files": {"SKILL.md": "---\nname: summarise\ntype: direct\n---\n", "../x": "y"}}
    assert_error(as_bob.post(EDITS, broken), 422, "PATH_UNSAFE")
    del broken["files"]["../x"]
    document = assert_error(as_bob.post(EDITS, broken), 422, "DESCRIPTION_MISSING")
    assert len(document["problems"]) > 8
    assert_error(as_bob.post(EDITS, {"files": {}}), 422, "FIELD_INVALID")
    assert_error(as_bob.post(EDITS, {"files": {"SKILL.md": 1}, "bump": "giant"}), 422, "FIELD_INVALID")
    assert_error(as_charlie.post(EDITS, {"files": {"a.md": "x"}}), 404, "NOT_FOUND")
    assert_error(token_api(bob, "read").post(EDITS, {"files": {"a.md": "x"}}), 403, "TOKEN_SCOPE_MISSING")
    assert Version.objects.count() == 1
