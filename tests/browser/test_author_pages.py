"""A skill is started, tried, edited and tried again in a browser, with scripts and without."""

from __future__ import annotations

import pytest

from registry.models import Skill, Version
from tests.checks import not_none
from tests.factories.skills import publish_files, tidy_files
from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("C1", "P3", "P8", "P11"),
]
PUBLISHED = "[data-part=message][data-kind=success]"


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


def _try(page, text):
    page.wait_for_url("**/run/")
    page.fill("textarea[id^=id_input], input[id^=id_input]", text)
    page.click("button[name=run]")
    page.wait_for_url("**/runs/*/")
    execute_here(not_none(Run.objects.order_by("pk").last()))
    page.reload()
    page.wait_for_selector("text=result.json")


@pytest.mark.full
@pytest.mark.parametrize("look", [{}, {"java_script_enabled": False}], ids=["scripts", "no-scripts"])
def test_start_try_edit_and_try_again(page, sign_in, axe, look, team, bob):
    scripted = not look
    sign_in(bob)
    page.goto("/publish/new/")
    if scripted:
        axe()
    page.check("input[value=python]")
    page.fill("#id_name", "line-count")
    page.fill("#id_title", "行数统计")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-part=preview][data-value='2']")
    if scripted:
        axe()
    page.click("button[form=start][name=publish]")
    page.wait_for_selector(f"{PUBLISHED}:has-text('docs/line-count@0.1.0')")
    _try(page, "one")
    page.goto("/skills/docs/line-count/")
    page.click("[data-action=edit]")
    page.wait_for_url("**/0.1.0/edit/")
    if scripted:
        axe()
    area = page.locator("label:has-text('scripts/measure.py') + textarea")
    area.fill(area.input_value().replace('"lines":', '"rows":'))
    page.click("aside button[name=check]")
    page.wait_for_selector("[data-part=preview][data-state=ready][data-value='0.1.1']")
    if scripted:
        axe()
    page.click("button[form=edit][name=publish]")
    page.wait_for_selector(f"{PUBLISHED}:has-text('docs/line-count@0.1.1')")
    page.click(".page-title a.primary")
    _try(page, "two")
    assert page.locator("text=rows").count()
    assert sorted(Version.objects.values_list("number", flat=True)) == ["0.1.0", "0.1.1"]


@pytest.mark.full
def test_problems_and_conflicts_are_shown_beside_the_editors(page, sign_in, axe, team, alice, bob):
    publish_files(tidy_files(), team=team, user=alice)
    sign_in(bob)
    page.goto("/skills/docs/weekly-report/1.2.0/edit/")
    area = page.locator("label:has-text('SKILL.md') + textarea")
    before = area.input_value()
    area.fill(
        before.replace("limit:", "limit: [").replace("license: MIT", "type: odd\nttl: soon\nlicense: MIT")
    )
    page.click("aside button[name=check]")
    page.wait_for_selector("[data-part=preview][data-state=invalid]")
    assert page.locator("#file-0 >> text=FRONT_MATTER_INVALID").is_visible()
    axe()
    area = page.locator("label:has-text('SKILL.md') + textarea")
    assert "ttl: soon" in area.input_value()
    area.fill(before.replace("Reads notes", "Reads all notes"))
    assert not page.query_selector("button[name=publish]"), "offered only without errors"
    page.click("aside button[name=check]")
    page.wait_for_selector("[data-part=preview][data-state=ready]")
    publish_files(tidy_files("1.2.5"), team=team, user=alice)
    page.click("button[form=edit][name=publish]")
    page.wait_for_selector("[data-part=refusal][data-code=EDIT_CONFLICT][data-value='1.2.5']")
    axe()
    page.check("input[value=minor]")
    page.click("aside button[name=publish]")
    page.wait_for_selector(f"{PUBLISHED}:has-text('docs/weekly-report@1.3.0')")
    assert "Reads all notes" in not_none(Skill.objects.get().latest).body


def test_a_broken_upload_is_explained_by_file(page, sign_in, axe, team, bob):
    sign_in(bob)
    page.goto("/publish/")
    page.click("details:has(#id_text) > summary")
    page.fill(
        "#id_text", "---\nname: Broken\ntype: direct\nversion: one\nttl: soon\ntags: a, b\n---\nSays.\n"
    )
    page.click("button[name=publish]")
    page.wait_for_selector("[data-part=refusal]")
    axe()
    page.click("p.row button[name=check]")
    page.wait_for_selector("[data-part=preview][data-state=invalid]")
    assert not page.query_selector("button[name=publish]")
    axe()
