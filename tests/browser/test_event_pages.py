"""Events in a real browser without scripts."""

from __future__ import annotations

import pytest

from registry.events.receive import IncomingEvent, receive
from registry.identity.actors import Actor
from registry.matching import feedback
from registry.models import Event, EventSubscription
from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def declaring(team, alice, bob):
    """A skill that declares two events, an event it met, a proposed test of it."""
    files = tidy_files()
    head = b"---\ntriggers: {event_types: [report.filed, report.lost]}\n"
    files["SKILL.md"] = files["SKILL.md"].replace(b"---\n", head, 1)
    version = publish_files(files, team=team, user=alice)
    receive(IncomingEvent("report.filed", {"title": "Week 47"}, "evt_1"), Actor(user=bob), team=team)
    told = feedback.FeedbackReport("wrong_skill", "帮我翻译这封信, please, all of it", "It was a letter.")
    feedback.submit_feedback(version, told, Actor(user=bob))
    return version.skill


@pytest.mark.row("C4")
@pytest.mark.parametrize("look", [{"java_script_enabled": False}])
def test_without_scripts_an_event_is_told_judged_and_started(page, sign_in, declaring, alice):
    sign_in(alice)
    page.goto("/events/")
    page.fill("input[name=type]", "report.filed")
    page.fill("textarea", '{"notes": "Week 48", "language": "en"}')
    page.click("[data-action=send-event]")
    assert "docs/weekly-report" in page.inner_text("main table")
    page.click("[data-action=start-from-now-on]")
    assert EventSubscription.objects.get().mode == "start"
    page.goto(f"/events/{Event.objects.latest('pk').uid}/")
    page.click("main table .button.primary")
    assert "/runs/" in page.url
