"""The home page: what needs the reader, failures, running runs, activity, pins, and the first steps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.pages.home.presenters.runs import failures_by_skill
from registry.core.errors import UNAVAILABLE
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Import, Source, Version
from registry.versions.publishing.version_rows import serialize_problem
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files
from tests.pages import part, parts
from tests.plans import plan_lines
from worker.models import Schedule, ScheduleFiring
from worker.protocols.errors import TIMEOUT

pytestmark = [pytest.mark.django_db, pytest.mark.row("P11", "C9")]


@pytest.fixture
def version(team, alice):
    return publish_files(tidy_files(), team=team, user=alice)


def _failed(version, user, team, minutes=5, **fields):
    at = timezone.now() - timedelta(minutes=minutes)
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED", "finished_at": at}
    return make_run(version, user, team, **failed | fields)


def test_failure_and_its_run_are_one_click_away(browse, version, alice, bob, charlie, team):
    _failed(version, alice, team, minutes=60)
    newest = _failed(version, alice, team, cause={"type": "ValueError", "message": "no column 'date'"})
    row = part(browse(alice).get("/"), "failing-skill")
    assert (row["value"], row["count"]) == ("docs/weekly-report", "2")
    assert row.select("a", href=f"/runs/{newest.uid}/")
    assert "ValueError: no column 'date'" in row
    assert parts(browse(charlie).get("/"), "failing-skill") == []


def test_cause_of_an_unreadable_run_is_not_shown(browse, version, alice, bob, team):
    _failed(version, alice, team, cause={"type": "ValueError", "message": "the secret cause"})
    page = browse(bob).get("/")
    assert parts(page, "failing-skill")
    assert "the secret cause" not in page.text


def test_old_failures_are_left_out(browse, version, alice, team):
    _failed(version, alice, team, minutes=60 * 25)
    assert parts(browse(alice).get("/"), "failing-skill") == []


def test_running_and_queued_runs_are_listed(browse, version, alice, charlie, team):
    make_run(version, alice, team, status="queued", finished_at=None, started_at=None)
    make_run(version, alice, team, status="running", finished_at=None)
    make_run(version, alice, team)
    states = [run["state"] for run in parts(browse(alice).get("/"), "active-run")]
    assert states == ["running", "queued"]
    assert parts(browse(charlie).get("/"), "active-run") == []


def test_held_version_needs_a_reviewer_of_its_team(browse, version, alice, bob, team):
    Version.objects.filter(pk=version.pk).update(held_at=timezone.now())
    need = part(browse(alice).get("/"), "need", kind="held")
    assert need.select("a", href="/skills/docs/weekly-report/1.2.0/findings/")
    assert parts(browse(bob).get("/"), "need") == []


def test_failed_import_needs_its_team_until_the_next_one_succeeds(browse, alice, charlie, team):
    source = Source.objects.create(team=team, kind="git", location="https://git.example/skills")
    problem = UNAVAILABLE.problem()
    failed = Import.objects.create(source=source, status="failed", problems=[serialize_problem(problem)])
    need = part(browse(alice).get("/"), "need", kind="import")
    assert need.select("a", href=f"/imports/{failed.uid}/")
    assert problem.message() in need
    assert parts(browse(charlie).get("/"), "need") == []
    Import.objects.create(source=source, status="done")
    assert parts(browse(alice).get("/"), "need") == []


def test_activity_shows_what_the_reader_s_teams_did(browse, version, alice, charlie):
    entry = part(browse(alice).get("/"), "activity-entry")
    assert "alice" in entry
    assert "Weekly report 1.2.0" in entry
    assert entry.select("a", href="/skills/docs/weekly-report/")
    assert parts(browse(charlie).get("/"), "activity-entry") == []


def test_pinned_skill_appears_until_it_is_unpinned(browse, version, alice):
    client = browse(alice)
    client.post("/skills/docs/weekly-report/pin/")
    assert part(client.get("/"), "pinned-skill")["value"] == "docs/weekly-report"
    client.post("/skills/docs/weekly-report/pin/")
    assert parts(client.get("/"), "pinned-skill") == []


def test_hidden_skill_cannot_be_pinned_and_a_lost_one_disappears(browse, version, alice, charlie, team):
    assert browse(charlie).post("/skills/docs/weekly-report/pin/").status_code == 404
    browse(alice).post("/skills/docs/weekly-report/pin/")
    team.memberships.all().delete()
    assert parts(browse(alice).get("/"), "pinned-skill") == []


def test_first_steps_are_ticked_off_and_then_disappear(browse, alice, team):
    client = browse(alice)

    def done():
        return [step["value"] for step in parts(client.get("/"), "first-step") if step["state"] == "done"]

    assert done() == ["team"]
    version = publish_files(tidy_files(), team=team, user=alice)
    make_run(version, alice, team)
    assert done() == ["team", "publish", "run"]
    ends = timezone.now() + timedelta(days=1)
    tokens.issue(alice, name="agent", scopes=["run"], expires_at=ends, by=Actor(user=alice))
    assert parts(client.get("/"), "first-steps") == []


def test_signed_out_page_shows_public_skills_only(browse, version, public):
    page = browse().get("/")
    assert "kind-review" in page.text
    assert "weekly-report" not in page.text


def test_versions_that_one_user_published_are_one_entry(browse, version, alice, team):
    publish_files(tidy_files(version="1.3.0"), team=team, user=alice)
    entry = part(browse(alice).get("/"), "activity-entry")
    assert "Weekly report 1.2.0, 1.3.0" in entry


def test_failure_message_of_the_platform_is_in_the_reader_s_language(browse, version, alice, team):
    cause = {"type": "TIMEOUT", "message": TIMEOUT.message, "file": "", "line": None}
    _failed(version, alice, team, failure_code="TIMEOUT", message=TIMEOUT.message, cause=cause)
    assert TIMEOUT.message in part(browse(alice).get("/"), "failing-skill")
    assert TIMEOUT.message not in part(browse(alice, language="zh-hans").get("/"), "failing-skill")


def test_public_skills_without_runs_are_shown_to_anonymous_users(browse, team, alice):
    publish_files(tidy_files(), team=team, user=alice, visibility="public")
    assert part(browse().get("/"), "skill")["value"] == "docs/weekly-report"


def test_schedule_needs_its_owner_while_its_newest_due_time_failed(browse, alice, bob, charlie, team):
    version = publish_files(tidy_files(), team=team, user=alice)
    due = timezone.now() - timedelta(hours=2)
    schedule = Schedule.objects.create(
        name="Nightly", skill=version.skill, skill_label=str(version.skill), team=team, skill_team=team,
        run_as=alice, request={}, kind="cron", cron="0 9 * * *", starts_at=due, channel="latest", next_at=due,
    )  # fmt: skip

    def add(hours, state, run=None):
        at = due + timedelta(hours=hours)
        ScheduleFiring.objects.create(
            schedule=schedule, due=at, last_due=at, fire_at=at, state=state, run=run
        )

    def needs(user):
        return parts(browse(user).get("/"), "need", kind="schedule")

    for number, state in enumerate(("missed", "refused")):
        add(number / 10, state)
        (need,) = needs(alice)
        assert need.select("a", href=f"/schedules/{schedule.uid}/")
    assert (needs(bob), needs(charlie)) == ([], [])
    add(0.3, "started", make_run(version, alice, team, status="failed", failure_code=TIMEOUT.name))
    add(0.4, "pending")
    assert TIMEOUT.name in needs(alice)[0].text
    add(0.5, "started", make_run(version, alice, team))
    assert needs(alice) == []


def test_failures_are_read_by_the_index_of_ends(version, alice, team):
    run = make_run(version, alice, team, status="timed_out")
    for status in ("succeeded", "cancelled", "refused"):
        make_run(version, alice, team, status=status)
    actor = Actor(user=alice)
    assert [row.run for row in failures_by_skill(actor)] == [run]
    lines = plan_lines(lambda: failures_by_skill(actor))
    assert not lines or [line for line in lines if "run_finished" in line]
    assert not [line for line in lines if "run_status" in line]
