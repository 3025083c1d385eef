"""Each page's main path in its six forms: `make test` takes two of them, and `make test-full` the others."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from random import Random

import pytest
from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import resolve
from playwright.sync_api import Page

from tests.addresses import filled, routes
from tests.browser import main_paths
from tests.browser.forms import FIRST_ROWS, ROWS, Form, forms_of
from tests.browser.main_paths import MAIN_PATHS
from tests.browser.main_paths.site import DemoSite, fill, served
from tests.browser.visitor import Visitor
from tests.demo.pages import SKILL, TEAM

EXAMINED = 1 / 3  # of the pages, which axe examines in `make test`
TIMEOUT_MS = 20_000  # of one step, on a busy machine
for module in pkgutil.iter_modules(main_paths.__path__):
    importlib.import_module(f"{main_paths.__name__}.{module.name}")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("P11", "P8"),
    pytest.mark.every_case,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("site")


@pytest.fixture(autouse=True)
def var_folder(folder, settings):
    """All tests of the module share the site's files."""
    settings.SKILLQUAY_VAR = folder
    settings.STATIC_ROOT = folder / "static"
    return folder


@pytest.fixture(scope="module")
def site(folder, django_db_setup, django_db_blocker, browser) -> Iterator[DemoSite]:
    """A site that is seeded once. Each path creates what it changes."""
    changed = {
        "SKILLQUAY_VAR": folder,
        "STATIC_ROOT": folder / "static",
        "EMAIL_HOST": "127.0.0.1",
        "SKILLQUAY_SIGN_UP": "open",
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
    }
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("worker.runs.request.wake", lambda: True)
        try:
            with override_settings(**changed):
                records = fill()
                with served() as url, override_settings(SKILLQUAY_PUBLIC_URL=url):
                    yield DemoSite(url, records)
        finally:
            call_command("flush", verbosity=0, interactive=False)


@pytest.fixture
def _django_db_helper(site):
    """Replaces pytest-django's fixture, which would empty the database after each test."""


def _cases() -> list[object]:
    cases: list[object] = []
    for name, path in sorted(MAIN_PATHS.items()):
        forms = forms_of(name, os.environ["TEST_SEED"])
        examined = _examined_rows(name, forms)
        for row, form in enumerate(forms):
            marks = [] if row < FIRST_ROWS else [pytest.mark.full]
            cases.append(pytest.param(path, form, row in examined, id=f"{name}-{row}-{form}", marks=marks))
    return cases


def _examined_rows(name: str, forms: list[Form]) -> tuple[int, int]:
    """The rows in which axe, which takes as long as the rest, examines the page: one in each theme."""
    is_drawn = Random(f"{os.environ['TEST_SEED']}:{name}:examined").random() < EXAMINED
    first = 0 if is_drawn else FIRST_ROWS
    others = (row for row in range(FIRST_ROWS, ROWS) if forms[row].is_dark != forms[first].is_dark)
    return first, next(others)


@pytest.fixture(scope="module")
def page_of(browser, site) -> Iterator[Callable[[Form], Page]]:
    """Prepares the one page of all paths for a form: a new one would cost more than most paths."""
    # In the middle of an animation, colors have less contrast.
    context = browser.new_context(base_url=site.url, reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    devices = context.new_cdp_session(page)

    def prepare(form: Form) -> Page:
        context.clear_cookies()
        form.apply_to(page, devices)
        return page

    yield prepare
    context.close()


_FORM_OF_PAGE = """[
    document.cookie.includes("zone="),  // which the script sets
    matchMedia("(prefers-color-scheme: dark)").matches,
    document.documentElement.lang.startsWith("zh"),
    innerWidth < 600,
]"""


def test_page_loads_in_each_form(page_of):
    values = (False, True, False, True, False)
    first, second = Form(*values), Form(*(not value for value in values))
    for form in (first, second, first):
        page = page_of(form)
        page.goto("/styleguide/")
        expected = [form.has_scripts, form.is_dark, form.is_chinese, form.is_phone]
        assert page.evaluate(_FORM_OF_PAGE) == expected


@pytest.mark.parametrize(("path", "form", "is_examined"), _cases())
def test_main_path_works_in_the_form(page_of, site, tmp_path, path, form, is_examined):
    page = page_of(form)
    visitor = Visitor(page, form, site, tmp_path)
    visitor.checks_access = is_examined
    if path.person:
        visitor.sign_in_as(site.user(path.person))
    try:
        path.walk(visitor)
    finally:
        visitor.leave()
    assert visitor.faults == []
    assert set(path.routes) <= {resolve(seen).route for seen in visitor.seen}


@pytest.mark.full
@pytest.mark.slow(reason="requests every page")
def test_every_page_has_a_main_path(site):
    covered = {route for path in MAIN_PATHS.values() for route in path.routes}
    values = {"team": TEAM, "slug": SKILL, "number": "1.2.0", "path": "SKILL.md", "name": "NOT_FOUND"}
    values |= {"before": "1.0.0", "after": "1.2.0", "collection": "start"}
    starts = sorted(site.records, key=len, reverse=True)
    clients = [Client(), Client(), Client()]
    for client, name in zip(clients, ("alice", "admin"), strict=False):
        client.force_login(site.user(name))
    missing = []
    for route in set(routes()) - covered:
        start = next((start for start in starts if route.startswith(start)), "")
        parts = defaultdict(lambda: "unknown", values | site.records.get(start, {}))
        path = f"/{filled(route, parts)}"
        if any(_is_page(client, path) for client in clients):
            missing.append(route)
    assert missing == []


def _is_page(client: Client, path: str) -> bool:
    with closing(client.get(path)) as response:
        is_html = response.get("content-type", "").startswith("text/html")
        return response.status_code == 200 and is_html and b"<html" in response.getvalue()
