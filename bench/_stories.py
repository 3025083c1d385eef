"""Does common tasks in chromium on a site of its own; counts clicks, and checks the result of each task."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import io
import json
import os
import sys
import time
import urllib.request
import zipfile
from datetime import timedelta
from pathlib import Path

import django

django.setup()

from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import Error, sync_playwright

from bench._bodies import serve
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Role, Team, User
from registry.packages.read_package import read_files
from registry.versions.lifecycle.yank import yank
from registry.versions.publishing.publish import publish
from worker.models import Approval, Run
from worker.protocols.call import Request
from worker.service.inline import request_and_execute

PASSWORD = "stories-password"
CHROMIUM = "/usr/bin/chromium"
BROKEN = b"---\nname: Broken Name\ndescription: ''\nversion: one\n---\n# Broken\n"
GOOD = "---\nname: repaired\ndescription: Repairs texts. Use it for tests.\nversion: 1.0.0\n---\n# Ok\n"
CAUSE = "KeyError: 'city'"
VIEW = {"width": 1280, "height": 900}
STEP_MS = 15_000


class Story:
    """A page of one user that counts clicks. Typed text and pressed keys are free."""

    def __init__(self, browser, url, user):
        self.page = browser.new_context(base_url=url, viewport=VIEW, reduced_motion="reduce").new_page()
        self.page.set_default_timeout(STEP_MS)
        self.url, self.user, self.clicks = url, user, 0

    def click(self, selector):
        self.page.locator(selector).locator("visible=true").first.click()
        self.clicks += 1

    def sign_in(self):
        """Signs in without counting clicks, and opens the home page."""
        self.page.goto("/sign-in/")
        self._enter()
        self.page.locator("main form button.primary").click()
        self.page.wait_for_url("**/")

    def _enter(self):
        self.page.fill("input[name=username]", self.user)
        self.page.fill("input[name=password]", PASSWORD)

    # The tasks; each returns when its result is visible -----------------------------------------------------
    def newcomer(self):
        """From the first page to the result of a new skill."""
        self.page.goto("/")
        self.click("[data-action=sign-in]")
        self._enter()
        self.click("main form button.primary")
        self.click("[data-action=publish]")
        self.click("a[href='/publish/new/']")
        self.click("input[name=template][value=python]")
        self.page.fill("input[name=name]", "first-steps")
        self.page.fill("textarea[name=description]", "Measures a text. Use it to learn how long a text is.")
        self.click("main button[name=publish]")
        for field in self.page.locator("main form [required]").all():
            if not field.input_value():
                field.fill("one two three")
        self.click("button[name=run]")
        self.page.locator("#run-pill [data-state=succeeded]").wait_for(timeout=60_000)

    def failure(self):
        """The cause of the last failed run is in the first screen."""
        self.sign_in()
        self.click("[data-part=failing-skill] a.title")
        cause = self.page.locator("[data-part=failure] h2")
        box = cause.bounding_box()
        assert CAUSE in cause.inner_text(), "the headline is not the cause"
        assert box["y"] + box["height"] < VIEW["height"], "the cause is below the first screen"

    def yanked(self):
        """From the skill's page to exactly the runs of the yanked version."""
        self.sign_in()
        self.page.goto("/skills/handbook/report/")
        self.click(".tabs a[href$='/versions/']")
        self.click("[data-part=yanked] a[href*='version=1.0.0']")
        rows = self.page.locator("[data-part=run]")
        assert rows.count() == 3, f"{rows.count()} rows instead of 3"
        assert rows.locator(".badge.warn").count() == 3, "the rows don't show that the version is yanked"

    def approvals(self):
        """Ten runs of two skills, requested by one agent, are approved."""
        self.sign_in()
        self.click("[data-nav=approvals]")
        self.click("[data-action=select-all]")
        self.click("[data-action=approve-selected]")
        self.page.locator("[data-part=empty]").wait_for()
        approved = Approval.objects.filter(decision="once").count()
        assert approved == 10, f"{approved} of 10 runs were approved"

    def token(self):
        """A new token with client lines; the token in the lines is accepted."""
        self.sign_in()
        self.click(".user-tools details.menu summary")
        self.click("a[href='/account/tokens/']")
        name = self.page.locator("input[name=name]")
        if not name.input_value():
            name.fill("laptop")
        self.click("section[aria-labelledby=new] button.primary")
        secret = self.page.locator("#secret").inner_text().strip()
        for lines in self.page.locator("[data-part=token-use]").all():
            client = lines.get_attribute("data-value")
            assert secret in (lines.text_content() or ""), f"the lines of {client} lack the token"
        request = urllib.request.Request(
            f"{self.url}/api/v1/me", headers={"Authorization": f"Bearer {secret}"}
        )
        assert urllib.request.urlopen(request, timeout=20).status == 200

    def repair(self):
        """A refused package is corrected in the browser, and then published."""
        self.sign_in()
        self.click("[data-action=publish]")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as pack:
            pack.writestr("SKILL.md", BROKEN)
            pack.writestr("scripts/go.py", "print('{}')\n")
        upload = {"name": "broken.zip", "mimeType": "application/zip", "buffer": archive.getvalue()}
        self.page.set_input_files("input[type=file][name=archive]", upload)
        self.click("#publish [name=check]:visible")
        self.page.locator("[data-part=preview][data-state=invalid]").wait_for()
        place = self.page.url
        self.page.fill("textarea[name=text]", GOOD)
        self.click(".row [name=check]")
        self.page.locator("[data-part=preview][data-state=ready]").wait_for()
        assert self.page.url == place, "the repair left the page"
        self.click("[name=publish]")
        self.page.locator("[data-part=message] [data-action=run]").wait_for()


STORIES = {  # name: (text, method, limit of clicks)
    "newcomer": ("first page to the result of an own skill", Story.newcomer, 8),
    "failure": ("why did this run fail", Story.failure, 1),
    "yanked": ("which runs used a yanked version", Story.yanked, 2),
    "approvals": ("approve ten waiting runs of one agent", Story.approvals, 3),
    "token": ("token with working client lines", Story.token, 3),
    "repair": ("repair a broken package on its page", Story.repair, 5),
}


def main():
    options = json.loads(sys.argv[1])
    # Playwright runs an event loop in this thread, where Django refuses the ORM without this variable.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    call_command("migrate", verbosity=0)
    _fill()
    chosen = {name: STORIES[name] for name in options["only"] or STORIES}
    with serve() as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        url = f"http://127.0.0.1:{port}"
        rows = [_tell(browser, url, name, *story, options) for name, story in chosen.items()]
        browser.close()
    print(json.dumps(rows))


def _tell(browser, url, name, text, method, goal, options):
    story = Story(browser, url, "newcomer" if name == "newcomer" else "owner")
    started, problem = time.perf_counter(), ""
    try:
        method(story)
    except (AssertionError, Error, OSError) as error:
        problem = str(error).splitlines()[0][:120]
    seconds = round(time.perf_counter() - started, 1)
    if options["screenshots"]:
        story.page.screenshot(path=Path(options["screenshots"], f"{name}.png"))
    story.page.context.close()
    clicks = None if problem else story.clicks
    row = {"name": name, "story": text, "clicks": clicks, "goal": goal}
    return {**row, "seconds": seconds, "problem": problem}


def _fill():
    """Two users of one team, two skills, and runs: of a yanked version, failed, and waiting for approval."""
    team = Team.objects.create(slug="handbook", name="Handbook")
    for name in ("owner", "newcomer"):
        user = User.objects.create_user(name, password=PASSWORD)
        Membership.objects.create(team=team, user=user, role=Role.OWNER)
    owner = User.objects.get(username="owner")
    versions = [_publish(owner, team, slug, number) for slug, number in _VERSIONS]
    yank(versions[0], Actor(user=owner), reason="Wrong totals")
    for version, count in zip(versions, (3, 45, 0, 0), strict=True):
        for _ in range(count):
            _run(owner, team, version, "succeeded")
    failed = request_and_execute(actor=Actor(user=owner), version=versions[3], request=Request())
    assert failed.status == "failed", (failed.status, failed.failure_code)
    tomorrow = timezone.now() + timedelta(days=1)
    token, _secret = tokens.issue(
        owner, name="agent", scopes=["run"], expires_at=tomorrow, by=Actor(user=owner), team=team
    )
    for number in range(10):
        waiting = _run(
            owner, team, versions[1 + number % 2], "waiting_approval", token=token, token_name="agent"
        )
        Approval.objects.create(
            run=waiting,
            expires_at=tomorrow,
            requested_permissions={},
            unsafe_properties=["network"],
        )


_VERSIONS = (("report", "1.0.0"), ("report", "1.1.0"), ("summary", "2.0.0"), ("weather", "1.0.0"))
_WEATHER = b"print('Reading the city')\nprint({'country': 'Norway'}['city'])\n"


def _publish(user, team, slug, number):
    head = (
        f"---\nname: {slug}\ndescription: Writes a {slug}. Use it every week.\nversion: {number}\n---\n# A\n"
    )
    script = _WEATHER if slug == "weather" else b"print('{}')\n"
    package = read_files([("SKILL.md", head.encode()), ("scripts/go.py", script)])
    return publish(package, team=team, actor=Actor(user=user)).version


def _run(user, team, version, status, **fields):
    now = timezone.now()
    ended = status not in ("waiting_approval", "queued")
    times = {"started_at": now, "finished_at": now} if ended else {}
    return Run.objects.create(
        skill=version.skill,
        skill_label=str(version.skill),
        version_number=version.number,
        digest=version.digest,
        team=team,
        caller=user,
        protocol="script",
        entry="scripts/go.py",
        request={"inputs": {"city": "Oslo"}},
        status=status,
        attempt=int(ended),
        run_after=now,
        created_at=now,
        **times,
        **fields,
    )


if __name__ == "__main__":
    main()
