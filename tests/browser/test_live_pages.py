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
from tests.factories.runs import make_run
from tests.factories.skills import prompt_files, publish_files

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
