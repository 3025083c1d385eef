"""``python -m tests.demo.screenshots FOLDER``: every page in four forms, from a seeded demo site.

The forms: light, dark, phone (390 px) and Chinese. Prints pages that are wider than the screen, script errors
and statuses of 500, and exits with 1 if there are any. With ``--images FOLDER``, only writes the pictures of
README.md there, as WebP.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import _ARGUMENTS, CHROMIUM
from tests.demo import INVITATION, PASSWORD, SERVICE_ACCOUNT, SERVICE_TOKEN, TOKEN
from tests.demo.states import STATES
from tests.site import Site

FORMS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "chinese": {"viewport": {"width": 1280, "height": 900}, "locale": "zh-CN"},
}
SKILL = "/skills/data-platform/csv-profile"
MAX_HEIGHT = 12_000  # of a window
SIGNED_OUT = (
    *("/", "/skills/", "/sign-in/", "/no-such-page/", f"/join/{INVITATION}/"),
    *("/docs/", "/docs/?q=token", "/docs/reference/errors/", "/docs/reference/errors/VERSION_EXISTS/"),
    *("/docs/howto/write-a-skill/",),
)
ADMINISTRATION = (
    *("/site/", "/site/users/", f"/site/users/{SERVICE_ACCOUNT}/", "/site/audit/", "/site/sandbox/"),
    *("/glossary/", "/held/", "/site/retention/", "/canonical/new/", "/canonical/new/mirror/"),
)
PAGES = f"""
/ /skills/ /skills/?q=report /skills/?q=zzzz /skills/match/test/ /skills/match/test/?q=check+an+invoice
/skills/?q=check+an+invoice /skills/?q=tea+on+mars /skills/?q=invoise
/skills/listing/ /skills/collisions/ /canonical/ /find/?q=csv /styleguide/ {SKILL}/ {SKILL}/versions/
{SKILL}/1.0.0/ {SKILL}/diff/1.0.0..latest/ {SKILL}/settings/ {SKILL}/1.0.0/files/
{SKILL}/1.0.0/files/SKILL.md {SKILL}/run/ {SKILL}/runs/ {SKILL}/usage/ {SKILL}/feedback/
{SKILL}/1.0.0/findings/ {SKILL}/1.0.0/edit/ {SKILL}/1.0.0/purge/
/skills/examples/code-review/use/ /publish/ /publish/new/ /imports/
/imports/new/ /notifications/ /notifications/settings/ /notifications/deliveries/
/teams/data-platform/notifications/ /teams/data-platform/retention/
/runs/batches/ /runs/batches/new/?status=failure&action=repeat /runs/batches/new/?status=failure&action=edit
/runs/ /runs/?status=failed /failures/ /schedules/ /schedules/new/?skill=data-platform/csv-profile
/approvals/ /approvals/decided/ /events/
/events/webhooks/ /events/subscriptions/ /memory/ /memory/review/ /teams/ /teams/new/
/teams/data-platform/ /teams/data-platform/members/ /teams/data-platform/activity/
/teams/data-platform/settings/ /teams/data-platform/rules/ /teams/data-platform/secrets/
/teams/data-platform/limits/ /teams/data-platform/memory/ /account/ /account/sessions/ /account/tokens/
/account/password/ /account/security/ /account/erase/ /account/tokens/{TOKEN}/
/account/tokens/{SERVICE_TOKEN}/ /account/tokens/{TOKEN}/rules/
/teams/data-platform/service-accounts/ /teams/support/service-accounts/
/teams/data-platform/service-accounts/{SERVICE_ACCOUNT}/ /teams/data-platform/leave/ /teams/research/
/teams/research/members/ /teams/research/settings/ /teams/research/service-accounts/ /join/{INVITATION}/
/collections/ /collections/new/ /account/identities/ /account/device/
/account/install-links/ /memory/clear/ /docs/ {SKILL}/1.2.0/report/
/runs/?skill=data-platform%2Fcsv-profile&since=7d /runs/?status=zzzz
""".split()


def main(folder: Path, *, only_images: bool = False) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        site = Site(Path(place), SKILLQUAY_WORKERS="2")
        site.set_up()
        seeded = site.manage("shell", "--no-imports", "-c", "from tests.demo.seed import seed; print(seed())")
        print(seeded.stdout.strip())
        site.manage("shell", "--no-imports", "-c", _PASSWORD)
        site.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=_ARGUMENTS)
                run_pages, more = _run(site), _fill_more(site)
                if only_images:
                    _take_images(browser, site, folder, run_pages)
                    return 0
                wrong = [
                    line for name in FORMS for line in _take(browser, site, name, folder, run_pages, more)
                ]
        finally:
            site.stop()
    print("\n".join(wrong) or f"No page overflows or fails. Screenshots: {folder}")
    return 1 if wrong else 0


_PASSWORD = f"""
from registry.models import User
user = User.objects.get(username="admin")
user.set_password({PASSWORD!r})
user.must_change_password = False
user.save()
"""


def _run(site: Site) -> dict[str, str]:
    """Executes runs whose pages are photographed: with a result, failed, with steps; and two to compare."""
    wanted: tuple[tuple[str, dict[str, Any]], ...] = (
        ("data-platform/csv-profile", {"path": "orders.csv"}),
        ("data-platform/csv-profile", {"path": "customers.csv"}),
        ("finance/nightly-sync", {"day": "2026-01-01"}),
        ("examples/step-tracking", {"text": "One step after the other."}),
    )
    for city in ("北京", "上海"):  # an agent's runs of a skill with network access wait for approval
        site.run("examples/weather-query", location=city)
    runs = [str(site.ended(site.run(skill, wait=0, **inputs))["id"]) for skill, inputs in wanted]
    pages = [f"/runs/{uid}/" for uid in runs]
    newest = site.rows(
        "SELECT status, uid FROM worker_run ORDER BY id"
    )  # the newest of each status is the last
    others = {f"run-{status.replace('_', '-')}": f"/runs/{uid}/" for status, uid in newest}
    return (
        others
        | _shared_and_scheduled(site, runs)
        | {
            "run-succeeded": pages[0],
            "run-failed": pages[2],
            "run-steps": pages[3],
            "run-compare": f"{pages[0]}compare/{runs[1]}/",
            "run-log": f"{pages[2]}log/",
        }
    )


def _shared_and_scheduled(site: Site, runs: list[str]) -> dict[str, str]:
    """A shared run, a schedule, an error group, a run batch, and a subscription with a delivery."""
    link = _create(site, f"runs/{runs[0]}/share-links", log=True, inputs=True, artifacts=True)
    schedule = {"skill": "finance/nightly-sync", "cron": "0 6 * * 1-5", "time_zone": "Asia/Shanghai"}
    made = _create(site, "schedules", **schedule, inputs={"day": "2026-01-01"})
    ((group,),) = site.rows("SELECT uid FROM worker_errorgroup ORDER BY id DESC LIMIT 1")
    batch = _create(site, "run-batches", action="repeat", filter={"skill": "data-platform/csv-profile"})
    address = {"channel": "slack", "address": "http://127.0.0.1:9/hook"}
    subscription = _create(site, "subscriptions", **address, kinds=["first_failure", "recovered"])
    _create(site, f"subscriptions/{subscription['id']}/test")
    return {
        "run-batch": f"/runs/batches/{batch['id']}/",
        "notification-edit": f"/notifications/settings/{subscription['id']}/",
        "notification-settings-full": "/notifications/settings/",
        "deliveries-full": "/notifications/deliveries/",
        "shared": link["page_url"].removeprefix(site.url),
        "api-docs": "/api/docs/",
        "schedule": f"/schedules/{made['id']}/",
        "failures-group": f"/failures/{group}/",
    }


def _create(site: Site, path: str, **body: Any) -> dict[str, Any]:
    """Creates something as a person: tokens may not share runs."""
    return dict(json.loads(site.manage("api", "POST", f"/api/v1/{path}", json.dumps(body)).stdout))


def _fill_more(site: Site) -> dict[str, str]:
    code = "import json; from tests.demo.more import fill_more; print(json.dumps(fill_more()))"
    return dict(json.loads(site.manage("shell", "--no-imports", "-c", code).stdout))


def _take(
    browser: Browser,
    site: Site,
    form: str,
    folder: Path,
    run_pages: dict[str, str],
    more: dict[str, str],
) -> Iterator[str]:
    """Screenshots of all pages in one form. Yields what is wrong with them."""
    wrong: list[str] = []
    for person, pages in (
        ("", {f"signed-out-{_name(path)}": path for path in SIGNED_OUT}),
        ("newcomer", {"home-new-site": "/"}),
        ("alice", {_name(path): path for path in PAGES} | more | dict.fromkeys(STATES, "")),
        ("admin", {_name(path): path for path in ADMINISTRATION} | run_pages),
    ):
        context = browser.new_context(base_url=site.url, **FORMS[form])
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{form}: {error}"))
        if person:
            sign_in(page, person)
        for name, path in pages.items():
            if path:
                answer = page.goto(path)
                if answer is None or answer.status >= 500:
                    wrong.append(f"{form} {path}: status {answer and answer.status}")
            else:
                STATES[name](page)
            if (excess := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
                wrong.append(f"{form} {path or name}: {excess} px wider than the screen")
            if name == "api-docs":
                page.wait_for_selector("#swagger-ui .opblock-tag")
            _grow(page, FORMS[form]["viewport"])
            page.evaluate(_LOAD_IMAGES)
            page.screenshot(path=folder / f"{name}-{form}.png", full_page=True)
            page.set_viewport_size(FORMS[form]["viewport"])
        context.close()
    yield from wrong


_LOAD_IMAGES = """
Promise.all([...document.images].map(image => {
  image.loading = "eager";
  return image.decode().catch(() => {});
}))
"""


def _grow(page: Page, size: dict[str, int]) -> None:
    """Makes the window as high as the page, so that the bars at its edges are drawn where the page ends."""
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], min(height, MAX_HEIGHT))})


def _take_images(browser: Browser, site: Site, folder: Path, run_pages: dict[str, str]) -> None:
    context = browser.new_context(base_url=site.url, viewport={"width": 1200, "height": 800})
    page = context.new_page()
    session = context.new_cdp_session(page)
    sign_in(page, "alice")
    for name, path in {"home": "/", "failed-run": run_pages["run-failed"], "skill": f"{SKILL}/"}.items():
        page.goto(path)
        # Playwright writes only PNG and JPEG; the browser writes WebP, which is smaller and sharp.
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 90})
        (folder / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))
    context.close()


def sign_in(page: Page, person: str, password: str = PASSWORD) -> None:
    page.goto("/sign-in/")
    page.fill("input[name=username]", person)
    page.fill("input[name=password]", password)
    page.click("main form button")
    page.wait_for_url("**/")


def _name(path: str) -> str:
    return re.sub(r"\W+", "-", path).strip("-") or "home"


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", action="store_true")
    arguments = parser.parse_args()
    sys.exit(main(arguments.folder, only_images=arguments.images))
