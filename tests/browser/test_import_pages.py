"""The pages of imports in a real browser: looked at, and followed while an import goes on."""

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


def test_the_pages_of_imports_shut_nobody_out_and_follow(page, sign_in, axe, shot, report, alice):
    sign_in(alice)
    for name, address in (
        ("list", "/imports/"),
        ("new", "/imports/new/"),
        ("report", f"/imports/{report.uid}/"),
    ):
        page.goto(address)
        axe()
        shot(f"imports-{name}")
    report.status, report.processed = ImportStatus.DONE, 3
    report.save()
    page.wait_for_selector("#progress-part:not([hx-get])")
    assert page.locator("#progress-part > [role=status] > [data-state=done]").count() == 1
