"""The pages of schedules: create, watch, pause, edit and delete."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.checks import not_none
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files
from tests.pages import part, parts
from worker.models import Run, Schedule, ScheduleFiring

pytestmark = [pytest.mark.django_db, pytest.mark.row("B7")]


@pytest.fixture
def skill(team, alice):
    return publish_files(tidy_files(), team=team, user=alice).skill


@pytest.fixture
def filled(skill, browse, alice):
    """The fields of the form for a new schedule, as the page shows them, with valid inputs."""
    return {
        "name": "Weekly",
        "kind": "cron",
        "cron": "0 9 * * 1",
        "unit": "minutes",
        "time_zone": "Europe/Berlin",
        "version": "channel:latest",
        "run_as": "user:alice",
        "overlap": "skip",
        "catch_up": "none",
        "catch_up_limit": "10",
        "jitter_s": "0",
        "input-0": "Week 47",
        "input-1": '"en"',
        "save": "1",
    }


def address(skill):
    return f"/schedules/new/?skill={skill}"


def test_schedule_is_created_on_the_page_and_listed(skill, filled, browse, alice):
    client = browse(alice)
    form = client.get(address(skill))
    assert form.status_code == 200
    assert len(form.context["next_runs"]) == 10
    answer = client.post(address(skill), filled, follow=True)
    schedule = Schedule.objects.get()
    assert answer.redirect_chain[-1][0] == f"/schedules/{schedule.uid}/"
    assert (schedule.cron, schedule.time_zone, schedule.run_as) == ("0 9 * * 1", "Europe/Berlin", alice)
    assert len(answer.context["next_runs"]) == 10
    assert [row["value"] for row in parts(client.get("/schedules/"), "schedule")] == [schedule.uid]


def test_list_shows_the_outcomes_of_the_last_firings(skill, filled, browse, alice, team):
    client = browse(alice)
    client.post(address(skill), filled)
    schedule, now = Schedule.objects.get(), timezone.now()
    for hours, status in ((4, "succeeded"), (3, "failed"), (2, "cancelled"), (1, None)):
        due = now - timedelta(hours=hours)
        run = make_run(skill.latest, alice, team, status=status) if status else None
        state = "started" if status else "missed"
        ScheduleFiring.objects.create(
            schedule=schedule, due=due, last_due=due, fire_at=due, state=state, run=run
        )
    row = part(client.get("/schedules/"), "schedule")
    strip = part(row, "strip")
    assert (strip["value"], strip["href"]) == ("50", f"/schedules/{schedule.uid}/")
    assert [bar["class"] for bar in strip.tags("rect")] == ["ok", "bad", "quiet", "warn"]


def test_preview_shows_next_runs_and_saves_nothing(skill, filled, browse, alice):
    del filled["save"]
    shown = browse(alice).post(address(skill), {**filled, "preview": "1", "cron": "0 10 * * *"})
    assert (shown.status_code, len(shown.context["next_runs"])) == (200, 10)
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"cron": "61 * * * *"}, "cron", "SCHEDULE_CRON_INVALID"),
        ({"cron": ""}, "cron", "required"),
        ({"time_zone": "Mars"}, "time_zone", "SCHEDULE_ZONE_UNKNOWN"),
        ({"kind": "once", "at": "2001-01-01T10:00"}, "at", "SCHEDULE_NEVER_DUE"),
    ],
)
def test_error_is_shown_at_its_field(change, field, code, skill, filled, browse, alice):
    answer = browse(alice).post(address(skill), filled | change)
    assert answer.status_code == 422
    assert code in {error.code for error in answer.context["form"].errors.as_data()[field]}
    assert not Schedule.objects.exists()


def test_schedule_is_paused_edited_resumed_deleted_and_restored(skill, filled, browse, alice):
    client = browse(alice)
    client.post(address(skill), filled)
    schedule = Schedule.objects.get()
    place = f"/schedules/{schedule.uid}/"
    client.post(f"{place}pause/", {"reason": "Holidays."})
    assert part(client.get(place), "pause")
    form = client.get(f"{place}edit/")
    assert form.context["form"].initial["cron"] == "0 9 * * 1"
    client.post(f"{place}edit/", filled | {"kind": "interval", "every": "2", "unit": "hours"})
    schedule.refresh_from_db()
    assert (schedule.kind, schedule.every_s, schedule.state) == ("interval", 7200, "paused")
    client.post(f"{place}resume/")
    client.post(f"{place}delete/")
    assert client.get(place).status_code == 404
    client.post(f"{place}restore/")
    schedule.refresh_from_db()
    assert (schedule.state, schedule.deleted_at) == ("active", None)


def test_history_shows_runs_and_reasons(skill, filled, browse, alice, bob):
    from registry.versions.publishing.version_rows import serialize_problem
    from worker.schedules.errors import FIRING_MISSED

    browse(alice).post(address(skill), filled)
    schedule = Schedule.objects.get()
    due = not_none(schedule.next_at)
    ScheduleFiring.objects.create(
        schedule=schedule, due=due, last_due=due, fire_at=due, finished_at=due, state="missed", count=3,
        problem=serialize_problem(FIRING_MISSED.problem()),
    )  # fmt: skip
    shown = browse(bob).get(f"/schedules/{schedule.uid}/")
    assert part(shown, "firing")["state"] == "missed"
    assert not Run.objects.exists()
    assert shown.context["request_text"] is None
    assert b'data-action="edit"' not in shown.content


def test_stranger_gets_404(skill, filled, browse, alice, charlie):
    browse(alice).post(address(skill), filled)
    uid = Schedule.objects.get().uid
    client = browse(charlie)
    assert client.get(f"/schedules/{uid}/").status_code == 404
    for action in ("pause", "resume", "delete", "restore"):
        assert client.post(f"/schedules/{uid}/{action}/").status_code == 404
    assert client.get(address(skill)).status_code == 404


def test_form_folds_rare_policies_unless_they_are_set(skill, filled, browse, alice):
    client = browse(alice)
    page = client.get(f"/schedules/new/?skill={skill}")
    assert all(parts(page, **{"for": kind}) for kind in ("cron", "interval", "once"))
    assert "open" not in part(page, "rare-policies").attributes
    refused = client.post(f"/schedules/new/?skill={skill}", filled | {"jitter_s": "-1"})
    assert "open" in part(refused, "rare-policies").attributes
