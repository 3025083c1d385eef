"""What pages do with and without scripts, by keyboard, and with a hostile package."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.usage.recording import record_use
from tests.factories.skills import hostile_files, prompt_files, publish_files, tidy_files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SKILL = "/skills/docs/weekly-report/"


@pytest.fixture
def catalog(team, alice, bob):
    publish_files(tidy_files("1.1.0"), team=team, user=alice, changelog="The first that writes figures.")
    report = publish_files(tidy_files("1.2.0"), team=team, user=bob).skill
    publish_files(prompt_files(), team=team, user=alice, visibility="public")
    publish_files(hostile_files(), team=team, user=alice)
    for hour in range(5):
        record_use(report, f"user:{hour}", "run", now=timezone.now() - timedelta(hours=hour + 30))
    return report


@pytest.mark.row("P8")
@pytest.mark.parametrize("look", [{"java_script_enabled": False}])
def test_without_scripts_language_theme_and_menus_work(page, sign_in, catalog, alice):
    sign_in(alice)
    page.click("details:has([data-theme-form]) > summary")
    page.click("button[value=dark]")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("details:has(button[lang=zh-hans]) > summary")
    page.click("button[lang=zh-hans]")
    assert page.get_attribute("html", "lang") == "zh-hans"
    assert page.locator("[data-copy]:visible").count() == 0
    page.click("summary:has-text('alice')")
    page.click("form[action='/sign-out/'] button")
    assert page.locator("a[href^='/sign-in/']").count() > 0


def test_with_scripts_the_theme_changes_at_once_and_lines_are_copied(page, sign_in, catalog, alice):
    sign_in(alice)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(SKILL)
    page.click("details:has([data-theme-form]) > summary")
    page.click("button[value=dark]")
    assert page.get_attribute("html", "data-theme") == "dark"
    button = "[data-copy='#install-download']"
    done = page.get_attribute(button, "data-done")
    page.click("label[for=install-download-tab]")
    page.click(button)
    page.wait_for_selector(f"{button} >> text={done}")
    assert "weekly-report/versions/1.2.0/archive" in page.evaluate("navigator.clipboard.readText()")


@pytest.mark.row("P8")
def test_the_keyboard_reaches_the_content_first(page, catalog):
    page.goto("/skills/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_hostile_package_reaches_nothing(page, sign_in, catalog, alice):
    """No dialog, no request elsewhere (the fixture watches), no address that acts."""
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    sign_in(alice)
    root = "/skills/docs/hostile-skill/"
    page.goto(f"{root}1.0.0/files/")
    files = page.eval_on_selector_all(".tree a", "links => links.map(link => link.getAttribute('href'))")
    assert len(files) == len(hostile_files())
    for address in ("/", "/skills/", root, f"{root}versions/", f"{root}1.0.0/files/", "/teams/docs/", *files):
        page.goto(address)
        acting = page.eval_on_selector_all(
            "a, form, img, iframe, object",
            "all => all.map(one => one.href || one.action || one.src).filter(url => !/^https?:/.test(url))",
        )
        assert acting == [], address
    assert dialogs == []
