"""A real browser and a live server with a database file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
# The first two are pages of the address bar: each new window starts processes for them. The list replaces
# Playwright's own; the other features are those of its list that concern pages.
_DISABLED_FEATURES = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
)
_ARGUMENTS = [
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip("chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread, where Django refuses the ORM without this variable.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=_ARGUMENTS)
        yield opened
        opened.close()
    os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)


@pytest.fixture
def server(live_server, settings) -> str:
    """The address of a live server. Links on its pages use it too."""
    settings.SKILLQUAY_PUBLIC_URL = live_server.url
    return live_server.url


@pytest.fixture
def look() -> dict[str, Any]:
    """Options of the browser context; tests parametrize it with locale, java_script_enabled …"""
    return {}


@pytest.fixture
def page(browser, server, look) -> Iterator[Any]:
    """A page of a new browser context. Script errors and requests to other hosts fail the test."""
    size = {"width": 1280, "height": 900}
    # Without animations, in the middle of which colors have less contrast.
    context = browser.new_context(base_url=server, viewport=size, reduced_motion="reduce", **look)
    opened, wrong = context.new_page(), []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda line: wrong.append(line.text) if "Security Policy" in line.text else None)
    opened.on(
        "request",
        lambda request: None if request.url.startswith((server, "data:")) else wrong.append(request.url),
    )
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture
def sign_in(page) -> Callable[[Any], None]:
    """``sign_in(user)``: signs in through the form."""

    def enter(user: Any) -> None:
        page.goto("/sign-in/")
        page.fill("input[name=username]", user.username)
        page.fill("input[name=password]", f"{user.username}-password")
        page.click("main button[type=submit], main form button")
        page.wait_for_url("**/")

    return enter


@pytest.fixture
def axe(page) -> Callable[[], None]:
    """``axe()``: fails if the accessibility checker finds a violation on the current page."""
    from axe_playwright_python.sync_playwright import Axe

    def examine() -> None:
        found = Axe().run(page)
        assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"

    return examine


@pytest.fixture
def drop(page) -> Callable[[Path], None]:
    """``drop(path)``: drops a file or folder on the page's box for packages."""

    def act(path: Path) -> None:
        box = page.locator(".drop").bounding_box()
        dragged = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        session = page.context.new_cdp_session(page)
        for kind in ("dragEnter", "dragOver", "drop"):
            place = {"x": box["x"] + 20, "y": box["y"] + 20}
            session.send("Input.dispatchDragEvent", {"type": kind, "data": dragged, **place})

    return act
