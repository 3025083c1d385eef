"""The selection of approval requests: boxes of all requests, of a group and of one run follow each other."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from tests.factories.skills import publish_files
from worker.models import Approval
from worker.protocols.call import Request
from worker.runs.request import request_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("D6")]


@pytest.fixture
def waiting(team, alice, bob, monkeypatch):
    """Three runs of an agent: two of report, one of summary."""
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
    ends = timezone.now() + timedelta(days=1)
    token, _secret = tokens.issue(
        bob, name="agent", scopes=["run"], expires_at=ends, by=Actor(user=bob), team=team
    )
    agent = Actor(user=bob, token=token, scopes=frozenset({"run"}))
    runs = []
    for slug, count in (("report", 2), ("summary", 1)):
        head = f"---\nname: {slug}\ndescription: R.\nallowed-tools: [Bash]\n---\n# R\n"
        files = {"SKILL.md": head.encode(), "scripts/go.py": b"print('{}')\n"}
        version = publish_files(files, team=team, user=alice)
        runs += [request_run(actor=agent, version=version, request=Request()) for _ in range(count)]
    return runs


def test_selection_of_all_a_group_and_one_run(page, sign_in, alice, waiting):
    sign_in(alice)
    page.goto("/approvals/")
    everything = page.locator("[data-action=select-all]")
    report = page.locator(f"[data-action=select-group][value*='{waiting[0].uid}']")
    summary = page.locator(f"[data-action=select-group][value='{waiting[2].uid}']")
    first = page.locator(f"[name=run][type=checkbox][value='{waiting[0].uid}']")
    rules = page.locator("#allow-selected [data-runs]:not([hidden])")

    count = page.locator("[data-ticked]")

    def ticked():
        assert count.inner_text() == str(page.locator("[name=run]:not([value*=',']):checked").count())
        return [box.is_checked() for box in (everything, report, summary, first)]

    everything.check()
    assert ticked() == [True, True, True, True]
    assert count.inner_text() == "3"
    summary.uncheck()
    assert ticked() == [False, True, False, True]
    page.click("[data-action=preview-always-selected]")
    assert rules.count() == 1
    page.keyboard.press("Escape")
    summary.check()
    assert ticked() == [True, True, True, True]
    first.uncheck()
    assert ticked() == [False, False, True, False]
    page.click("[data-action=approve-selected]")
    page.locator("[data-part=message]").first.wait_for()
    assert {approval.run for approval in Approval.objects.filter(decision="once")} == {*waiting[1:]}


@pytest.mark.parametrize("decision", ["exact", "prefix"])
def test_rule_is_for_exactly_the_skill_unless_the_wider_one_is_chosen(
    page, sign_in, alice, waiting, decision
):
    sign_in(alice)
    page.goto("/approvals/")
    page.locator("[data-action=preview-always]").last.click()
    dialog = page.locator(".dialog:popover-open")
    wide = dialog.locator("[data-part=scope][data-value=prefix]")
    assert not wide.is_visible()
    if decision == "prefix":
        dialog.locator("[data-action=show-prefix]").click()
        wide.locator("input").check()
    dialog.locator("[data-action=always-approve]").click()
    page.locator("[data-part=message]").first.wait_for()
    assert Approval.objects.get(run=waiting[2]).decision == decision


def test_enter_in_the_reason_denies_and_enter_on_a_box_decides_nothing(page, sign_in, alice, waiting):
    sign_in(alice)
    page.goto("/approvals/")
    box = page.locator(f"[name=run][type=checkbox][value='{waiting[0].uid}']")
    box.check()
    box.press("Enter")
    assert not Approval.objects.exclude(decision="").exists()
    page.click("[data-action=preview-deny-selected]")
    page.fill("#reason-selected", "No.")
    page.press("#reason-selected", "Enter")
    page.locator("[data-part=message]").first.wait_for()
    assert list(Approval.objects.exclude(decision="").values_list("run", "decision")) == [
        (waiting[0].pk, "denied")
    ]
