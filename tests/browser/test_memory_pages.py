"""The review of proposed memories by keyboard."""

from __future__ import annotations

import pytest

from tests.worker.memory.remembering import ran, write
from worker.models import MemoryWrite

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("C10", "P8")]


def test_enter_on_the_box_of_a_proposal_decides_nothing(page, sign_in, alice, private):
    ran(
        private.latest,
        alice,
        *(write(text, ownerType="group") for text in ("Docs are in English", "Reports are weekly")),
        inputs={"notes": "n", "language": "en"},
    )
    sign_in(alice)
    page.goto("/memory/review/")
    box = page.locator("input[name=proposal]").last
    box.check()
    box.press("Enter")
    page.wait_for_timeout(300)  # nothing is sent
    assert set(MemoryWrite.objects.values_list("state", flat=True)) == {"waiting"}
    page.locator("button[name=decision][value=accept]").press("Enter")
    page.locator("[data-part=message]").first.wait_for()
    assert sorted(MemoryWrite.objects.values_list("state", flat=True)) == ["committed", "waiting"]
