import pytest

from registry.core.errors import UNAVAILABLE
from registry.storage.errors import BLOB_MISSING
from tests.api.conftest import assert_error

pytestmark = [pytest.mark.row("C2"), pytest.mark.django_db]
ADDRESS = "skills/docs/summarise/versions/1.0.0/profiles"


def test_a_version_fares_under_each_profile(as_bob, version):
    rows = {row["profile"]: row for row in as_bob.get(ADDRESS).json()["profiles"]}
    assert set(rows) == {"agentskills", "apexbridge", "single-file"}
    assert {name: (row["enforced"], row["ok"]) for name, row in rows.items()} == {
        "agentskills": (True, True),
        "apexbridge": (False, False),
        "single-file": (False, True),
    }
    missing = [one for one in rows["apexbridge"]["problems"] if one["code"] == "FIELD_MISSING"]
    assert missing
    assert all(one["path"] == "SKILL.md" and one["line"] and one["remedy"] for one in missing)


def test_limits_lowered_since_leave_the_own_profile(as_bob, version, settings):
    settings.SKILLQUAY_MAX_ARCHIVE_ENTRIES = 1
    assert [row["profile"] for row in as_bob.get(ADDRESS).json()["profiles"]] == ["agentskills"]


@pytest.mark.parametrize(
    ("refused", "status"),
    [(BLOB_MISSING.refusal(digest="sha256:0"), 500), (UNAVAILABLE.refusal(), 503)],
)
def test_a_storage_that_fails_is_an_error(as_bob, version, monkeypatch, refused, status):
    def read(digest):
        raise refused

    monkeypatch.setattr("registry.storage.blobs.read", read)
    assert_error(as_bob.get(ADDRESS), status, refused.code)


def test_strangers_learn_nothing_of_it(as_charlie, version):
    assert_error(as_charlie.get(ADDRESS), 404, "NOT_FOUND")
