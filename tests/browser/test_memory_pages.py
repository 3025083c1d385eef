"""Proposed memories: a button decides, Enter on a check box does not."""

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from worker.models import MemoryWrite

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("C10")]


def test_enter_on_a_check_box_accepts_nothing(page, sign_in, alice, team):
    skill = b"---\nname: note\ndescription: N.\n---\n# N\n"
    run = make_run(publish_files({"SKILL.md": skill}, team=team, user=alice), alice, team)
    proposed = {"owner_type": "group", "owner_team": team, "type": "fact", "importance": 3, "run": run}
    proposed |= {"attempt": 1, "state": "waiting", "created_at": timezone.now()}
    first, second = (
        MemoryWrite.objects.create(**proposed, content=f"Fact {number}.", seq=number) for number in (1, 2)
    )
    sign_in(alice)
    page.goto("/memory/review/")
    box, button = page.locator(f"[value='{second.uid}']"), page.locator("[data-action=accept-selected]")
    assert not button.is_visible()
    box.press("Enter")
    box.press("Space")
    box.press("Enter")
    assert MemoryWrite.objects.waiting().count() == 2
    button.click()
    page.locator("[data-part=message]").first.wait_for()
    assert MemoryWrite.objects.waiting().get() == first
