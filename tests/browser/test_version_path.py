"""From two versions to their comparison, a yank and its way back, as somebody does it in a browser."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.versions.lifecycle import channels, yank
from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P1", "P8")]
SKILL = "/skills/docs/weekly-report/"
DONE = "[data-part=message][data-kind=success]"
_BODY = "".join(f"def part_{n}(notes):\n    return notes[{n}]\n\n\n" for n in range(20))


@pytest.fixture
def report(team, alice, bob):
    files = tidy_files("1.2.0") | {"scripts/parts.py": _BODY.encode()}
    publish_files(files, team=team, user=alice, changelog="The first that writes figures.")
    manifest = (
        files["SKILL.md"].replace(b"1.2.0", b"1.3.0").replace(b"timeout_ms: 30000", b"timeout_ms: 60000")
    )
    manifest = manifest.replace(
        b"network: none", b"network: allowlist\n  network_allowlist: [api.example.org]"
    )
    manifest = manifest.replace(b"required: [notes, language]", b"required: [notes, language, limit]")
    files |= {
        "SKILL.md": manifest.replace(b"never from memory", b"never from what you remember"),
        "scripts/parts.py": _BODY.replace("notes[9]", "notes[-9]").encode(),
        "references/house.md": files.pop("references/style.md"),
    }
    skill = publish_files(files, team=team, user=bob, changelog="Reads figures from the net.").skill
    channels.set_channel("stable", skill.versions.get(number="1.2.0"), Actor(user=alice))
    yank.deprecate_version(
        skill.versions.get(number="1.2.0"), Actor(user=alice), reason="Slow.", successor="1.3.0"
    )
    return skill


@pytest.mark.full
def test_two_versions_are_compared_one_is_yanked_and_offered_again(page, sign_in, axe, report, alice):
    sign_in(alice)
    page.goto(f"{SKILL}versions/")
    axe()
    page.click("main [data-action=compare]")
    page.wait_for_url("**/diff/1.2.0..1.3.0/")
    axe()
    assert page.locator(".diff mark").count() >= 4
    page.goto(f"{SKILL}1.3.0/")
    page.click("[data-part=yank] > summary")
    page.fill("#yank-reason", "Counts twice.")
    axe()
    page.click("[data-action=yank]")
    assert page.locator(f"{DONE}:has-text('1.3.0')").count() == 1
    assert page.locator("[data-part=yanked]").count() == 1
    axe()
    page.click("[data-action=undo]")
    assert page.locator(f"{DONE}:has-text('1.3.0')").count() == 1
    assert page.locator("[data-part=yanked]").count() == 0


@pytest.mark.full
@pytest.mark.parametrize("look", [{"java_script_enabled": False}])
def test_a_telephone_without_scripts_shows_both_sides_one_below_the_other(page, sign_in, report, alice):
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(alice)
    page.goto(f"{SKILL}diff/1.2.0..1.3.0/")
    changed = page.locator(".diff div:has(mark)").first
    before, after = changed.locator("del").bounding_box(), changed.locator("ins").bounding_box()
    assert after["y"] > before["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
