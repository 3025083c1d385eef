"""The tabs of a team and of a skill in a browser: on a phone, in Chinese, in the dark; axe finds nothing."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.secrets import values
from registry.usage import scores
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P8", "P6", "C6")]
EXAMINED = (
    "/teams/docs/limits/",
    "/teams/docs/secrets/?skill=docs/weekly-report",
    "/skills/docs/weekly-report/usage/",
)
ADDRESSES = ("/teams/docs/", "/teams/docs/memory/", "/skills/docs/weekly-report/settings/", *EXAMINED)


@pytest.fixture
def used(team, alice):
    version = publish_files(tidy_files(), team=team, user=alice)
    values.put_secret(team, "API_KEY", "a-value", Actor(user=alice))
    scores.record_use(version.skill, "user:1", "run", version=version.number)
    make_run(version, alice, team)
    return version


@pytest.mark.parametrize("look", [{"locale": "zh-CN", "color_scheme": "dark"}])
def test_every_tab_stands_on_a_phone_and_shuts_nobody_out(page, sign_in, axe, used, alice):
    sign_in(alice)
    page.set_viewport_size({"width": 390, "height": 844})
    for address in ADDRESSES:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
        current = page.locator(".tabs [aria-current]").bounding_box()
        assert current["x"] >= 0, address
        assert current["x"] + current["width"] <= 390, address
        if address in EXAMINED:
            axe()
