from __future__ import annotations

import html
from datetime import timedelta

import pytest

from portal.pages.runs.presenters.timeline import PLATFORM
from portal.presenters.charts import round_up
from registry.accounts import service_accounts
from registry.identity.actors import Actor
from tests.factories.runs import add_artifact, add_log, add_step, make_hostile_run, make_run
from tests.pages import actions, part, parts, select
from worker.daily_runs.roll_up import roll_up_all
from worker.failures.recount import group_earlier_runs
from worker.models import TeamLimits
from worker.protocols.errors import SCRIPT_FAILED

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P8", "C11", "B3", "B6")]


@pytest.fixture
def run(public, bob, team):
    made = make_run(public.latest, bob, team)
    add_log(made, ("stdout", "first\nsecond\n"), ("stderr", "\x1b[31m50% complete\x1b[0m\n"))
    add_artifact(made, "out/report.csv", b"a,b\n1,2\n")
    add_step(made, 0, "验证输入", input={"n": 1}, output={"ok": True})
    add_step(made, 1, "Clean", error={"name": "ValueError", "message": "bad row", "stack": "at line 3"})
    return made


def test_a_run_shows_status_times_log_steps_result_and_files(browse, bob, run):
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert part(page, "run-status")["state"] == "succeeded"
    for text in (
        "0.40 s",
        "2.1 s",
        "Seven days read.",
        "One day has no data.",
        "out/report.csv",
        "8 B",
    ):
        assert text in page
    assert select(page, "div", id="L1")
    assert "50% complete" in page
    assert "\x1b" not in page
    assert "验证输入" in page
    assert "at line 3" in page
    platform = [step.text for step in parts(page, "step", state="platform")]
    assert any(str(PLATFORM["execute"]) in text for text in platform)
    own = parts(page, "step", state="skill")
    assert ["open" in step.tags("details")[0].attributes for step in own] == [False, True]
    steps = parts(page, "step")  # waiting, five of the platform, two of the skill
    assert [len(step.select("svg", class_="chart")) for step in steps] == [1] * 8
    assert "北京" in page
    assert "data-live=" not in page


def test_steps_have_a_time_axis_with_units_that_ends_at_a_round_number(browse, bob, run):
    run.steps.filter(seq=1).update(duration_ms=1_100)
    own, platform = parts(browse(bob).get(f"/runs/{run.uid}/"), "time-axis")
    marks = [mark.text for mark in own.tags("text")]
    assert (own["value"], marks) == ("1600", ["0", "800 ms", "1.6 s"])
    assert float(platform["value"]) >= 2_100
    for milliseconds, end in ((0, 1), (0.3, 0.3), (1_600, 1_600), (1_601, 2_000), (61_000, 72_000)):
        assert round_up(milliseconds) == pytest.approx(end)


@pytest.mark.row("C11")
def test_steps_show_their_id_and_start(browse, bob, run):
    run.steps.update(timestamp=1_795_167_000_012.0)
    run.steps.filter(seq=1).update(timestamp=9e14)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    own = parts(page, "step", state="skill")
    ids = list(run.steps.order_by("seq").values_list("step_id", flat=True))
    assert [part(step, "step-id").text.strip() for step in own] == ids
    assert [len(step.tags("time")) for step in own] == [1, 0]


def test_a_page_says_how_many_steps_it_leaves_out(browse, bob, run, monkeypatch):
    assert parts(browse(bob).get(f"/runs/{run.uid}/"), "omitted-steps") == []
    monkeypatch.setattr("portal.pages.runs.presenters.timeline.MAX_STEPS", 1)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert part(page, "omitted-steps")["value"] == "1"
    assert "at line 3" not in page


def test_a_site_without_isolation_says_so_on_every_page(browse, bob, run, settings):
    assert parts(browse(bob).get("/"), "unsafe-warning") == []
    settings.SKILLQUAY_SANDBOX = "unsafe"
    for path in ("/", f"/runs/{run.uid}/", "/sign-in/"):
        assert parts(browse(None if "sign" in path else bob).get(path), "unsafe-warning")


def test_the_skills_authors_see_status_code_and_duration_alone(browse, charlie, bob, team, public):
    team_of_charlie = charlie.memberships.get().team
    run = make_run(public.latest, charlie, team_of_charlie, status="failed", failure_code="DATA_NOT_FOUND")
    add_log(run, ("stdout", "secret line\n"))
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert "DATA_NOT_FOUND" in page
    assert "2.1 s" in page
    for secret in ("secret line", "北京", "Seven days", "One day has no data", "request-1"):
        assert secret not in page
    for path in ("log/", "artifacts/x"):
        assert browse(bob).get(f"/runs/{run.uid}/{path}").status_code == 404
    for path in ("cancel/", "again/"):
        assert browse(bob).post(f"/runs/{run.uid}/{path}").status_code == 404
    assert "secret line" not in browse(bob).get(f"/runs/{run.uid}/live/").content.decode()
    assert parts(browse(bob).get("/runs/"), "locked")


@pytest.mark.parametrize(
    "path", ["", "live/", "live/?part=log", "log/", "log/?raw=1", "artifacts/out/report.csv"]
)
def test_who_has_nothing_to_do_with_a_run_learns_nothing_of_it(browse, charlie, run, path):
    for person in (charlie, None):
        answer = browse(person).get(f"/runs/{run.uid}/{path}")
        assert answer.status_code == 404
        assert "kind-review" not in answer.content.decode()
    assert run.uid not in browse(charlie).get("/runs/").content.decode()


def test_an_artifact_is_a_download_that_no_browser_opens(browse, bob, run):
    answer = browse(bob).get(f"/runs/{run.uid}/artifacts/out/report.csv")
    assert b"".join(answer.streaming_content) == b"a,b\n1,2\n"
    assert answer["Content-Disposition"] == 'attachment; filename="report.csv"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")
    assert answer["Content-Length"] == "8"


def test_the_whole_log_has_pages_and_a_link_to_every_line(browse, bob, public, team):
    run = make_run(public.latest, bob, team)
    add_log(run, ("stdout", "".join(f"line {n}\n" for n in range(1, 2501))))
    first = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert "line 2500<" in first
    assert "line 2200<" not in first
    assert part(first, "earlier-lines")["value"] == "2200"
    page = browse(bob).get(f"/runs/{run.uid}/log/?attempt=1&line=1500").content.decode()
    assert 'id="L1500"' in page
    assert 'id="L1001"' in page
    assert 'id="L2001"' not in page
    raw = browse(bob).get(f"/runs/{run.uid}/log/?raw=1")
    assert b"".join(raw.streaming_content).startswith(b"line 1\nline 2\n")
    assert raw["Content-Disposition"].startswith("attachment")


def test_a_running_log_goes_on_where_it_was_without_cutting_a_line(browse, bob, public, team):
    run = make_run(public.latest, bob, team, status="running", finished_at=None, progress=40)
    add_log(run, ("stdout", "one\ntwo\n"), ("stdout", "thr"))
    client = browse(bob)
    page = client.get(f"/runs/{run.uid}/").content.decode()
    assert 'id="L2"' in page
    assert 'id="L3"' not in page
    assert 'role="log"' in page
    assert 'http-equiv="refresh"' in page
    assert 'value="40"' in page
    assert f'data-events="/api/v1/runs/{run.uid}/events?after=1.11.running.40.' in page
    position = page.split('data-position="')[1].split('"')[0]
    add_log(run, ("stdout", "ee\nfour\n"))
    more = client.get(f"/runs/{run.uid}/live/?attempt=1&position={position}").content.decode()
    assert select(more, "div", id="L3")
    assert "three" in more
    assert "one" not in more.split('id="log-new"')[1]
    lines = client.get(f"/runs/{run.uid}/live/?attempt=1&position={position}&part=log").content.decode()
    assert lines.strip() == more[more.index('<div id="log-new"') :].strip()
    assert 'http-equiv="refresh"' not in client.get(f"/runs/{run.uid}/?refresh=0").content.decode()


@pytest.mark.parametrize(
    ("status", "code", "shown"),
    [
        ("queued", "", {"waiting"}),
        ("failed", "DATA_NOT_FOUND", {"failure"}),
        ("failed", "OWN_CODE", {"failure"}),
        ("timed_out", "TIMEOUT", {"failure"}),
        ("cancelled", "CANCELLED", {"failure"}),
        ("lost", "WORKER_LOST", {"failure", "lost"}),
        ("refused", "NETWORK_ALLOWLIST_UNAVAILABLE", {"failure"}),
    ],
)
def test_every_ending_is_explained(browse, bob, public, team, status, code, shown):
    started = {} if status in ("failed", "timed_out", "lost") else {"started_at": None}
    ended = {} if status != "queued" else {"finished_at": None}
    run = make_run(
        public.latest,
        bob,
        team,
        status=status,
        failure_code=code,
        message="",
        result=None,
        **started,
        **ended,
    )
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert {name for name in ("waiting", "failure", "stopped", "lost") if parts(page, name)} == shown
    if "failure" in shown:
        assert part(page, "failure")["code"] == code
    assert (code in part(page, "run-status").text) or not code
    assert ("stop" in actions(page)) == (status == "queued")


def test_timed_out_run_names_its_time_limit(browse, bob, public, team):
    failed = {"status": "timed_out", "failure_code": "TIMEOUT", "limits": {"timeout_s": 1.5}}
    run = make_run(public.latest, bob, team, **failed)
    assert "Ran for 2.1 s; the limit is 1.5 s" in part(browse(bob).get(f"/runs/{run.uid}/"), "time-limit")


def test_cancelled_run_names_who_cancelled_it(browse, alice, bob, public, team):
    names = {}
    for person in (alice, bob):
        run = make_run(public.latest, bob, team, status="queued", started_at=None, finished_at=None)
        browse(person).post(f"/runs/{run.uid}/cancel/")
        names[person.username] = part(browse(bob).get(f"/runs/{run.uid}/"), "cancelled-by")["value"]
    assert names == {"alice": "alice", "bob": ""}  # one's own runs have no entry in the audit log


def test_running_run_shows_the_usual_duration_of_its_version(browse, alice, bob, charlie, public, team):
    run = make_run(public.latest, bob, team, status="running", finished_at=None)
    assert not parts(browse(bob).get(f"/runs/{run.uid}/"), "usual-duration")
    for seconds in (10, 20, 30):
        at = run.created_at - timedelta(minutes=seconds)
        fields = {"created_at": at, "started_at": at, "finished_at": at + timedelta(seconds=seconds)}
        make_run(public.latest, bob, team, **fields)
    roll_up_all()
    for address in (f"/runs/{run.uid}/", f"/runs/{run.uid}/live/"):
        assert part(browse(bob).get(address), "usual-duration")["value"] == "20000"
    ended = make_run(public.latest, bob, team)
    assert not parts(browse(bob).get(f"/runs/{ended.uid}/"), "usual-duration")


def test_a_cached_answer_says_so_and_names_no_run_that_its_reader_may_not_see(
    browse, bob, charlie, public, team
):
    theirs = make_run(public.latest, charlie, charlie.memberships.get().team, skill=None)
    run = make_run(public.latest, bob, team, cached_from=theirs)
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert parts(page, "cached")
    assert theirs.uid not in page
    own = make_run(public.latest, bob, team, cached_from=run)
    assert f"/runs/{run.uid}/" in browse(bob).get(f"/runs/{own.uid}/").content.decode()


def test_a_hostile_run_makes_no_markup_anywhere(browse, bob, public, team):
    run = make_hostile_run(public.latest, bob, team)
    client = browse(bob)
    for path in (
        f"/runs/{run.uid}/",
        f"/runs/{run.uid}/live/",
        f"/runs/{run.uid}/log/",
        "/runs/",
        "/skills/docs/kind-review/runs/",
    ):
        page = client.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<svg onload" not in page
        assert "<img src" not in page
        assert 'href="javascript' not in page
        assert "evil.example" not in page or 'src="https://evil' not in page
        assert "\x1b" not in page


def test_use_renders_the_prompt_and_runs_nothing(browse, bob, public):
    client = browse(bob)
    page = client.get("/skills/docs/kind-review/use/").content.decode()
    assert "Review $ARGUMENTS kindly" in page
    assert "/api/v1/skills/docs/kind-review/versions/" in page
    filled = client.post("/skills/docs/kind-review/use/", {"arguments": "the <b>essay</b>"}).content.decode()
    assert "Review the &lt;b&gt;essay&lt;/b&gt; kindly" in filled
    public.refresh_from_db()
    assert public.usage_count == 1
    assert browse().get("/skills/docs/kind-review/use/").status_code == 200


def test_use_of_a_private_skill_is_nobodys_but_the_teams(browse, charlie, private):
    for person in (charlie, None):
        assert browse(person).get("/skills/docs/weekly-report/use/").status_code == 404
        assert browse(person).get("/skills/docs/weekly-report/run/").status_code == 404
        assert browse(person).get("/skills/docs/weekly-report/runs/").status_code in (302, 404)


def test_a_run_that_waits_for_its_team_s_own_runs_says_so(browse, bob, public, team):
    for status in ("running", "queued"):
        waiting = make_run(public.latest, bob, team, status=status)
    TeamLimits.objects.create(team=team, concurrent_runs=2)
    assert part(browse(bob).get(f"/runs/{waiting.uid}/"), "waiting")["state"] == "worker"
    TeamLimits.objects.update(concurrent_runs=1)
    reason = part(browse(bob).get(f"/runs/{waiting.uid}/"), "waiting")
    assert (reason["state"], reason["value"]) == ("team-limit", "1")
    assert team.name in reason


def test_failed_run_leads_with_its_cause(browse, bob, public, team):
    failed = {
        "status": "failed",
        "failure_code": "SCRIPT_FAILED",
        "message": "the script ended with exit code 1",
    }
    cause = {"type": "ValueError", "message": "no column 'date'", "file": "SKILL.md", "line": 3}
    success = make_run(public.latest, bob, team)
    first = make_run(public.latest, bob, team, cause=cause, **failed)
    run = make_run(public.latest, bob, team, cause=cause, **failed)
    assert sum(group_earlier_runs()) == 2
    add_log(run, ("stdout", "".join(f"line {n}\n" for n in range(1, 31))))
    add_log(
        run, ("stderr", "Traceback (most recent call last):\n  File \"a.py\"\nValueError: no column 'date'\n")
    )
    page = browse(bob).get(f"/runs/{run.uid}/").text
    headline = part(page, "cause")
    assert (headline.tag, headline["type"]) == ("h2", "ValueError")
    assert "ValueError: no column 'date'" in headline
    [place] = part(page, "cause-place").tags("a")
    assert place["href"] == f"/skills/{public}/{public.latest.number}/files/SKILL.md#L3"
    lines = [line for line in part(page, "log-end").tags("div") if line.tags("span")]
    assert len(lines) == 20
    assert [line["class"] for line in lines[-4:]] == ["", "failure", "failure", "failure"]
    assert part(page, "last-success")["value"] == success.uid
    assert part(page, "first-failure")["value"] == first.uid
    similar = part(page, "similar-failures")
    group = part(page, "error-group")["value"]
    assert similar["value"] == "1"
    assert [a["href"] for a in similar.tags("a")] == [f"/failures/{group}/", f"/runs/{first.uid}/"]
    assert part(browse(bob).get(f"/failures/{group}/"), "count")["value"] == "2"


def test_failed_run_names_the_version_that_failed_first(browse, bob, public, team):
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED"}
    success = make_run(public.latest, bob, team, version_number="0.0.9")
    run = make_run(public.latest, bob, team, **failed)
    page, number = browse(bob).get(f"/runs/{run.uid}/"), public.latest.number
    assert part(page, "first-failed-version")["value"] == number
    assert f"#{success.number}" in part(page, "first-failed-version")
    assert [a["href"] for a in part(page, "last-success").tags("a")] == [
        f"/skills/{public}/diff/0.0.9..{number}/",
        f"/runs/{success.uid}/compare/{run.uid}/",
    ]
    for before in (number, "0.0.9"):  # the version failed before, and in the end succeeded, too
        success = make_run(public.latest, bob, team, version_number=before)
        run = make_run(public.latest, bob, team, **failed)
        page = browse(bob).get(f"/runs/{run.uid}/")
        assert not parts(page, "first-failed-version")
        assert [a["href"] for a in part(page, "last-success").tags("a")] == [
            f"/runs/{success.uid}/compare/{run.uid}/"
        ]


@pytest.mark.parametrize(("attempts", "asks"), [(1, True), (3, False)])
def test_lost_run_is_repeated_after_a_confirmation_unless_that_is_safe(
    browse, bob, public, team, attempts, asks
):
    lost = {
        "status": "lost",
        "failure_code": "WORKER_LOST",
        "max_attempts": attempts,
        "version_number": "0.9.0",
    }
    page = browse(bob).get(f"/runs/{make_run(public.latest, bob, team, **lost).uid}/")
    assert ("preview-run-again" in actions(page)) == asks
    dialogs = select(page, "div", id="repeat-lost")
    assert len(dialogs) == asks
    assert len(parts(page, action="run-newest")) == 1
    assert len([each for dialog in dialogs for each in dialog.parts(action="run-newest")]) == asks
    assert len(parts(page, "lost")) == asks
    assert ("retry_on_lost" in part(page, "failure")) != asks
    assert len(parts(page, action="run-again")) == 1


def test_cause_of_a_failure_is_hidden_without_access(browse, charlie, bob, public):
    cause = {"type": "ValueError", "message": "no column 'secret'", "file": "SKILL.md", "line": 3}
    theirs = charlie.memberships.get().team
    run = make_run(public.latest, charlie, theirs, status="failed", failure_code="SCRIPT_FAILED", cause=cause)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert part(page, "failure")["code"] == "SCRIPT_FAILED"
    assert parts(page, "cause") == []
    assert "secret" not in page


@pytest.mark.parametrize(
    ("status", "mark"), [("succeeded", "✓"), ("failed", "✗"), ("cancelled", "–"), ("running", "●")]
)
def test_title_shows_number_and_state(browse, bob, public, team, status, mark):
    ended = {"finished_at": None} if status == "running" else {}
    run = make_run(public.latest, bob, team, status=status, **ended)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    [title] = select(page.partition("<body>")[0], "title")
    assert title.text.startswith(f"{mark} ")
    assert f"#{run.number}" in title
    [heading] = select(page, "h1")
    assert f"#{run.number}" in heading


@pytest.mark.row("P2")
def test_pages_mark_a_service_account_and_no_person(browse, alice, bob, public, team):
    robot = service_accounts.create(team, "ci", "member", Actor(user=alice)).user
    pages = browse(alice)
    for user, badges in ((robot, 1), (bob, 0)):
        run = make_run(public.latest, user, team)
        assert len(parts(pages.get(f"/runs/{run.uid}/"), "service-badge")) == badges
    assert len(parts(pages.get("/runs/"), "service-badge")) == 1


def test_run_of_a_yanked_version_says_so(browse, bob, run, public):
    client = browse(bob)
    assert parts(client.get(f"/runs/{run.uid}/"), "yanked-version") == []
    public.versions.update(yanked_at=run.created_at)
    assert part(client.get(f"/runs/{run.uid}/"), "yanked-version")


def test_failed_run_with_an_empty_log_does_not_send_readers_to_the_log(browse, public, bob, team):
    failed = {"status": "failed", "failure_code": "SCRIPT_FAILED", "exit_code": 3}
    failed["message"] = "the script ended with exit code 3"
    run = make_run(public.latest, bob, team, **failed)
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert parts(page, "log-end") == []
    assert SCRIPT_FAILED.remedy not in part(page, "failure")
    assert run.message not in part(browse(bob, language="zh-hans").get(f"/runs/{run.uid}/"), "failure")
    add_log(run, ("stderr", "out of ideas\n"))
    assert SCRIPT_FAILED.remedy in html.unescape(str(browse(bob).get(f"/runs/{run.uid}/").content.decode()))


def test_full_log_marks_the_lines_with_the_error(browse, public, bob, team):
    cause = {"type": "ValueError", "message": "bad row", "file": "", "line": None}
    run = make_run(public.latest, bob, team, status="failed", failure_code="SCRIPT_FAILED", cause=cause)
    add_log(run, ("stderr", "reading\nValueError: bad row\n"))
    page = browse(bob).get(f"/runs/{run.uid}/log/").content.decode()
    assert [line["id"] for line in select(page, "div", **{"class": "failure"})] == ["L2"]
