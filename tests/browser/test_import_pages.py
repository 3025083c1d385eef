"""The page of a running import in a real browser."""

from __future__ import annotations

import pytest

from registry.models import ImportStatus, Source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P8")]


@pytest.fixture
def report(team, alice):
    source = Source.objects.create(
        team=team,
        kind="git",
        location="https://git.example.org/a-long-name-of-a-team/skills-for-everything.git",
        options={"branch": "main", "path": "skills"},
        last_revision="4be1f0" * 6 + "abcd",
        created_by=alice,
    )
    made = source.imports.create(status=ImportStatus.RUNNING, total=3, processed=2, requested_by=alice)
    made.rows.create(path="one", outcome="published", skill="docs/one", version="1.2.0")
    bad = {
        "code": "FRONT_MATTER_INVALID",
        "path": "SKILL.md",
        "line": 3,
        "params": {"reason": "a bracket is open"},
    }
    found = [{**bad, "severity": "error"}]
    made.rows.create(path="deep/er/two", outcome="refused", skill="docs/two", problems=found)
    return made


def test_report_of_a_running_import_follows_it_to_its_end(page, sign_in, axe, report, alice):
    sign_in(alice)
    page.goto(f"/imports/{report.uid}/")
    axe()
    report.status, report.processed = ImportStatus.DONE, 3
    report.save()
    page.wait_for_selector("#progress-part:not([hx-get])")
    assert page.locator("#progress-part > [role=status] > [data-state=done]").count() == 1
