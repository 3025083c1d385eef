"""Open pages follow what happens elsewhere, through the streaming front."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.wsgi import get_wsgi_application
from django.utils import timezone

from portal.streaming.bridge import WsgiBridge
from portal.streaming.changes.middleware import ChangesMiddleware
from registry.models import Version
from tests.demo.inbox import make_agent
from tests.factories.runs import make_run
from tests.factories.skills import prompt_files, publish_files
from worker.protocols.call import Request
from worker.runs.request import request_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("P5", "P8")]


@pytest.fixture
def server(live_server, settings) -> Iterator[str]:
    """The live server's site behind the middleware that streams changes."""
    app = ChangesMiddleware(WsgiBridge(StaticFilesHandler(get_wsgi_application()), workers=2))
    front = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=front.run)
    thread.start()
    while not front.started:
        time.sleep(0.01)
    port = front.servers[0].sockets[0].getsockname()[1]
    settings.SKILLQUAY_PUBLIC_URL = f"http://127.0.0.1:{port}"
    yield settings.SKILLQUAY_PUBLIC_URL
    front.should_exit = front.force_exit = True
    thread.join(10)


def test_list_shows_runs_that_start_elsewhere_and_keeps_the_readers_state(page, sign_in, bob, alice, team):
    version = publish_files(prompt_files(), team=team, user=alice, visibility="public")
    ticked = make_run(version, bob, team)
    sign_in(bob)
    page.goto("/runs/")
    box = page.locator(f"[data-part=run][data-value='{ticked.uid}'] input")
    box.check()
    page.evaluate("window.loaded = true")
    now = timezone.now()
    new = make_run(version, alice, team, created_at=now, status="running", finished_at=None, result=None)
    row = page.locator(f"[data-part=run][data-value='{new.uid}']")
    row.wait_for(timeout=15_000)
    assert row.locator("[data-state=running]").count() == 1
    new.status, new.finished_at = "succeeded", timezone.now()
    new.save()
    row.locator("[data-state=succeeded]").wait_for(timeout=15_000)
    assert box.is_checked()
    assert page.evaluate("[window.loaded, document.activeElement.value]") == [True, ticked.uid]


def test_run_page_notifies_when_the_run_ends(page, sign_in, bob, alice, team):
    version = publish_files(prompt_files(), team=team, user=alice, visibility="public")
    run = make_run(version, bob, team, status="running", finished_at=None, result=None, message="")
    page.add_init_script("""
        window.shown = [];
        window.Notification = class {
            static permission = "default";
            static async requestPermission() { this.permission = "granted"; }
            constructor(title, options) { window.shown.push([title, options.body]); }
        };
    """)
    sign_in(bob)
    page.goto(f"/runs/{run.uid}/")
    button = page.locator("[data-notify]")
    button.click()
    page.wait_for_selector("[data-notify][aria-pressed=true]")
    page.reload()  # the choice survives; permission is part of the browser, which the script replaces
    page.evaluate("Notification.permission = 'granted'")
    assert page.evaluate("sessionStorage.length") == 1
    run.status, run.finished_at = "succeeded", timezone.now()
    run.save()
    button.wait_for(state="hidden", timeout=15_000)
    assert page.evaluate("shown.length") == 1
    assert page.evaluate("[shown[0][0].startsWith('✓'), sessionStorage.length]") == [True, 0]


@pytest.fixture
def ask(team, alice, bob, monkeypatch):
    """``ask(skill)``: requests a run of the skill by an agent of bob."""
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
    agent = make_agent(bob, team, "agent")

    def request(slug):
        version = Version.objects.filter(skill__slug=slug).first()
        if version is None:
            head = f"---\nname: {slug}\ndescription: R.\nallowed-tools: [Bash]\n---\n# R\n"
            files = {"SKILL.md": head.encode(), "scripts/go.py": b"print('{}')\n"}
            version = publish_files(files, team=team, user=alice)
        return request_run(actor=agent, version=version, request=Request())

    return request


def test_refresh_keeps_focus_on_the_controls_of_an_approval(page, sign_in, alice, ask):
    first = ask("report")
    sign_in(alice)
    page.goto("/approvals/")
    for number, control in enumerate(("approve", "preview-always", "deny", "select-group")):
        card = page.locator(f"[data-part=approval][data-value='{first.uid}']")
        button = card.locator(f"[data-action={control}], [data-part={control}]").first
        button.focus()
        page.evaluate("window.control = document.activeElement")
        ask(f"other-{number}")
        _wait_for_count(page, number + 2)
        page.locator("[data-part=approval]").nth(number + 1).wait_for(timeout=15_000)
        assert page.evaluate("control === document.activeElement")
        assert button.evaluate("button => button === document.activeElement")


def test_refresh_keeps_an_open_dialog_and_its_text_until_it_closes(page, sign_in, alice, ask):
    run = ask("report")
    sign_in(alice)
    page.goto("/approvals/")
    page.click(f"[popovertarget='deny-{run.uid}']:not([popovertargetaction])")
    page.fill(f"#reason-{run.uid}", "Not on a Friday.")
    page.keyboard.press("Tab")  # away from the text
    ask("report")
    ask("summary")
    _wait_for_count(page, 3)
    assert page.input_value(f"#reason-{run.uid}") == "Not on a Friday."
    assert page.evaluate(f"document.activeElement.closest('#deny-{run.uid}') !== null")
    assert page.locator("[data-part=approval]").count() == 1
    page.keyboard.press("Escape")
    page.locator("[data-part=approval]").nth(1).wait_for(timeout=15_000)


def test_box_of_a_group_loses_its_tick_when_the_group_grows(page, sign_in, alice, ask):
    """A person decides only on the runs that the page showed when they ticked the box."""
    ask("report")
    sign_in(alice)
    page.goto("/approvals/")
    box = page.locator("[data-action=select-group]")
    box.check()
    ask("report")
    page.locator("[data-action=select-group][value*=',']").wait_for(timeout=15_000)
    assert not box.is_checked()
    assert box.evaluate("box => box === document.activeElement")


def _wait_for_count(page, number):
    page.locator(f"#count-approvals .count:has-text('{number}')").wait_for(timeout=15_000)
