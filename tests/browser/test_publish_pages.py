"""A newcomer publishes and runs a package; a dropped folder is checked and repaired; runs are approved."""

from __future__ import annotations

import pytest

from registry.models import Version
from tests.checks import not_none
from tests.factories.archives import zip_of
from tests.factories.skills import tidy_files
from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OWN: dict[str, bytes | str] = {
    "SKILL.md": "---\nname: own-report\ndescription: Counts orders.\n---\nRun scripts/report.py.\n",
    "scripts/report.py": "import json\n\nprint(json.dumps({'orders': 3}))\n",
}


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


class Clicks:
    """Clicks on selectors of the page, and counts the clicks."""

    def __init__(self, page):
        self.page, self.count = page, 0

    def __call__(self, selector):
        self.count += 1
        self.page.click(selector)


@pytest.fixture
def press(page):
    return Clicks(page)


@pytest.mark.full
@pytest.mark.row("P3", "P8", "P11")
@pytest.mark.parametrize("look", [{}, {"java_script_enabled": False}], ids=["scripts", "no-scripts"])
def test_a_newcomer_gets_a_result_of_an_own_package_in_eight_clicks(
    page, press, look, django_user_model, tmp_path
):
    django_user_model.objects.create_user("erin", password="erin-password")
    archive = tmp_path / "weekly-report.zip"
    archive.write_bytes(zip_of(OWN))
    page.goto("/")
    press("a[href^='/sign-in/']")
    page.fill("input[name=username]", "erin")
    page.fill("input[name=password]", "erin-password")
    press("main form button")
    press("[data-part=first-step][data-value=team] a")
    page.fill("input[name=name]", "Erin")
    page.fill("input[name=slug]", "erins-team")
    press("main form button.primary")
    page.wait_for_url("**/publish/?team=erins-team")
    page.set_input_files("input[name=archive]", archive)
    press.count += 1  # opens the file dialog
    press("#publish [name=publish]")
    press("[data-part=message] [data-action=run]")
    press("form button[name=run]")
    page.wait_for_url("**/runs/*/")
    execute_here(not_none(Run.objects.last()))
    page.reload()
    assert Run.objects.get().status == "succeeded"
    assert "orders" in page.inner_text("main")
    assert press.count <= 8


@pytest.mark.row("C2", "P3", "P8")
def test_a_dropped_folder_is_checked_and_repaired_on_the_page(page, sign_in, axe, team, bob, tmp_path, drop):
    files = tidy_files()
    files["SKILL.md"] = b"---\nname: weekly-report\ndescription: Reports.\ntype: direct\n---\n"
    for path, data in files.items():
        (tmp_path / "report" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "report" / path).write_bytes(data)
    sign_in(bob)
    page.goto("/publish/")
    box = page.locator(".drop")
    assert box.locator("[data-drop-hint]").is_visible()
    assert box.evaluate("box => getComputedStyle(box).borderTopStyle") == "dashed"
    drop(tmp_path / "report")
    page.wait_for_selector("[data-part=preview][data-state=invalid]")
    axe()
    page.click("[data-action=fix][value='remove:type']")
    page.wait_for_selector("[data-part=preview][data-state=ready]")
    page.click("[name=publish]")
    page.wait_for_selector("[data-part=message] [data-action=run]")
    assert set(Version.objects.get().files.values_list("path", flat=True)) == set(files)
