"""The pages of schedules: create, watch, pause, edit and delete."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from portal.presenters.content.cron import cron_words
from tests.checks import not_none
from tests.factories.runs import add_artifact, make_run
from tests.factories.skills import publish_files, tidy_files
from tests.pages import actions, part, parts, select
from worker.models import InputFile, Run, Schedule, ScheduleFiring
from worker.schedules.fire import fire_pending

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
    listed = client.get("/schedules/")
    assert [row["value"] for row in parts(listed, "schedule")] == [schedule.uid]
    [row] = parts(listed, "schedule")
    assert [time.text[-5:] for time in row.tags("time")] == ["09:00"]  # in the zone of the schedule
    assert part(row, "until").text


def test_cron_expression_is_shown_in_words(skill, filled, browse, alice):
    client = browse(alice)
    shown = {name: value for name, value in filled.items() if name != "save"}
    preview = client.post(address(skill), shown | {"preview": "1"})
    client.post(address(skill), filled)
    place = f"/schedules/{Schedule.objects.get().uid}/"
    for page in (preview, client.get("/schedules/"), client.get(place)):
        assert part(page, "cron-words").text == cron_words("0 9 * * 1")
    Schedule.objects.update(cron="0 9 L * *")
    assert not parts(client.get(place), "cron-words")


def test_form_shows_the_progress_of_an_upload(skill, filled, browse, alice):
    client = browse(alice)
    assert "hidden" in part(client.get(address(skill)), "upload").attributes
    answer = client.post(address(skill), filled, headers={"X-Upload": "1"})
    assert (answer.status_code, answer["X-Location"]) == (204, f"/schedules/{Schedule.objects.get().uid}/")


NEEDS_FILE = {
    "schema": b"input_schema: {type: object, properties: {table_path: {type: string}}}\n",
    "arguments": b"",
}


@pytest.fixture
def publish_reader(team, alice):
    """``publish_reader(form)``: a skill whose input is a file, with this kind of form."""

    def make(form):
        head = b"---\nname: reader\ndescription: For tests.\nversion: 1.0.0\n" + NEEDS_FILE[form] + b"---\n"
        files = {"SKILL.md": head, "scripts/read.py": b"import sys\nprint(sys.argv)\n"}
        return publish_files(files, team=team, user=alice).skill

    return make


@pytest.fixture
def file_schedule(publish_reader, filled, alice, browse):
    """A schedule of Alice with the file table.csv, sent with the form."""
    skill = publish_reader("schema")
    upload = SimpleUploadedFile("table.csv", b"a,b")
    answer = browse(alice).post(address(skill), filled | {"input-0-file": upload})
    assert answer.status_code == 302, answer.context["form"].errors
    return Schedule.objects.get()


def edit_fields(filled, schedule, **more):
    """The fields of the form as it shows the schedule, which keeps its file."""
    uid = schedule.request["inputs"]["table_path"]["input"]
    return filled | {"input-0-kept": f"{uid}/table.csv"} | more


@pytest.mark.row("P10")
@pytest.mark.parametrize("form", NEEDS_FILE)
def test_form_takes_files_like_the_run_form(form, publish_reader, alice, browse):
    skill, client = publish_reader(form), browse(alice)
    names = [
        {field["name"] for field in select(client.get(page), "input", type="file")}
        for page in (address(skill), f"/skills/{skill}/run/")
    ]
    assert names[0] == names[1] != set()


@pytest.mark.row("P10")
def test_page_and_form_show_the_file_of_a_schedule(file_schedule, browse, alice, bob):
    page = browse(alice).get(f"/schedules/{file_schedule.uid}/")
    assert part(page, "file")["value"] == "/table_path"
    assert "table.csv" in part(page, "file").text
    assert select(page, "a", data_action="edit-files")
    form = browse(alice).get(f"/schedules/{file_schedule.uid}/edit/")
    assert "table.csv" in part(form, "kept").text
    assert "table.csv" in part(form, "file").text
    assert not parts(browse(bob).get(f"/schedules/{file_schedule.uid}/"), "file")


@pytest.mark.row("P10")
def test_file_is_kept_replaced_and_removed_with_the_form(file_schedule, filled, browse, alice):
    client, place = browse(alice), f"/schedules/{file_schedule.uid}/edit/"
    InputFile.objects.all().delete()
    fields = edit_fields(filled, file_schedule)

    def files():
        file_schedule.refresh_from_db()
        return [file["path"] for file in file_schedule.files]

    assert client.post(place, fields | {"name": "Renamed"}).status_code == 302
    assert (files(), file_schedule.name) == (["/job/work/table.csv"], "Renamed")
    client.post(place, fields | {"input-0-file": SimpleUploadedFile("new.csv", b"c")})
    assert files() == ["/job/work/new.csv"]
    client.post(place, edit_fields(filled, file_schedule, **{"input-0-remove": "on"}))
    assert files() == []
    assert file_schedule.request["inputs"] == {}


@pytest.mark.row("P10")
@pytest.mark.parametrize("button", ["preview", "save"])
def test_upload_is_kept_when_the_form_is_shown_again(button, publish_reader, filled, alice, browse):
    skill, client = publish_reader("schema"), browse(alice)
    sent = {name: value for name, value in filled.items() if name != "save"}
    sent |= {button: "1", "cron": "never", "input-0-file": SimpleUploadedFile("table.csv", b"a,b")}
    answer = client.post(address(skill), sent)
    assert answer.status_code == (422 if button == "save" else 200)
    uid = InputFile.objects.get().uid
    assert select(answer, "input", name="input-0-kept")[0]["value"] == f"{uid}/table.csv"
    assert client.post(address(skill), filled | {"input-0-kept": f"{uid}/table.csv"}).status_code == 302
    assert [file["digest"] for file in Schedule.objects.get().files] == [InputFile.objects.get().digest]


@pytest.mark.row("P10")
def test_files_of_arguments_are_kept_when_the_form_is_shown_again(publish_reader, filled, alice, browse):
    skill, client = publish_reader("arguments"), browse(alice)
    sent = {name: value for name, value in filled.items() if not name.startswith("input-")}
    upload = SimpleUploadedFile("table.csv", b"a,b")
    answer = client.post(
        address(skill), sent | {"cron": "never", "arguments": "-i table.csv", "argument_files": upload}
    )
    assert answer.status_code == 422
    line = answer.context["run_form"].options["arguments"].value()
    assert client.post(address(skill), sent | {"arguments": line}).status_code == 302
    schedule = Schedule.objects.get()
    assert [file["pointer"] for file in schedule.files] == ["arguments/1"]
    assert "table.csv" in part(client.get(f"/schedules/{schedule.uid}/edit/"), "file").text


@pytest.mark.row("P10")
def test_removed_file_of_a_row_removes_its_argument(publish_reader, filled, alice, browse):
    skill, client = publish_reader("arguments"), browse(alice)
    row = {"rows": "1", "key-0": "table", "value-0-file": SimpleUploadedFile("table.csv", b"a,b")}
    client.post(address(skill), filled | row)
    schedule = Schedule.objects.get()
    kept = {"value-0-kept": f"{schedule.request['inputs']['table']['input']}/table.csv"}
    row = {"rows": "1", "key-0": "table", **kept, "value-0-remove": "on"}
    assert client.post(f"/schedules/{schedule.uid}/edit/", filled | row).status_code == 302
    schedule.refresh_from_db()
    assert (schedule.files, schedule.request["inputs"]) == ([], {})


@pytest.mark.row("P10", "P8")
def test_files_of_earlier_runs_are_suggested_once(publish_reader, filled, alice, browse, team):
    """The page has one list for all controls, so that it stays below 60 kB."""
    skill = publish_reader("arguments")
    run = make_run(not_none(skill.latest), alice, team)
    for number in range(30):
        add_artifact(run, f"report/a-rather-long-name-of-a-file-{number}.csv", b"a,b")
    page = browse(alice).get(address(skill))
    (suggested,) = select(page, "datalist", id="artifacts")
    assert len(suggested.tags("option")) == 30
    assert {field["list"] for field in select(page, "input") if field["name"].endswith("-artifact")} == {
        "artifacts"
    }
    assert len(page.content) < 60_000


@pytest.mark.row("P10")
def test_file_above_the_limit_is_refused_at_the_form(publish_reader, filled, alice, browse, settings):
    settings.SKILLQUAY_MAX_INPUT_BYTES = 2
    skill = publish_reader("schema")
    upload = SimpleUploadedFile("table.csv", b"a,b")
    answer = browse(alice).post(address(skill), filled | {"input-0-file": upload})
    assert answer.status_code == 422
    assert [error.code for error in answer.context["form"].errors.as_data()["__all__"]] == ["INPUT_TOO_LARGE"]
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("skill=week", True),
        ("skill=csv", False),
        ("skill=docs/weekly", False),
        ("skill=docs/weekly-report&state=active", True),
    ],
)
def test_part_of_a_skills_name_narrows_the_list(query, listed, skill, filled, browse, alice):
    client = browse(alice)
    client.post(address(skill), filled)
    page = client.get(f"/schedules/?{query}")
    assert bool(parts(page, "schedule")) is listed
    assert [option["value"] for option in select(page, "datalist", id="skill-list")[0].tags("option")] == [
        str(skill)
    ]
    assert bool(parts(page, "empty", state="filtered")) is not listed
    assert bool(select(page, "input", type="hidden", name="state")) is ("state" in query)


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


def test_next_runs_are_in_the_zone_of_the_schedule(skill, filled, browse, alice):
    client = browse(alice)
    client.cookies["zone"] = "Asia/Tokyo"
    client.post(address(skill), filled)
    page = client.get(f"/schedules/{Schedule.objects.get().uid}/")
    first = part(page, "next-runs").select("time")[0]
    assert re.fullmatch(r"Mon \d{4}-\d\d-\d\d 09:00", first.text)
    assert re.search(r" 1[67]:00:00 Asia/Tokyo$", first["title"])
    assert part(page, "missed-runs")["value"] == "none"


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
    del filled["save"]
    preview = browse(alice).post(address(skill), filled | change | {"preview": "1"})
    assert code in {error.code for error in preview.context["form"].errors.as_data()[field]}
    assert part(preview, "next-runs")["state"] == "invalid"


def test_form_marks_fields_that_can_be_left_empty_by_mistake(skill, browse, alice):
    page = browse(alice).get(address(skill))
    marked = {
        label["for"].removeprefix("id_")
        for label in select(page, "label")
        if select(label, "span", class_="optional")
    }
    assert {"cron", "every", "at", "time_zone"} <= marked
    assert marked.isdisjoint({"name", "kind", "version", "run_as", "overlap"})
    assert select(page, "input", name="name")[0]["value"] == str(skill)
    [examples] = select(page, "datalist", id="cron-list")
    assert all(option.text for option in examples.tags("option"))


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


def test_schedule_is_run_at_once(skill, filled, browse, alice, bob):
    client = browse(alice)
    client.post(address(skill), filled)
    schedule = Schedule.objects.get()
    place = f"/schedules/{schedule.uid}/"
    assert "run-now" not in actions(browse(bob).get(place))
    assert browse(bob).post(f"{place}run/").status_code == 302
    assert not schedule.firings.exists()
    assert part(client.get(place), action="run-now")
    page = client.post(f"{place}run/", follow=True)
    assert part(page, "firing")["state"] == "pending"
    assert fire_pending(timezone.now()) == 1
    run = Run.objects.get()
    assert (run.caller, run.request["inputs"]) == (alice, schedule.request["inputs"])
    assert part(client.get(place), "firing")["state"] == "started"
    client.post(f"{place}pause/")
    client.post(f"{place}run/")
    assert schedule.firings.count() == 1


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
