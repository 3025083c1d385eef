"""Finding: the try-it page, the filters and the glossary, by mouse, by keyboard and without scripts."""

from __future__ import annotations

import pytest

from portal.presenters.reasons import FIELDS
from registry.models import Skill
from tests.factories.skills import prompt_files, publish_files, tidy_files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHRASES = "triggers: {phrases: [wrap up my week, 写周报]}\ntags:"


@pytest.fixture
def catalog(team, alice):
    files = tidy_files()
    files["SKILL.md"] = files["SKILL.md"].replace(b"tags:", PHRASES.encode())
    publish_files(files, team=team, user=alice, visibility="public")
    publish_files(prompt_files(), team=team, user=alice, visibility="public")
    Skill.objects.update(is_bundled=True)  # so that they are offered to the administrator, too


@pytest.mark.row("C4")
@pytest.mark.parametrize("look", [{"java_script_enabled": False}])
def test_without_scripts_a_sentence_leads_from_the_catalog_to_a_skill(page, sign_in, catalog, alice):
    sign_in(alice)
    page.goto("/skills/")
    page.fill("#q", "Please wrap up my week")
    page.press("#q", "Enter")
    best = page.locator("[data-part=best-match]")
    assert best.locator("[data-part=reason] mark").inner_text() == "wrap up my week"
    page.click(".found a[href^='/skills/match/']")
    assert "/skills/match/test/?q=Please%20wrap%20up%20my%20week" in page.url
    mark = page.locator("[data-part=sentence] mark")
    assert mark.inner_text() == "wrap up my week"
    assert mark.get_attribute("title") == f"docs/weekly-report: {FIELDS['phrases']}"
    page.click("[data-part=feedback] summary >> nth=0")
    page.click("button[value=wrong_skill] >> nth=0")
    assert page.locator("[data-part=message][data-kind=success]").count() == 1
    assert Skill.objects.get(slug="weekly-report").proposed_tests.count() == 1
    assert page.input_value("textarea[name=q]") == "Please wrap up my week"
    page.click("main a.button.primary >> nth=0")
    assert page.input_value("[name=input-0]") == "Please wrap up my week"


@pytest.mark.row("P4", "P8")
def test_filters_are_chosen_and_taken_away_by_keyboard_on_a_narrow_screen(page, catalog):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/skills/")
    page.focus(".facets > summary")
    page.keyboard.press("Enter")
    page.focus(".facets a:has-text('report')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/skills/?tag=report")
    assert page.locator(".list > li").count() == 1
    page.focus("ul.filters a:has-text('report')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/skills/?")
    assert page.locator(".list > li").count() == 2


@pytest.mark.row("C4")
def test_an_administrator_teaches_a_word_and_takes_it_back(page, sign_in, catalog, administrator):
    sign_in(administrator)
    page.goto("/skills/match/test/?q=flumph+the+thing")
    page.click("[data-part=hint][data-value=glossary] a")
    page.fill("input[name=text]", "flumph, weekly report")
    page.click("main form button.primary >> nth=0")
    page.goto("/skills/match/test/?q=flumph+the+thing")
    assert page.locator("[data-part=sentence] mark").inner_text() == "flumph"
    page.goto("/glossary/")
    page.click("form[action$='/remove/'] button")
    page.click("[data-action=undo]")
    assert "flumph, weekly report" in page.inner_text("main table >> nth=0")
