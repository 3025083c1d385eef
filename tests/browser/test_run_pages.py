"""Pages of runs in a real browser, looked at in every state."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from tests.factories.runs import add_artifact, add_log, add_step, make_hostile_run, make_run
from tests.factories.skills import prompt_files, publish_files
from worker.protocols.call import Request
from worker.runs.request import request_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P5", "P8")]


@pytest.fixture
def version(team, alice):
    return publish_files(prompt_files(), team=team, user=alice, visibility="public")


@pytest.fixture
def run(version, bob, team):
    made = make_run(version, bob, team)
    add_log(
        made,
        ("stdout", "Reading seven days\n"),
        ("stderr", "\x1b[33mwarning: 2026-11-18 has no rows\x1b[0m\n"),
    )
    add_log(made, *[("stdout", f"day {n}: 读取 {n * 17} rows\n") for n in range(1, 30)])
    add_artifact(made, "out/report.csv", b"a,b\n1,2\n" * 400)
    add_artifact(made, "out/图表.png", b"x" * 4200)
    add_step(made, 0, "验证输入", input={"n": 1}, output={"ok": True}, duration_ms=300)
    add_step(made, 1, "Clean the rows", output={"kept": 812, "removed": 4}, duration_ms=900)
    add_step(
        made,
        2,
        "Analyse",
        error={"name": "ValueError", "message": "bad row", "stack": "at line 3"},
        duration_ms=60,
    )
    return made


def test_runs_are_pleasant_to_read(page, sign_in, bob, run, version, team, axe):
    make_run(version, bob, team, status="failed", failure_code="DATA_NOT_FOUND", message="No rows for 北京.")
    make_run(version, bob, team, status="queued", started_at=None, finished_at=None, result=None, message="")
    make_run(version, bob, team, status="running", finished_at=None, result=None, message="", progress=40)
    sign_in(bob)
    page.goto("/runs/")
    axe()
    page.goto(f"/runs/{run.uid}/")
    page.click("#run-steps [data-part=step] > details > summary >> nth=1")
    axe()
    page.goto("/skills/docs/kind-review/runs/?failure_code=DATA_NOT_FOUND")
    axe()
    page.goto("/runs/?status=failed")
    page.click("#main tbody a")
    axe()
    page.go_back()
    assert page.url.endswith("?status=failed")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/runs/{run.uid}/")
    axe()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_running_run_follows_its_log_and_ends_without_a_reload(page, sign_in, bob, version, team, axe):
    run = make_run(
        version, bob, team, status="running", finished_at=None, result=None, message="", progress=20
    )
    add_log(run, ("stdout", "one\n"))
    sign_in(bob)
    page.goto(f"/runs/{run.uid}/")
    page.wait_for_selector("#L1")
    axe()
    add_log(run, ("stdout", "two\n"), ("stderr", "60% complete\n"))
    run.progress = 60
    run.save(update_fields=["progress"])
    page.wait_for_selector("#L3")
    page.wait_for_selector("progress[value='60']")
    add_log(run, ("stdout", "last without end"))
    add_artifact(run, "end.txt", b"end")
    run.status, run.finished_at, run.result = "succeeded", run.started_at, {"outputs": {"n": 3}}
    run.save(update_fields=["status", "finished_at", "result"])
    page.wait_for_selector("text=end.txt")
    page.wait_for_selector("#L4")
    assert page.locator("#log > div").count() == 4
    assert page.locator("[data-follow-pause]").count() == 0
    axe()


@pytest.mark.full
@pytest.mark.row("D6")
def test_a_run_that_waits_is_decided_by_keyboard_alone(page, sign_in, alice, bob, team, axe):
    let, denied = asked_for(alice, bob, team), asked_for(alice, bob, team)
    sign_in(alice)
    page.goto("/approvals/")
    axe()
    press(page, "[data-action=approve]", "Space")
    page.wait_for_selector("[data-part=message][data-kind=success]")
    page.goto(f"/runs/{denied.uid}/")
    axe()
    press(page, "[data-part=deny]", "Enter")
    page.wait_for_selector(f"#reason-{denied.uid}", state="visible")
    axe()
    assert page.evaluate("document.activeElement.id") == f"reason-{denied.uid}"
    page.keyboard.type("Not on a Friday.")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-part=message][data-kind=success]")
    axe()
    page.goto("/approvals/decided/")
    axe()
    let.refresh_from_db()
    denied.refresh_from_db()
    assert (let.permission["basis"], denied.failure_code) == ("approval", "APPROVAL_DENIED")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def asked_for(author, user, team):
    """A run that waits: an agent of this person's asks for what no rule allows."""
    head = "---\nname: report\ndescription: R.\nversion: 1.0.0\nallowed-tools: [Bash, Write]\n---\n# R\n"
    files = {"SKILL.md": head.encode(), "scripts/report.py": b"print('{}')\n"}
    version = publish_files(files, team=team, user=author)
    ends = timezone.now() + timedelta(days=1)
    token, _secret = tokens.issue(user, name="agent", scopes=["run"], expires_at=ends, by=Actor(user=user))
    agent = Actor(user=user, token=token, scopes=frozenset({"run"}))
    return request_run(actor=agent, version=version, request=Request(inputs={"text": "Numbers"}), team=team)


def press(page, selector, key):
    """Moves the focus by Tab to the first element that matches, and presses the key."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            page.keyboard.press(key)
            return
    pytest.fail(f"Tab never came to {selector}")


def test_a_hostile_run_does_nothing_on_any_page(page, sign_in, bob, version, team):
    run = make_hostile_run(version, bob, team)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    sign_in(bob)
    for path in (f"/runs/{run.uid}/", f"/runs/{run.uid}/log/", "/runs/", "/skills/docs/kind-review/runs/"):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.locator("main script, main iframe, main [onload], main [onerror]").count() == 0
        for address in page.locator("main a").evaluate_all("all => all.map((one) => one.protocol)"):
            assert address in ("http:", "https:")
    with page.expect_download() as download:
        page.goto(f"/runs/{run.uid}/")
        page.click("#run-outcome a[download]")
    assert download.value.suggested_filename.endswith("svg")


@pytest.mark.row("B3")
def test_cause_is_on_the_first_screen_of_desktop_and_phone(page, sign_in, bob, version, team):
    cause = {"type": "ValueError", "message": "no rows " * 80, "file": "scripts/a.py", "line": 3}
    kinds = [
        make_run(version, bob, team, status="failed", failure_code="SCRIPT_FAILED", cause=cause),
        make_run(version, bob, team, status="timed_out", failure_code="TIMEOUT", message="stopped " * 80),
        make_run(version, bob, team, status="refused", failure_code="SANDBOX_UNAVAILABLE", started_at=None),
    ]
    for run in kinds:
        add_log(run, *[("stderr", f"line {number}\n") for number in range(200)])
    sign_in(bob)
    for width, height in ((1280, 720), (390, 667)):
        page.set_viewport_size({"width": width, "height": height})
        for run in kinds:
            page.goto(f"/runs/{run.uid}/")
            box = page.locator("[data-part=cause]").bounding_box()
            assert box["y"] + min(box["height"], 60) < height, (run.failure_code, width, box)
        page.goto("/runs/?status=failed")
        row = page.locator("[data-part=run]").first
        assert "no rows" in row.inner_text()
        assert row.bounding_box()["y"] < height


@pytest.mark.row("P5", "P11")
def test_filters_of_runs_are_folded_only_on_small_screens(page, sign_in, axe, bob, run):
    sign_in(bob)
    page.goto("/runs/?status=succeeded")
    assert page.is_visible("[data-part=filters] [name=status]")
    page.set_viewport_size({"width": 390, "height": 844})
    assert not page.is_visible("[data-part=filters] [name=status]")
    page.click("[data-part=filter-fold] summary")
    page.select_option("[data-part=filters] [name=status]", "failed")
    page.click("[data-part=filters] button")
    page.wait_for_url("**/runs/?status=failed*")
    axe()


@pytest.mark.row("P5")
def test_actions_on_selected_runs_appear_with_the_first_selected_run(page, sign_in, bob, run):
    sign_in(bob)
    page.goto("/runs/")
    button = page.locator("[data-action=cancel-selected]")
    assert not button.is_visible()
    page.locator("tbody [name=run]").first.check()
    assert button.is_visible()
