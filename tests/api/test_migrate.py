import base64

import pytest

from registry.models import Version
from registry.packages.read_package import read_upload
from tests.api.conftest import archive, assert_error
from tests.factories.old_packages import METADATA, OLD

pytestmark = [pytest.mark.row("C14"), pytest.mark.django_db]
OLD_FILES = {"SKILL.md": OLD, "METADATA.yml": METADATA}


def test_an_old_package_is_sent_back_conforming_and_can_be_published(as_bob):
    assert as_bob.post("packages?team=docs", archive(OLD_FILES), kind="application/zip").status_code == 422
    answer = as_bob.post("packages/migrate", archive(OLD_FILES), kind="application/zip")
    document = answer.json()
    assert (answer.status_code, document["ok"], document["status"]) == (200, True, "migrated")
    assert "+++ b/scripts/execute.ts" in document["diff"]
    whole = base64.b64decode(document["archive"])
    assert read_upload(whole).ok
    assert not Version.objects.exists()
    published = as_bob.post("packages?team=docs", whole, kind="application/zip")
    assert (published.status_code, published.json()["digest"]) == (201, document["digest"])
    again = as_bob.post("packages/migrate", whole, kind="application/zip").json()
    assert (again["status"], again["diff"], again["digest"]) == ("unchanged", "", document["digest"])


def test_a_dry_run_leaves_the_archive_out(as_bob):
    document = as_bob.post("packages/migrate?dry_run=1", OLD.encode(), kind="text/markdown").json()
    assert (document["archive"], document["status"], document["slug"]) == ("", "migrated", "old-one")


def test_what_cannot_be_migrated_says_every_reason(as_bob):
    files = {**OLD_FILES, "tool.py": "print(1)\n"}
    document = as_bob.post("packages/migrate", archive(files), kind="application/zip").json()
    assert (document["ok"], document["status"]) == (False, "refused")
    assert "CODE_OUTSIDE_SCRIPTS" in {one["code"] for one in document["problems"]}
    assert_error(as_bob.post("packages/migrate", b"PK\3\4", kind="application/zip"), 422, "ARCHIVE_TRUNCATED")


def test_strangers_migrate_nothing(anonymous):
    assert_error(
        anonymous.post("packages/migrate", archive(OLD_FILES), kind="application/zip"),
        401,
        "SIGN_IN_REQUIRED",
    )
