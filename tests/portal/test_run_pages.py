from __future__ import annotations

import pytest

from portal.pages.runs.presenters.timeline import PLATFORM
from tests.factories.runs import add_artifact, add_log, add_step, make_hostile_run, make_run
from tests.pages import actions, part, parts, select
from worker.models import TeamLimits

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
    platform = [step.tags("th")[0].text for step in parts(page, "step", state="platform")]
    assert str(PLATFORM["execute"]) in platform
    assert len(select(page, "svg", class_="chart")) == 8  # waiting, five of the platform, two of the skill
    assert "北京" in page
    assert "data-live=" not in page


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
    assert '<div id="L3"' in more
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
        assert part(page, "failure").tags("code")[0].text == code
    assert (code in part(page, "run-status").text) or not code
    assert ("stop" in actions(page)) == (status == "queued")


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


def test_the_list_shows_inputs_outcome_and_times_and_filters_by_its_address(browse, bob, public, team):
    good = make_run(public.latest, bob, team)
    bad = make_run(
        public.latest, bob, team, status="failed", failure_code="DATA_NOT_FOUND", message="No rows."
    )
    client = browse(bob)
    page = client.get("/runs/").content.decode()
    for text in ("report · city=北京 · days=7", "Seven days read.", "No rows.", "DATA_NOT_FOUND"):
        assert text in page
    for query, shown, hidden in (
        ("status=failed", bad, good),
        ("code=data_not_found", bad, good),
        ("status=succeeded&caller=me&since=1h", good, bad),
        ("status=failure", bad, good),
    ):
        page = client.get(f"/runs/?{query}").content.decode()
        assert shown.uid in page
        assert hidden.uid not in page
    assert part(client.get("/runs/?skill=docs/other"), "empty")["state"] == "filtered"
    assert client.get("/runs/?status=nonsense&since=x&caller=%00").status_code == 200


def test_a_skills_runs_count_its_failure_codes(browse, bob, public, team):
    for _ in range(3):
        make_run(public.latest, bob, team, status="failed", failure_code="MISSING_PARAM")
    page = browse(bob).get("/skills/docs/kind-review/runs/").content.decode()
    assert 'MISSING_PARAM</bdi> <span class="count">3<' in page


def test_long_lists_go_on_with_older_runs(browse, bob, public, team):
    runs = [make_run(public.latest, bob, team, request_id=str(n)) for n in range(43)]
    client = browse(bob)
    page = client.get("/runs/?caller=me").content.decode()
    assert runs[42].uid in page
    assert page.count('class="dot ') == 40
    older = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "caller=me" in older
    rest = client.get(f"/runs/{older}").content.decode()
    assert runs[0].uid in rest
    assert runs[42].uid not in rest


def test_an_empty_list_says_where_to_begin(browse, bob):
    empty = part(browse(bob).get("/runs/"), "empty", state="none")
    assert [link["href"] for link in empty.tags("a")] == ["/skills/"]
    assert browse().get("/runs/").status_code == 302


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
