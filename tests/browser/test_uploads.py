"""The progress of an upload, and its cancellation."""

from __future__ import annotations

import random

import pytest

from tests.factories.archives import zip_of
from worker.models import InputFile

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P3", "P8")]
HEAD = "---\nname: large\ndescription: Counts orders.\n---\n# Large\n"


@pytest.fixture
def archive(tmp_path):
    """A package of 1.2 MB that can't be compressed."""
    path = tmp_path / "large.zip"
    path.write_bytes(zip_of({"SKILL.md": HEAD, "assets/noise.bin": random.Random(1).randbytes(1_200_000)}))
    return path


def test_upload_shows_progress_is_cancelled_and_survives_a_reload(page, sign_in, team, bob, archive):
    sign_in(bob)
    page.goto("/publish/?team=docs")
    page.set_input_files("input[name=archive]", archive)
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 100_000}
    network.send("Network.emulateNetworkConditions", slow)
    page.click("#publish button[name=check]:visible")
    page.locator("#upload-progress:not([value='0'])").wait_for()
    page.click("[data-action=cancel-upload]")
    page.locator("[data-part=upload]").wait_for(state="hidden")
    assert not InputFile.objects.exists()
    network.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
    page.click("#publish button[name=check]:visible")
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    page.reload()
    page.locator("[data-part=preview][data-state=ready]").wait_for()
    assert InputFile.objects.count() == 1
    page.locator("[name=publish]:visible").first.click()
    page.locator("[data-part=message]").wait_for()
    assert "/skills/docs/large/" in page.url
