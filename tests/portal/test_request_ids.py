"""Request ids: in each response, on each error page, and with the run's uid in the log."""

from __future__ import annotations

import logging

import pytest
from django.test import Client, RequestFactory

from portal.pages.errors import views as errors
from registry import log_context
from registry.log_context import ContextFilter
from tests.pages import part
from worker.core.cancellation import run_cancellable

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]


@pytest.fixture
def contexts(caplog):
    """The contexts of the log lines so far."""
    caplog.handler.addFilter(ContextFilter())
    caplog.set_level(logging.INFO)
    return lambda: [record.context for record in caplog.records]


@pytest.mark.parametrize(("status", "path"), [(404, "/nowhere/"), (405, "/preferences/theme/")])
def test_error_page_shows_id_of_response(browse, bob, status, path):
    page = browse(bob).get(path)
    assert page.status_code == status
    assert part(page, "request-id").text == page["X-Request-ID"]


def test_failed_csrf_check_shows_id():
    page = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "bob"})
    assert (page.status_code, part(page, "request-id").text) == (403, page["X-Request-ID"])


def test_refused_request_shows_id(browse, bob, public):
    page = browse(bob).get("/runs/compare/?run=1&run=2")
    assert page.status_code >= 400
    assert part(page, "request-id").text == page["X-Request-ID"]


def test_locked_sign_in_shows_id(client, bob, monkeypatch):
    monkeypatch.setattr("registry.accounts.lock_outs.MAX_FAILURES", 1)
    page = client.post("/sign-in/", {"username": "bob", "password": "wrong"})
    assert page.status_code == 429
    assert part(page, "request-id").text == page["X-Request-ID"]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_server_error_page_shows_id_that_the_log_names(monkeypatch, language, contexts):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("portal.pages.home.views.render", broken)
    client = Client(raise_request_exception=False, headers={"accept-language": language})
    page = client.get("/", headers={"x-request-id": "trace-0001"})
    assert (page.status_code, page["X-Request-ID"]) == (500, "trace-0001")
    assert part(page, "request-id").text == "trace-0001"
    assert "request=trace-0001" in contexts()


def test_error_page_without_middleware_has_id():
    assert len(part(errors.broken(RequestFactory().get("/")), "request-id").text) == 26


def test_pages_keep_a_valid_client_id_only(browse):
    client = browse()
    assert client.get("/", headers={"x-request-id": "trace-0001"})["X-Request-ID"] == "trace-0001"
    assert client.get("/", headers={"x-request-id": "a\tb request=x"})["X-Request-ID"] != "a\tb request=x"


def test_log_lines_name_request_or_run_only_inside_its_block(contexts):
    log = logging.getLogger("test")
    with log_context.bind("run", "01run"):
        log.info("outside the thread")
        run_cancellable(lambda check: log.info("inside the thread"), lambda: None)
    log.info("after it")
    assert contexts()[-3:] == ["run=01run", "run=01run", "-"]
