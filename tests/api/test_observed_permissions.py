"""Declared permissions of a version against the accesses of its runs, by API and on pages."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.api.conftest import SKILL_MD, archive, assert_error
from tests.factories.runs import make_run
from tests.pages import part
from worker.daily_runs.roll_up import roll_up
from worker.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6")]
SECURITY = """security:
  network: allowlist
  network_allowlist: ["*.example.com", "https://unused.example.org/x"]
  secrets: [API_KEY, OLD_KEY]
"""


@pytest.fixture
def used(publish, alice, bob, team):
    """A version with a run of Bob's and one of Alice's: connections, a secret and a child run."""
    version = publish({"SKILL.md": SKILL_MD.replace("---\n# S", f"{SECURITY}---\n# S")})
    for user in (alice, bob):
        run = make_run(version, user, team, grants={"secrets": {"API_KEY": "x"}})
        network = [
            {"host": "api.example.com", "port": 443, "allowed": True, "count": 2},
            {"host": "evil.example.net", "port": 443, "allowed": False, "code": "X", "count": 1},
        ]
        Attempt.objects.filter(run=run).update(network=network)
    make_run(version, alice, team, skill_label="docs/other", skill=None, parent=run, root=run, number=9)
    roll_up()
    return version


def test_accesses_of_readable_runs_are_compared_with_the_manifest(used, as_alice, as_bob, as_charlie):
    address = "skills/docs/summarise/versions/1.0.0/observed-permissions"
    found = as_alice.get(address).json()
    rows = {row["name"]: (row["declared"], row["used"], row["refused"]) for row in found["accesses"]}
    assert (found["version"], found["runs"]) == ("1.0.0", 2)
    assert rows == {
        "*.example.com": (True, 4, 0),
        "https://unused.example.org/x": (True, 0, 0),
        "evil.example.net": (False, 0, 2),
        "API_KEY": (True, 2, 0),
        "OLD_KEY": (True, 0, 0),
        "docs/other": (False, 1, 0),
    }
    assert as_bob.get(address).json()["runs"] == 1  # a member reads only their own runs
    assert_error(as_charlie.get(address), 404, "NOT_FOUND")


def test_page_of_the_version_and_preview_of_the_next_one_show_accesses(used, client, alice):
    client.force_login(alice)
    page = client.get("/skills/docs/summarise/1.0.0/")
    assert part(page, "access", value="evil.example.net")["state"] == "undeclared"
    assert part(page, "access", value="OLD_KEY")["state"] == "unused"
    text = SKILL_MD.replace("1.0.0", "1.1.0")
    package = archive({"SKILL.md": text, "scripts/main.py": "print(1)\n"})
    form = {"archive": SimpleUploadedFile("a.zip", package), "team": "docs", "check": "1"}
    assert part(client.post("/publish/", form), "observed")["value"] == "1.0.0"
