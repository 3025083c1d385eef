"""The inbox of runs that wait for approval, and the same on the run's page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.pages.approvals import pagination, views
from portal.pages.runs.presenters.timeline import timeline
from portal.presenters.approvals import waiting_count
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Role, Rule
from tests.checks import not_none
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import actions, codes, messages, parsed, part, parts, select
from worker.core.display_budget import MAX_LISTED
from worker.models import Approval, Attempt, Run, RunStatus
from worker.protocols.call import Request
from worker.run_views.statistics import skill_statistics
from worker.runs.request import request_run

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]


@pytest.fixture
def waiting(team, alice, bob, monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
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


@pytest.fixture
def second(waiting):
    """Another run of the same agent, skill and version."""
    agent = Actor(user=waiting.caller, token=waiting.token, scopes=frozenset({"run"}))
    return request_run(
        actor=agent, version=waiting.skill.latest, request=Request(inputs={"input_path": "b.txt"})
    )


def decide_selected(client, runs, decision, **more):
    given = {"run": [run.uid for run in runs], "decision": decision, **more}
    return client.post("/approvals/decide/", given, follow=True)


def text(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return answer.content.decode()


def say(client, run, decision, **more):
    return client.post(f"/approvals/{run.uid}/decide/", {"decision": decision, **more}, follow=True)


def test_home_groups_requests_of_one_agent_for_one_skill(waiting, second, browse, alice):
    need = part(browse(alice).get("/"), "need", kind="approval")
    assert need.select("a", href="/approvals/?skill=docs%2Freport")


def test_inbox_shows_caller_permissions_and_inputs(waiting, browse, alice):
    page = parsed(text(browse(alice), "/approvals/"))
    row = page.part("approval", state="waiting")
    for fact in ("night agent", "bob", waiting.skill_label, "Bash", "a.txt"):
        assert fact in row
    assert row.part("hours-left")["value"] == "72"
    assert "3" in row.part("hours-left")
    assert "72" not in row.part("hours-left")
    assert "approve" in actions(row)
    assert page.part("waiting-approvals").text == "1"
    assert part(text(browse(alice), "/approvals/decided/"), "empty")["state"] == "decided"
    assert part(text(browse(alice), "/approvals/?skill=docs/other"), "empty")["state"] == "filtered"


@pytest.mark.parametrize(("role", "queries"), [(Role.OWNER, 1), (Role.MAINTAINER, 1), (Role.MEMBER, 0)])
def test_what_waits_is_counted_by_one_query_a_page_for_who_decides(
    waiting, bob, role, queries, django_assert_num_queries
):
    Membership.objects.filter(user=bob).update(role=role)
    actor = Actor(user=bob)
    assert actor.roles  # read on every page
    with django_assert_num_queries(queries):
        assert waiting_count(actor) == (1 if queries else None)


def test_inbox_names_long_inputs_without_showing_them(waiting, browse, alice):
    request = waiting.request | {"inputs": {"text": "long words " * MAX_LISTED}}
    Run.objects.filter(pk=waiting.pk).update(request=request)
    row = part(text(browse(alice), "/approvals/"), "approval", state="waiting")
    assert row.part("long-inputs")
    assert "long words" not in row


def test_short_inputs_are_shown_whole_and_long_ones_are_folded(waiting, browse, alice):
    long = {"text": "\n".join(f"line {number}" for number in range(9)), "name": "é" * 500}
    for inputs, is_folded in (({"text": "t" * 200}, False), (long, True)):
        Run.objects.filter(pk=waiting.pk).update(request=waiting.request | {"inputs": inputs})
        row = part(text(browse(alice), "/approvals/"), "approval", state="waiting")
        assert "line 8" not in row.part("inputs").text
        assert [each.tag for each in row.parts("all-inputs")] == ["details"] * is_folded
        whole = row.part("all-inputs" if is_folded else "inputs").text
        assert all(line in whole for value in inputs.values() for line in value.splitlines())


def test_first_runs_of_a_group_are_shown_and_the_others_folded(waiting, browse, alice):
    agent = Actor(user=waiting.caller, token=waiting.token, scopes=frozenset({"run"}))
    for number in range(4):
        request_run(
            actor=agent, version=waiting.skill.latest, request=Request(inputs={"input_path": f"{number}.txt"})
        )
    row = part(text(browse(alice), "/approvals/"), "approval", state="waiting")
    assert len(row.parts("inputs")) == 5
    assert len(row.part("folded-runs").parts("inputs")) == 2


def test_run_page_shows_the_inputs_of_a_waiting_run_before_its_log(waiting, browse, alice):
    page = text(browse(alice), f"/runs/{waiting.uid}/")
    assert len(parts(page, "input")) == 1
    assert page.index('data-part="input"') < page.index('id="log"')


def test_file_access_is_translated(waiting, browse, alice):
    document = {"filesystem": ["read-only"], "tools": ["read-only"]}  # the tool's name is the author's word
    Approval.objects.update(requested_permissions=document, added_permissions={})
    client = browse(alice)
    for address in ("/approvals/", f"/runs/{waiting.uid}/"):
        answer = client.get(address, headers={"accept-language": "zh-hans"})
        row = part(answer.content.decode(), "approval")
        assert row.text.count("只读") == 2  # in the reason and in the list
        assert row.text.count("read-only") == 2


def test_inbox_cuts_long_lists_of_permissions(waiting, browse, alice):
    hosts = {"hosts": [f"h{n:03}.example.org" for n in range(500)]}
    Approval.objects.update(requested_permissions=hosts, added_permissions={})
    row = part(text(browse(alice), "/approvals/"), "approval", state="waiting")
    assert row.part("omitted")["value"] == "480"
    assert "h499.example.org" in text(browse(alice), f"/runs/{waiting.uid}/")


def test_an_administrators_count_is_one_query_too(waiting, administrator, django_assert_num_queries):
    actor = Actor(user=administrator)
    assert actor.roles == {}  # read on every page
    with django_assert_num_queries(1):
        assert waiting_count(actor) == 1


def test_an_owner_keeps_a_rule_and_may_undo_it(waiting, browse, alice):
    page = say(browse(alice), waiting, "exact", **{"from": "inbox"}).content.decode()
    rule = Rule.objects.get()
    assert f"/rules/{rule.uid}/remove/" in page
    assert messages(page) == ["success"]
    assert part(page, "empty")["state"] == "waiting"
    assert Run.objects.get().status == RunStatus.QUEUED
    (decided,) = parts(text(browse(alice), "/approvals/decided/"), "approval")
    assert decided.part("decision")["value"] == "exact"
    assert actions(decided) == ["open-rule"]


def test_a_maintainer_approves_one_run_and_makes_no_rule(waiting, browse, bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    client = browse(bob)
    offered = actions(text(client, f"/runs/{waiting.uid}/"))
    assert "approve" in offered
    assert "always-approve" not in offered
    page = say(client, waiting, "once")
    assert messages(page) == ["success"]
    assert part(page, "decision")["value"] == "once"
    assert not Rule.objects.exists()


def test_the_caller_sees_the_pending_approval_and_may_cancel(waiting, browse, bob):
    client = browse(bob)
    page = text(client, f"/runs/{waiting.uid}/")
    (card,) = parts(page, "approval", state="waiting")
    assert "docs" in card.part("hours-left").text
    assert "approve" not in actions(page)
    assert f"/runs/{waiting.uid}/cancel/" in page
    assert not parts(page, "waiting-approvals")
    client.post(f"/runs/{waiting.uid}/cancel/")
    assert Run.objects.get().status == RunStatus.CANCELLED


def test_a_denial_needs_a_reason_and_shows_it(waiting, browse, alice, bob):
    say(browse(alice), waiting, "denied", reason="")
    assert Run.objects.get().status == RunStatus.WAITING_APPROVAL
    denied = say(browse(alice), waiting, "denied", reason="Not <b>here</b>.", rule="on")
    denial, rule = parts(denied, "message")  # only the rule can be undone
    assert (actions(denial), actions(rule)) == ([], ["undo"])
    page = text(browse(bob), f"/runs/{waiting.uid}/")
    assert "Not &lt;b&gt;here&lt;/b&gt;." in page
    assert Rule.objects.get().effect == "deny"
    assert codes(say(browse(alice), waiting, "once"))[0] == "APPROVAL_DECIDED"


def test_run_page_shows_the_inputs_before_the_decision_and_no_log(waiting, browse, alice, bob):
    page = parsed(text(browse(alice), f"/runs/{waiting.uid}/"))
    shown = [
        each["part"] for each in page.parts() if each.attributes.get("data-part") in ("input", "approval")
    ]
    assert shown == ["input", "approval"]
    assert "hidden" in page.part("log").attributes
    assert "hidden" not in part(text(browse(bob), f"/runs/{waiting.uid}/"), "log").attributes


def test_the_live_parts_show_the_decision(waiting, browse, alice, bob):
    say(browse(alice), waiting, "once")
    live = text(browse(bob), f"/runs/{waiting.uid}/live/")
    assert part(live, "approval", state="decided").part("decision")["value"] == "once"


@pytest.fixture
def after_two_days(waiting, browse, alice):
    """The run, approved after two days, claimed two seconds later, and done in another second."""
    Run.objects.update(created_at=waiting.created_at - timedelta(days=2))
    say(browse(alice), waiting, "once")
    decided_at = not_none(Approval.objects.get().decided_at)
    Attempt.objects.create(
        run=waiting,
        number=1,
        worker="w",
        started_at=decided_at + timedelta(seconds=2),
        finished_at=decided_at + timedelta(seconds=3),
        steps=[{"name": "execute", "started_at": (decided_at.timestamp() + 2) * 1000, "duration_ms": 1000}],
    )
    Run.objects.update(
        status=RunStatus.SUCCEEDED,
        started_at=decided_at + timedelta(seconds=2),
        finished_at=decided_at + timedelta(seconds=3),
    )
    return Run.objects.get()


def test_waiting_for_approval_and_waiting_for_a_worker_are_separate_rows(after_two_days, browse, bob):
    asked, queue, script = timeline(after_two_days)
    assert (asked.kind, asked.bar) == ("waiting", None)
    assert round(not_none(asked.duration_ms) / 3_600_000) == 48
    assert (queue.kind, round(not_none(queue.duration_ms))) == ("waiting", 2000)
    assert asked.name != queue.name
    assert (round(script.start_ms), round(not_none(script.bar).x), round(not_none(script.bar).width)) == (
        2000,
        667,
        333,
    )
    assert asked.name in parsed(text(browse(bob), f"/runs/{after_two_days.uid}/"))


def test_figures_count_no_waiting_as_time_that_a_skill_takes(after_two_days, alice):
    (found,) = skill_statistics(after_two_days.skill, Actor(user=alice)).versions
    assert (found.counts.runs, found.p50_ms, found.p95_ms) == (1, 1000, 1000)


def test_requests_of_one_agent_for_one_skill_are_one_group(waiting, second, browse, alice):
    group = part(text(browse(alice), "/approvals/"), "approval", state="waiting")
    assert "a.txt" in group
    assert "b.txt" in group
    assert "Bash" in group.part("reason").text


def test_list_sends_as_many_queries_for_two_groups_as_for_one(waiting, second, browse, alice):
    client = browse(alice)
    text(client, "/approvals/")  # the first request of a session stores its client
    with CaptureQueriesContext(connection) as one:
        text(client, "/approvals/")
    Run.objects.filter(pk=second.pk).update(token_name="other agent")
    with CaptureQueriesContext(connection) as two:
        assert len(parts(text(client, "/approvals/"), "approval")) == 2
    assert len(two) == len(one)


def test_only_owners_get_previews_of_rules(waiting, browse, alice, bob):
    scopes = parts(text(browse(alice), "/approvals/"), "scope")
    assert [scope["value"] for scope in scopes] == ["exact", "prefix", "selected"]
    assert all(waiting.skill_label in scope for scope in scopes)
    exact, prefix = (scope.tags("input")[0].attributes for scope in scopes[:2])
    assert "checked" in exact
    assert "checked" not in prefix
    buttons = part(text(browse(alice), "/approvals/"), "approval").tags("button")
    assert not [button for button in buttons if button.attributes.get("value") == "prefix"]
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    assert not parts(text(browse(bob), "/approvals/"), "scope")


def test_selected_requests_are_decided_together(waiting, second, browse, alice):
    page = decide_selected(browse(alice), [waiting, second], "once")
    assert messages(page) == ["success"]
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.QUEUED}
    assert not Rule.objects.exists()


def test_failed_decisions_are_reported_next_to_the_others(waiting, second, browse, alice):
    client = browse(alice)
    say(client, waiting, "once")
    page = decide_selected(client, [waiting, second], "denied", reason="Too late.")
    assert sorted(messages(page)) == ["error", "success"]
    assert codes(page) == ["APPROVAL_DECIDED"]
    statuses = dict(Run.objects.values_list("uid", "status"))
    assert statuses == {waiting.uid: RunStatus.QUEUED, second.uid: RunStatus.REFUSED}


def test_approved_run_that_cannot_start_is_reported_as_failed(waiting, browse, alice):
    tokens.revoke(waiting.token, by=Actor(user=waiting.caller))
    page = decide_selected(browse(alice), [waiting], "once")
    assert (messages(page), codes(page)) == (["error"], ["TOKEN_INVALID"])
    assert Run.objects.get().status == RunStatus.REFUSED


def test_denying_a_group_with_a_rule_refuses_all_its_runs(waiting, second, browse, alice):
    page = decide_selected(browse(alice), [waiting, second], "denied", reason="No.", rule="on")
    assert messages(page) == ["success", "success"]  # the denials, and the rule with its undo button
    assert Rule.objects.get().effect == "deny"
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.REFUSED}


def test_too_long_reason_has_the_same_error_for_one_run_and_for_several(waiting, second, browse, alice):
    client, long = browse(alice), {"reason": "n" * 501}
    error = part(say(client, waiting, "denied", **long), "message").text
    assert part(decide_selected(client, [waiting, second], "denied", **long), "message").text == error
    for runs, decision in (([], "denied"), ([waiting], "")):
        assert part(decide_selected(client, runs, decision, **long), "message").text != error
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.WAITING_APPROVAL}


@pytest.mark.parametrize("decision", ["prefix", ""])
def test_prefix_rules_are_not_added_in_bulk(waiting, browse, alice, decision):
    assert messages(decide_selected(browse(alice), [waiting], decision)) == ["error"]
    assert not Rule.objects.exists()


def test_selected_requests_are_approved_and_always_allowed_by_one_rule(waiting, second, browse, alice):
    page = decide_selected(browse(alice), [waiting, second], "exact")
    rule = Rule.objects.get()
    assert (rule.effect, rule.name) == ("allow", "docs/report")
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.QUEUED}
    assert set(Approval.objects.values_list("decision", "rule")) == {("exact", rule.pk)}
    assert messages(page) == ["success", "success"]
    assert part(page, action="undo")
    assert f"/rules/{rule.uid}/remove/" in page.content.decode()


def test_a_maintainer_adds_no_rule_in_bulk_and_decides_nothing_by_trying(waiting, browse, bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    client = browse(bob)
    assert "preview-always-selected" not in actions(text(client, "/approvals/"))
    assert codes(decide_selected(client, [waiting], "exact")) == ["FORBIDDEN"]
    assert not Rule.objects.exists()
    assert Run.objects.get().status == RunStatus.WAITING_APPROVAL


def test_the_box_of_a_group_selects_its_runs_without_scripts(waiting, second, browse, alice):
    client = browse(alice)
    group = part(text(client, "/approvals/"), "approval", state="waiting")
    box = part(group, action="select-group")
    assert set(box["value"].split(",")) == {waiting.uid, second.uid}
    given = {"run": [box["value"], second.uid], "decision": "once"}  # the box, and one run by itself
    page = client.post("/approvals/decide/", given, follow=True)
    assert messages(page) == ["success"]
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.QUEUED}


def test_ten_runs_of_an_agent_are_approved_in_two_clicks_from_home(waiting, second, browse, alice):
    agent = Actor(user=waiting.caller, token=waiting.token, scopes=frozenset({"run"}))
    for number in range(8):
        request = Request(inputs={"input_path": f"{number}.txt"})
        request_run(actor=agent, version=waiting.skill.latest, request=request)
    client = browse(alice)
    (link,) = part(client.get("/"), "need", kind="approval").tags("a")
    page = client.get(link["href"])
    (form,) = [form for form in parsed(page).tags("form") if "approve" in form.values("action")]
    uids = [field["value"] for field in form.select("input", name="run")]
    assert len(uids) == 10
    client.post(form["action"], {"run": uids, "decision": "once"})
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.QUEUED}


def test_no_two_buttons_of_the_page_have_the_same_text_and_different_effects(waiting, second, browse, alice):
    page = select(text(browse(alice), "/approvals/"), "section", id="waiting-approvals")[0]
    buttons = [
        button.text
        for button in page.tags("button")
        if button.attributes.get("popovertargetaction") != "hide"
    ]
    assert len(buttons) == len(set(buttons))


def test_a_stranger_finds_nothing_and_decides_nothing(waiting, browse, charlie):
    client = browse(charlie)
    assert waiting.skill_label not in text(client, "/approvals/")
    assert client.get(f"/runs/{waiting.uid}/").status_code == 404
    assert say(client, waiting, "once").status_code == 404
    assert codes(decide_selected(client, [waiting], "once")) == ["NOT_FOUND"]
    assert browse(None).get("/approvals/").status_code == 302
    assert Run.objects.get().status == RunStatus.WAITING_APPROVAL


def test_list_counts_a_few_pages_ahead(waiting, browse, alice, monkeypatch):
    monkeypatch.setattr(pagination, "_AHEAD", 1)
    monkeypatch.setattr(views, "PAGE", 1)
    for _ in range(4):
        make_run(waiting.skill.latest, alice, waiting.team)
    for run in Run.objects.exclude(pk=waiting.pk):
        ends = timezone.now()
        Approval.objects.create(run=run, expires_at=ends, decided_at=ends, decision="denied")
    client = browse(alice)
    pages = [client.get(f"/approvals/decided/?page={number}") for number in (1, 2, 3, 4, 9)]
    lines = [select(page, "nav", class_="pages")[0].text for page in pages]
    assert [line.split(" of ")[1].split()[0] for line in lines] == ["2+", "3+", "4+", "4", "4"]
    assert [line.split("Page ")[1].split()[0] for line in lines] == ["1", "2", "3", "4", "4"]
