"""What depends on the reader is kept by nobody else, and a one-time password opens one form."""

from __future__ import annotations

from contextlib import closing

import pytest
from django.contrib.staticfiles import finders
from django.db import DataError
from django.http import HttpResponse
from django.test import RequestFactory

from portal.middleware import RefusalMiddleware
from tests.checks import not_none

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/skills/",
        "/skills/docs/weekly-report/",
        "/skills/docs/weekly-report/1.0.0/raw/SKILL.md",
        "/teams/docs/",
        "/runs/",
        "/account/tokens/",
        "/nowhere/",
    ],
)
def test_no_shared_cache_keeps_a_page(browse, bob, private, path):
    for person in (bob, None):
        answer = browse(person).get(path)
        assert "private" in answer["Cache-Control"]
        assert "max-age=3600" not in answer["Cache-Control"]
        assert "Cookie" in answer["Vary"]


def test_files_of_ours_are_kept_by_every_cache(browse):
    assert finders.find("skillquay.css")
    with closing(browse(None).get("/static/skillquay.css")) as answer:
        assert "private" not in answer["Cache-Control"]


def test_a_one_time_password_opens_neither_page_nor_api(browse, bob):
    bob.must_change_password = True
    bob.save()
    assert browse(bob).get("/skills/").headers["Location"] == "/account/password/"
    answer = browse(bob).get("/api/v1/runs")
    assert (answer.status_code, answer.json()["code"]) == (403, "PASSWORD_CHANGE_REQUIRED")


def test_what_no_column_can_hold_is_a_request_that_cannot_be_read(bob):
    request = RequestFactory().get("/runs/%00/")
    request.user = bob
    answer = not_none(
        RefusalMiddleware(lambda _: HttpResponse()).process_exception(request, DataError("NUL (0x00)"))
    )
    assert answer.status_code == 400
