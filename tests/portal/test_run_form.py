from __future__ import annotations

import json
import textwrap

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from portal.pages.runs.views import form
from registry.identity.actors import Actor
from registry.models import Membership, ResumableUpload, Role
from registry.packages.problems import code_named
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import is_chinese, part, parts, select
from worker.core.display_budget import MAX_PREFILL
from worker.models import Artifact, InputFile, Run, TeamDailyUsage, TeamLimits
from worker.quotas.team_limits import today
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C5", "P10", "P11", "A4", "A5", "B5", "B6")]

WEATHER = """---
name: weather
description: Reads a file of days and says the average.
version: 1.0.0
input_schema:
  type: object
  required: [city]
  properties:
    city: {type: string, title: City, minLength: 2}
    days: {type: integer, minimum: 0, maximum: 14, default: 3}
    data_path: {type: string}
    output_dir: {type: string}
---
# Weather
"""
STATIC = """type: static
capabilities: [reading]
tags: [reading]
triggers: {phrases: [read]}
input_schema: {type: object}
output_schema: {type: object}
security: {timeout_ms: 1000, memory_mb: 64, network: none}
resources: {references: [./references/a.md]}
"""
SCRIPT = """
    import json, sys
    given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    print("50% complete", file=sys.stderr)
    if "--output-dir" in given:
        open(given["--output-dir"] + "/report.txt", "w").write("report of " + given.get("--city", "?"))
    if "--data-path" in given:
        given["read"] = open(given["--data-path"]).read()
    given["stdin"] = sys.stdin.read()
    print(json.dumps(given))
"""


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


def _publish(team, user, head, scripts, **more):
    files = {"SKILL.md": head.encode()}
    files |= {f"scripts/{name}": textwrap.dedent(text).encode() for name, text in scripts.items()}
    return publish_files(files | more.pop("files", {}), team=team, user=user, **more)


def _head(name, more=""):
    return f"---\nname: {name}\ndescription: A skill of the tests.\nversion: 1.0.0\n{more}---\n# {name}\n"


@pytest.fixture
def weather(team, alice):
    return _publish(team, alice, WEATHER, {"weather.py": SCRIPT}, visibility="site")


@pytest.fixture
def plain(team, alice):
    return _publish(team, alice, _head("plain"), {"plain.py": SCRIPT})


def _fields(page, **values):
    """The form's hidden fields, and values by the labels' keys."""
    return {"version": "1.0.0", "form_token": "x" * 26} | values


def test_a_form_made_from_the_schema_starts_a_run_and_leads_to_it(browse, bob, weather):
    client = browse(bob)
    page = client.get("/skills/docs/weather/run/").content.decode()
    assert "City" in page
    assert 'value="3"' in page
    assert "curl -sS" in page
    assert "&quot;skill&quot;: &quot;docs/weather&quot;" in page
    upload = SimpleUploadedFile("days.txt", b"sunny")
    answer = client.post(
        "/skills/docs/weather/run/",
        _fields(page, **{"input-0": "北京", "input-1": "0", "input-2-file": upload, "input-3": "out"}),
    )
    run = Run.objects.get()
    assert answer.url == f"/runs/{run.uid}/"
    assert run.request["inputs"]["days"] == 0
    run = execute_here(run)
    assert run.status == "succeeded", run.message
    shown = client.get(f"/runs/{run.uid}/").content.decode()
    for text in ("sunny", "report.txt", "50% complete", "北京", "/job/work/days.txt"):
        assert text in shown


@pytest.mark.row("C12")
def test_a_stored_answer_is_passed_over_where_the_form_says_so(browse, bob, weather, team, alice):
    stored = _publish(team, alice, _head("stored", "cacheable: true\nttl: 600\n"), {"stored.py": SCRIPT})
    client = browse(bob)
    address = f"/skills/{stored.skill}/run/"
    assert 'name="no_cache"' in client.get(address).text
    assert 'name="no_cache"' not in client.get("/skills/docs/weather/run/").text
    for once, asked in (("a", {}), ("b", {}), ("c", {"no_cache": "on"})):
        client.post(address, {"version": "1.0.0", "form_token": once * 26, **asked})
        run = Run.objects.latest("pk")
        if run.status == "queued":
            execute_here(run)
    assert [run.cached_from_id is not None for run in Run.objects.order_by("pk")] == [False, True, False]


def test_a_form_sent_twice_starts_one_run(browse, bob, weather):
    client = browse(bob)
    for _ in range(2):
        client.post("/skills/docs/weather/run/", _fields(None, **{"input-0": "北京", "input-1": "1"}))
    assert Run.objects.count() == 1


def test_every_problem_is_at_its_field_and_the_upload_is_kept(browse, bob, weather):
    client = browse(bob)
    upload = SimpleUploadedFile("days.txt", b"sunny")
    answer = client.post(
        "/skills/docs/weather/run/", _fields(None, **{"input-0": "x", "input-1": "2", "input-2-file": upload})
    )
    page = answer.content.decode()
    assert answer.status_code == 422
    assert part(page, "errors").values("field") == ["input-0"]
    assert 'href="#id_input-0"' in page
    assert InputFile.objects.get().uid in page
    assert "days.txt" in part(page, "kept")
    both = client.post("/skills/docs/weather/run/", _fields(None, **{"input-0": "", "input-1": "99"}))
    assert part(both, "errors").values("field") == ["input-0", "input-1"]
    assert not Run.objects.exists()


def test_problem_of_no_field_is_shown_with_its_remedy(browse, bob, weather, team):
    TeamLimits.objects.create(team=team, runs_per_day=1)
    TeamDailyUsage.objects.create(team=team, day=today(), runs=1)
    answer = browse(bob).post(
        "/skills/docs/weather/run/", _fields(None, **{"input-0": "Kyiv", "input-1": "2"})
    )
    assert answer.status_code == 422
    error = part(part(answer, "errors"), code="TEAM_RUNS_EXCEEDED")
    assert code_named("TEAM_RUNS_EXCEEDED").remedy in error.text


def test_what_a_field_cannot_see_is_said_together_with_what_it_can(browse, bob, weather):
    answer = browse(bob, "zh-hans").post(
        "/skills/docs/weather/run/", _fields(None, **{"input-0": "x", "input-1": "99"})
    )
    assert answer.status_code == 422
    errors = part(answer, "errors")
    assert errors.values("field") == ["input-0", "input-1"]
    assert all(is_chinese(error.text.partition("：")[2]) for error in errors.tags("li"))


def test_the_same_inputs_can_be_given_as_json(browse, bob, weather):
    client = browse(bob)
    page = client.get("/skills/docs/weather/run/?format=json").content.decode()
    assert "inputs_json" in page
    bad = client.post(
        "/skills/docs/weather/run/?format=json",
        {"version": "1.0.0", "format": "json", "inputs_json": '{"city": 3}'},
    )
    assert bad.status_code == 422
    assert "/city" in bad.content.decode()
    good = client.post(
        "/skills/docs/weather/run/?format=json",
        {"version": "1.0.0", "format": "json", "inputs_json": json.dumps({"city": "北京"})},
    )
    assert good.status_code == 302
    assert Run.objects.get().request["inputs"] == {"city": "北京"}


def test_an_earlier_run_fills_the_form_by_its_id_alone(browse, bob, alice, charlie, weather):
    client = browse(bob)
    client.post("/skills/docs/weather/run/", _fields(None, **{"input-0": "上海", "input-1": "7"}))
    run = Run.objects.get()
    page = client.get(f"/skills/docs/weather/run/?rerun_of={run.uid}").content.decode()
    assert "上海" in page
    assert 'value="7"' in page
    assert browse(charlie).get(f"/skills/docs/weather/run/?rerun_of={run.uid}").status_code == 404
    again = client.post(f"/runs/{run.uid}/rerun/")
    assert again.status_code == 302
    second = Run.objects.exclude(pk=run.pk).get()
    assert second.rerun_of == run
    assert second.request["inputs"] == run.request["inputs"]


def test_long_inputs_are_not_filled_in_and_a_button_repeats_them(browse, bob, team, weather):
    request = {"inputs": {"city": "上" * 20_000, "days": 2}}
    run = make_run(weather, bob, team, request=request)
    client = browse(bob, "zh-hans")
    page = client.get(f"/skills/docs/weather/run/?rerun_of={run.uid}").text
    assert "上上" not in page
    note = part(page, "long-inputs")
    assert is_chinese(note.tags("p")[0].text)
    assert note.tags("a")[0]["href"] == f"/runs/{run.uid}/"
    answer = client.post(note.tags("form")[0]["action"])
    second = Run.objects.exclude(pk=run.pk).get()
    assert (answer.url, second.rerun_of) == (f"/runs/{second.uid}/", run)
    assert second.request["inputs"] == run.request["inputs"]


def test_inputs_up_to_the_limit_are_filled_in(browse, bob, team, weather):
    request = {"inputs": {"city": "x" * (MAX_PREFILL - 100)}}
    run = make_run(weather, bob, team, request=request)
    page = browse(bob).get(f"/skills/docs/weather/run/?rerun_of={run.uid}").text
    assert "x" * (MAX_PREFILL - 100) in page
    assert not parts(page, "long-inputs")


def test_a_waiting_run_can_be_stopped(browse, bob, charlie, weather):
    client = browse(bob)
    client.post("/skills/docs/weather/run/", _fields(None, **{"input-0": "上海", "input-1": "7"}))
    run = Run.objects.get()
    assert browse(charlie).post(f"/runs/{run.uid}/cancel/").status_code == 404
    client.post(f"/runs/{run.uid}/cancel/")
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert client.get(f"/runs/{run.uid}/cancel/").status_code == 405


def test_a_script_without_a_schema_gets_rows_files_and_stdin(browse, bob, plain):
    client = browse(bob)
    page = client.get("/skills/docs/plain/run/").content.decode()
    assert 'name="key-0"' in page
    assert 'name="stdin"' in page
    more = client.post(
        "/skills/docs/plain/run/", {"version": "1.0.0", "rows": "3", "add_rows": "1", "key-0": "a"}
    )
    assert 'name="key-5"' in more.content.decode()
    assert more.status_code == 200
    values = {"rows": "3", "key-0": "input_value", "value-0-text": "1 'two'", "key-1": "data_path"}
    upload = SimpleUploadedFile("days.txt", b"sunny")
    client.post(
        "/skills/docs/plain/run/", _fields(None, **values, **{"value-1-file": upload, "stdin": "a\r\nb"})
    )
    run = execute_here(Run.objects.get())
    outputs = run.result["outputs"]
    assert outputs["--input-value"] == "1 'two'"
    assert outputs["read"] == "sunny"
    assert outputs["stdin"] == "a\nb"
    again = client.get(f"/skills/docs/plain/run/?rerun_of={run.uid}").content.decode()
    assert "1 &#x27;two&#x27;" in again
    assert "input_value" in again


ECHO = "import json, sys; print(json.dumps({'argv': sys.argv[1:]}))"


@pytest.fixture
def echo(team, alice):
    return _publish(team, alice, _head("echo"), {"echo.py": ECHO})


@pytest.mark.row("A2")
def test_argument_line_is_split_without_a_shell_and_names_its_files(browse, bob, echo):
    client = browse(bob)
    uploads = [SimpleUploadedFile(name, b"1") for name in ("in put.txt", "last.txt")]
    line = "build 'in put.txt' \"$HOME *\" --json ''"
    client.post(
        "/skills/docs/echo/run/",
        _fields(
            None, arguments=line, argument_files=uploads, rows="1", **{"key-0": "a", "value-0-text": "1"}
        ),
    )
    run = execute_here(Run.objects.get())
    files = [use["path"] for use in run.files]
    assert [path.rpartition("/")[2] for path in files] == ["in put.txt", "last.txt"]
    argv = ["build", files[0], "$HOME *", "--json", "", files[1], "--a", "1"]
    assert run.result["outputs"]["argv"] == argv
    page = client.get(f"/runs/{run.uid}/").text
    assert "build &#x27;in put.txt&#x27;" in page
    (field,) = select(client.get(f"/skills/docs/echo/run/?rerun_of={run.uid}"), "textarea", name="arguments")
    client.post("/skills/docs/echo/run/", _fields(None, rows="0", arguments=field.text, rerun_of=run.uid))
    assert Run.objects.latest("pk").request["arguments"] == run.request["arguments"]


@pytest.mark.row("P3")
def test_files_that_were_sent_in_chunks_keep_their_order(browse, bob, echo):
    client, uids = browse(bob), []
    for name in ("b.txt", "a.txt"):
        body = {"name": name, "size": 3}
        uids.append(client.post("/api/v1/uploads", body, content_type="application/json").json()["id"])
        client.put(f"/api/v1/uploads/{uids[-1]}?offset=0", b"one", content_type="application/octet-stream")
    values = {"arguments": "build", "rows": "0", "upload:argument_files": uids}
    client.post("/skills/docs/echo/run/", _fields(None, **values), headers={"X-Upload": "1"})
    run = Run.objects.get()
    assert [use["path"].rpartition("/")[2] for use in run.files] == ["b.txt", "a.txt"]
    assert not ResumableUpload.objects.exists()


@pytest.mark.row("A2")
def test_arguments_of_a_skill_with_a_schema_follow_its_form(browse, bob, weather):
    values = {"input-0": "北京", "input-1": "0", "arguments": "--city x"}
    browse(bob).post("/skills/docs/weather/run/", _fields(None, **values))
    assert Run.objects.get().request["arguments"] == ["--city", "x"]


@pytest.mark.row("A2")
@pytest.mark.parametrize("line", ["'open", '"open', "end\\"])
def test_line_that_cannot_be_split_is_refused_at_its_field(browse, bob, echo, line):
    answer = browse(bob).post("/skills/docs/echo/run/", _fields(None, rows="0", arguments=line))
    assert answer.status_code == 422
    (field,) = select(answer, "textarea", name="arguments")
    assert field["aria-invalid"] == "true"
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "values",
    [
        {"key-0": "1bad", "value-0-text": "x"},
        {"value-0-text": "x"},
        {"key-0": "a", "key-1": "a"},
        {"key-0": "data", "value-0-artifact": "x/y"},
    ],
)
def test_a_row_that_makes_no_sense_is_said(browse, bob, plain, values):
    answer = browse(bob).post("/skills/docs/plain/run/", _fields(None, rows="3", **values))
    assert answer.status_code == 422
    assert "error-summary" in answer.content.decode()
    assert not Run.objects.exists()


def test_a_scripts_own_help_is_shown_beside_its_form(browse, bob, team, alice):
    script = """
        import sys
        if "--help" in sys.argv:
            print("Counts words --top")
    """
    _publish(team, alice, _head("counted"), {"counted.py": script})
    client = browse(bob)
    client.post("/skills/docs/counted/run/", _fields(None, rows="3", help="1"))
    execute_here(Run.objects.get())
    page = client.get("/skills/docs/counted/run/").content.decode()
    assert "Counts words" in page
    assert "--top" in page


def test_of_several_scripts_one_is_chosen(browse, bob, team, alice):
    _publish(team, alice, _head("several"), {"one.py": SCRIPT, "two.py": SCRIPT})
    client = browse(bob)
    page = client.get("/skills/docs/several/run/?script=two").content.decode()
    assert '<option value="two" selected>' in page
    assert client.post("/skills/docs/several/run/", _fields(None, rows="1")).status_code == 422
    client.post("/skills/docs/several/run/", _fields(None, rows="1", script="two"))
    assert Run.objects.get().entry == "scripts/two.py"


def test_the_debug_switch_reaches_the_script(browse, bob, team, alice):
    script = 'import os, json\nprint(json.dumps({"debug": os.environ.get("SKILL_DEBUG")}))\n'
    _publish(team, alice, _head("debugged"), {"debugged.py": script})
    browse(bob).post("/skills/docs/debugged/run/", _fields(None, rows="1", debug="on"))
    assert execute_here(Run.objects.get()).result["outputs"] == {"debug": "1"}


def test_a_prompt_leads_to_use_and_reading_matter_says_what_it_is(browse, bob, team, alice, public):
    client = browse(bob)
    assert client.get("/skills/docs/kind-review/run/").url == "/skills/docs/kind-review/use/"
    _publish(team, alice, _head("reading", STATIC), {}, files={"references/a.md": b"# A\n"})
    page = client.get("/skills/docs/reading/run/")
    assert part(page, "nothing-to-run")["state"] == "static"


def test_strangers_sign_in_first_and_viewers_are_told_why_not(browse, bob, team, weather, django_user_model):
    from registry.versions.lifecycle.settings import set_visibility

    assert browse().get("/skills/docs/weather/run/").status_code == 404
    from registry.identity.actors import Actor

    set_visibility(weather.skill, "public", Actor(user=team.memberships.get(role="owner").user))
    answer = browse().get("/skills/docs/weather/run/?format=json")
    assert answer.url == "/sign-in/?next=/skills/docs/weather/run/%3Fformat%3Djson"
    set_visibility(weather.skill, "private", Actor(user=team.memberships.get(role="owner").user))
    viewer = django_user_model.objects.create_user("vera")
    Membership.objects.create(team=team, user=viewer, role=Role.VIEWER)
    page = browse(viewer).get("/skills/docs/weather/run/")
    assert page.status_code == 403
    assert part(page, "nothing-to-run")["state"] == "role"
    assert b'name="run"' not in page.content
    type(team).objects.update(archived_at=timezone.now())
    assert part(browse(bob).get("/skills/docs/weather/run/"), "nothing-to-run")["state"] == "archived"


def test_form_offers_files_of_the_newest_runs_only(browse, bob, team, weather, monkeypatch):
    monkeypatch.setattr(form, "_MAX_SEARCHED", 2)
    runs = [make_run(weather, bob, team) for _ in range(3)]
    for run in runs:
        Artifact.objects.create(run=run, path="report.csv", size=1, digest="sha256:1")
    offered = form.recent_artifacts(Actor(user=bob))
    assert [uid for uid, *_ in offered] == [runs[2].uid, runs[1].uid]
