"""States of pages that have no address of their own: after a form was sent, or with selected rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page

from tests.factories.archives import zip_of

_STRICT = """---
name: weekly-report
description: Counts the orders of a week.
type: direct
versoin: 1.0.0
---
# Weekly report

Run scripts/report.py.
"""


def _check_package(text: str) -> Callable[[Page], None]:
    def check(page: Page) -> None:
        files: dict[str, bytes | str] = {"SKILL.md": text, "scripts/report.py": "print('{}')\n"}
        with TemporaryDirectory() as folder:
            archive = Path(folder, "weekly-report.zip")
            archive.write_bytes(zip_of(files))
            page.goto("/publish/")
            page.set_input_files("input[name=archive]", archive)
            page.click("#publish [name=check]")
            page.wait_for_selector("[data-part=preview]")

    return check


def _select_waiting(page: Page) -> None:
    page.goto("/approvals/")
    page.locator("main [data-action=select-group]").last.check()


def _select_runs(page: Page) -> None:
    page.goto("/runs/")
    for box in page.locator("main tbody [name=run]").all()[:2]:
        box.check()


def _refuse_inputs(page: Page) -> None:
    page.goto("/schedules/new/?skill=data-platform/csv-profile")
    page.fill("[name=cron]", "61 * * * *")
    page.click("main form button.primary")


def _open_palette(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog[open]")


STATES: dict[str, Callable[[Page], None]] = {
    "publish-draft": _check_package(_STRICT),
    "publish-ready": _check_package(_STRICT.replace("type: direct\nversoin: 1.0.0\n", "version: 1.0.0\n")),
    "approvals-selected": _select_waiting,
    "runs-selected": _select_runs,
    "schedule-refused": _refuse_inputs,
    "search-dialog": _open_palette,
}
