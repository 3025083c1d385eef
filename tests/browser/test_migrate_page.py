"""An old package is uploaded, its migration read line by line and published, without a script."""

from __future__ import annotations

import pytest

from registry.models import Version
from tests.factories.archives import zip_of
from tests.factories.old_packages import METADATA, OLD

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("C14", "P8"),
]


@pytest.mark.matrix("look", at_most=1)
@pytest.mark.parametrize("look", [{}, {"java_script_enabled": False}], ids=["scripts", "no-scripts"])
def test_an_old_package_is_migrated_and_published(page, sign_in, axe, look, team, bob, tmp_path):
    (tmp_path / "old.zip").write_bytes(zip_of({"SKILL.md": OLD, "METADATA.yml": METADATA}))
    sign_in(bob)
    page.goto("/publish/")
    page.set_input_files("#id_archive", tmp_path / "old.zip")
    page.click("button[name=check] >> nth=-1")
    page.wait_for_selector("[data-part=migration]")
    page.click("[data-part=difference] > summary")
    assert "+++ b/scripts/execute.ts" in page.inner_text("pre >> nth=0")
    if not look:
        axe()
    page.click("button[name=migrate]")
    page.wait_for_selector("[data-part=preview][data-state=ready]")
    page.click("button[name=publish]")
    page.wait_for_url("**/skills/docs/old-one/**")
    assert Version.objects.get().profile == "apexbridge"
