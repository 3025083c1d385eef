"""The inbox of runs that wait for somebody's leave, and the same on the run's page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.showing.approvals import waiting_count
from portal.showing.timeline import timeline
from registry import tokens
from registry.actors import Actor
from registry.models import Membership, Role, Rule
from tests.samples import publish_files
from worker.figures import figures
from worker.models import Approval, Attempt, Run, Status
from worker.protocols.call import Request
from worker.runs import request_run

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]


@pytest.fixture
def waiting(team, alice, bob, monkeypatch):
    monkeypatch.setattr("worker.runs.wake", lambda: True)
    files = {
        "SKILL.md": b"---\nname: report\ndescription: R.\nversion: 1.0.0\nallowed-tools: [Bash]\n---\n# R\n",
        "scripts/report.py": b"print('{}')\n",
    }
    version = publish_files(files, team=team, user=alice)
    ends = timezone.now() + timedelta(days=1)
    token, _secret = tokens.issue(
        bob, name="night agent", scopes=["run"], expires_at=ends, by=Actor(user=bob), team=team
    )
    agent = Actor(user=bob, token=token, scopes=frozenset({"run"}))
    return request_run(actor=agent, version=version, request=Request(inputs={"input_path": "a.txt"}))


def text(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return answer.content.decode()


def say(client, run, decision, **more):
    return client.post(f"/approvals/{run.uid}/decide/", {"decision": decision, **more}, follow=True)


def test_the_inbox_says_who_asks_for_what(waiting, browse, alice):
    page = text(browse(alice), "/approvals/")
    for said in ("night agent", "bob", waiting.skill_label, "Bash", "a.txt", "72 hours left", "Allow once"):
        assert said in page
    assert 'Approvals <span class="count">1</span>' in page
    assert "Nothing has been decided yet" in text(browse(alice), "/approvals/decided/")
    assert "Nothing matches." in text(browse(alice), "/approvals/?skill=docs/other")


@pytest.mark.parametrize(("role", "queries"), [(Role.OWNER, 1), (Role.MAINTAINER, 1), (Role.MEMBER, 0)])
def test_what_waits_is_counted_by_one_query_a_page_for_who_decides(
    waiting, bob, role, queries, django_assert_num_queries
):
    Membership.objects.filter(user=bob).update(role=role)
    actor = Actor(user=bob)
    assert actor.roles  # read on every page
    with django_assert_num_queries(queries):
        assert waiting_count(actor) == (1 if queries else None)


def test_an_administrators_count_is_one_query_too(waiting, administrator, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert waiting_count(Actor(user=administrator)) == 1


def test_an_owner_keeps_a_rule_and_may_undo_it(waiting, browse, alice):
    page = say(browse(alice), waiting, "exact", **{"from": "inbox"}).content.decode()
    rule = Rule.objects.get()
    assert f"/rules/{rule.uid}/remove/" in page
    assert "Nothing waits" in page
    assert Run.objects.get().status == Status.QUEUED
    assert "The rule that was made" in text(browse(alice), "/approvals/decided/")


def test_a_maintainer_lets_one_start_and_makes_no_rule(waiting, browse, bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    client = browse(bob)
    page = text(client, f"/runs/{waiting.uid}/")
    assert "Allow once" in page
    assert "Allow this skill" not in page
    assert "runs this once" in say(client, waiting, "once").content.decode()
    assert "(once)" in text(client, f"/runs/{waiting.uid}/")


def test_the_caller_reads_what_is_waited_for_and_may_cancel(waiting, browse, bob):
    client = browse(bob)
    page = text(client, f"/runs/{waiting.uid}/")
    assert "It waits for a maintainer of docs" in page
    assert "Allow once" not in page
    assert f"/runs/{waiting.uid}/cancel/" in page
    assert "Approvals <span" not in page
    client.post(f"/runs/{waiting.uid}/cancel/")
    assert Run.objects.get().status == Status.CANCELLED


def test_a_reason_is_asked_for_and_shown(waiting, browse, alice, bob):
    say(browse(alice), waiting, "denied", reason="")
    assert Run.objects.get().status == Status.WAITING_APPROVAL
    say(browse(alice), waiting, "denied", reason="Not <b>here</b>.", rule="on")
    page = text(browse(bob), f"/runs/{waiting.uid}/")
    assert "Not &lt;b&gt;here&lt;/b&gt;." in page
    assert Rule.objects.get().effect == "deny"
    late = say(browse(alice), waiting, "once").content.decode()
    assert "waits no more" in late


def test_the_live_parts_tell_of_the_decision(waiting, browse, alice, bob):
    say(browse(alice), waiting, "once")
    assert "Somebody was asked" in text(browse(bob), f"/runs/{waiting.uid}/live/")


@pytest.fixture
def after_two_days(waiting, browse, alice):
    """The run, let after two days, claimed two seconds later, and done in another second."""
    Run.objects.update(created_at=waiting.created_at - timedelta(days=2))
    say(browse(alice), waiting, "once")
    let_at = Approval.objects.get().decided_at
    Attempt.objects.create(
        run=waiting,
        number=1,
        worker="w",
        started_at=let_at + timedelta(seconds=2),
        finished_at=let_at + timedelta(seconds=3),
        steps=[{"name": "execute", "started_at": (let_at.timestamp() + 2) * 1000, "duration_ms": 1000}],
    )
    Run.objects.update(
        status=Status.SUCCEEDED,
        started_at=let_at + timedelta(seconds=2),
        finished_at=let_at + timedelta(seconds=3),
    )
    return Run.objects.get()


def test_waiting_for_leave_is_told_apart_from_waiting_for_a_worker(after_two_days, browse, bob):
    asked, queue, script = timeline(after_two_days)
    assert (asked.name, asked.bar) == ("Waiting for somebody's leave", None)
    assert round(asked.duration_ms / 3_600_000) == 48
    assert (queue.name, round(queue.duration_ms)) == ("Waiting in the queue", 2000)
    assert (round(script.start_ms), round(script.bar.x), round(script.bar.width)) == (2000, 667, 333)
    assert "Waiting for somebody" in text(browse(bob), f"/runs/{after_two_days.uid}/")


def test_figures_count_no_waiting_as_time_that_a_skill_takes(after_two_days, alice):
    (found,) = figures(after_two_days.skill, Actor(user=alice)).versions
    assert (found.runs, found.p50_ms, found.p95_ms) == (1, 1000, 1000)


def test_a_stranger_finds_nothing_and_decides_nothing(waiting, browse, charlie):
    client = browse(charlie)
    assert waiting.skill_label not in text(client, "/approvals/")
    assert client.get(f"/runs/{waiting.uid}/").status_code == 404
    assert say(client, waiting, "once").status_code == 404
    assert browse(None).get("/approvals/").status_code == 302
    assert Run.objects.get().status == Status.WAITING_APPROVAL
