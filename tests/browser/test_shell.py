"""The shell in a browser: the palette and shortcuts by keyboard, the menu of phones without scripts."""

from __future__ import annotations

import pytest

from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P8", "P11")]


def test_palette_opens_a_skill_by_keyboard_alone(page, sign_in, axe, team, alice):
    publish_files(tidy_files(), team=team, user=alice)
    sign_in(alice)
    page.keyboard.press("Control+k")
    page.wait_for_selector("#palette[open]")
    page.keyboard.type("weekly")
    page.wait_for_selector("#palette [role=option][href='/skills/docs/weekly-report/']")
    axe()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/skills/docs/weekly-report/")


def test_shortcut_help_opens_and_closes_by_keyboard(page, sign_in, axe, alice):
    sign_in(alice)
    page.keyboard.press("Control+/")
    page.wait_for_selector("#shortcuts[open]")
    axe()
    page.keyboard.press("Escape")
    assert page.locator("#shortcuts[open]").count() == 0


@pytest.mark.parametrize("look", [{"java_script_enabled": False}])
def test_phone_menu_opens_without_scripts(page, sign_in, alice):
    sign_in(alice)
    page.set_viewport_size({"width": 390, "height": 844})
    assert not page.locator("#sidebar").is_visible()
    page.click("[data-nav=more]")
    page.click("#sidebar [data-nav=teams]")
    page.wait_for_url("**/teams/")


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1280, 480), (390, 600)])
def test_user_menus_stay_in_view_below_a_long_navigation(page, sign_in, alice, width, height):
    sign_in(alice)
    page.set_viewport_size({"width": width, "height": height})
    if width == 390:
        page.click("[data-nav=more]")
    for menu in page.locator("#sidebar .menu").all():
        menu.locator("summary").click()
        box = menu.locator("> div").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        sidebar = page.locator("#sidebar").bounding_box()
        assert box["x"] + box["width"] <= sidebar["x"] + sidebar["width"]
        menu.locator("summary").click()
    assert page.evaluate("document.querySelector('.sidebar').scrollTop") == 0


def test_sidebar_stays_in_view_while_the_page_scrolls(page, sign_in, alice):
    sign_in(alice)
    page.goto("/styleguide/")
    page.evaluate("scrollTo(0, 400)")
    page.wait_for_function("scrollY === 400")
    assert page.locator("#sidebar").bounding_box()["y"] == 0


@pytest.mark.parametrize("look", [{}, {"locale": "zh-CN", "color_scheme": "dark"}], ids=["light", "dark-zh"])
def test_style_guide_is_accessible_and_fits_every_width(page, axe, look):
    page.goto("/styleguide/")
    axe()
    for width in (360, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("[popovertarget=confirm-sample] >> nth=0")
    assert page.locator("#confirm-sample").is_visible()
    axe()
