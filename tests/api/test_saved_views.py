"""Endpoints of saved views of the run list."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from portal.pages.runs.forms.run_filter import RunFilter
from tests.pages import part
from worker.models import SavedRunView
from worker.saved_views import saved_views

pytestmark = [pytest.mark.row("P5"), pytest.mark.django_db]
FAILURES = {"name": "Failures", "filter": {"status": "failure", "caller": "me"}}


def test_view_is_created_once_listed_renamed_and_deleted(as_bob):
    answers = [as_bob.post("saved-views", FAILURES, headers={"Idempotency-Key": "a"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    view = answers[0].json()
    assert (view, answers[0]["Location"]) == (answers[1].json(), view["url"])
    address = f"saved-views/{view['id']}"
    assert as_bob.get("saved-views").json() == {"items": [view]}
    page = as_bob.client.get("/runs/" + view["page_url"].partition("/runs/")[2])
    assert part(page, "saved-view")["aria-current"] == "true"
    tag = as_bob.get(address)["ETag"]
    renamed = as_bob("PATCH", address, {"name": " My  failures "}, headers={"If-Match": tag}).json()
    assert (renamed["name"], renamed["filter"]) == ("My failures", FAILURES["filter"])
    assert as_bob("PATCH", address, {"name": "x"}, headers={"If-Match": tag}).status_code == 412
    changed = as_bob("PATCH", address, {"filter": {"since": "7d"}}).json()
    assert (changed["name"], changed["filter"]) == ("My failures", {"since": "7d"})
    assert as_bob("DELETE", address).status_code == 204
    assert as_bob.get(address).status_code == 404
    assert not SavedRunView.objects.exists()


def test_view_is_hidden_from_others(as_bob, as_charlie, token_api, bob, team):
    address = f"saved-views/{as_bob.post('saved-views', FAILURES).json()['id']}"
    limited = token_api(bob, "read", "run", team=team)
    for api in (as_charlie, limited):
        assert api.get("saved-views").json() == {"items": []}
        assert api.get(address).status_code == 404
        assert api("PATCH", address, {"name": "Mine"}).status_code == 404
        assert api("DELETE", address).status_code == 404
    assert limited.post("saved-views", FAILURES).status_code == 403
    assert token_api(bob, "read").post("saved-views", FAILURES).status_code == 403
    assert token_api(bob, "run").get(address).json()["name"] == "Failures"
    assert SavedRunView.objects.get().name == "Failures"


def test_name_is_unique_per_user(as_bob, as_charlie):
    as_bob.post("saved-views", FAILURES)
    other = as_bob.post("saved-views", {**FAILURES, "name": "Other"}).json()
    for answer in (
        as_bob.post("saved-views", {"name": "Failures ", "filter": {"since": "1h"}}),
        as_bob("PATCH", f"saved-views/{other['id']}", {"name": "Failures"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "SAVED_VIEW_NAME_TAKEN")
    assert as_bob("PATCH", f"saved-views/{other['id']}", {"name": "Other"}).status_code == 200
    assert as_charlie.post("saved-views", FAILURES).status_code == 201


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": " ", "filter": {"since": "1h"}}, "SAVED_VIEW_NAME_INVALID"),
        ({"name": "x" * 41, "filter": {"since": "1h"}}, "SAVED_VIEW_NAME_INVALID"),
        ({"name": "a"}, "FIELD_REQUIRED"),
        ({"name": "a", "filter": {}}, "SAVED_VIEW_EMPTY"),
        ({"name": "a", "filter": {"pinned": False}}, "SAVED_VIEW_EMPTY"),
        ({"name": "a", "filter": {"statsu": "failed"}}, "FIELD_INVALID"),
        ({"name": "a", "filter": {"status": "nonsense"}}, "FIELD_INVALID"),
        ({"name": "a", "filter": {"ids": "b," * 600}}, "SAVED_VIEW_TOO_LONG"),
    ],
)
def test_invalid_view_is_refused(as_bob, body, code):
    answer = as_bob.post("saved-views", body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert not SavedRunView.objects.exists()


def test_number_of_views_is_limited(as_bob, monkeypatch):
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 1)
    as_bob.post("saved-views", FAILURES)
    answer = as_bob.post("saved-views", {**FAILURES, "name": "Second"})
    assert answer.json()["code"] == "SAVED_VIEWS_TOO_MANY"


def test_all_filters_are_filters_of_the_page(as_bob):
    given = {
        "status": "failed",
        "skill": "docs/a b",
        "version": "1.0.0",
        "team": "docs",
        "caller": "agents",
        "failure_code": "timeout",
        "since": "24h",
        "label": "wöchentlich",
        "pinned": True,
        "request_id": "r-1",
        "error_group": "g",
        "ids": "a,b",
        "day": "2026-11-24",
        "days": 7,
    }
    view = as_bob.post("saved-views", {"name": "All", "filter": given}).json()
    assert view["filter"] == {**given, "failure_code": "TIMEOUT"}
    query = SavedRunView.objects.get().query
    assert RunFilter(QueryDict(query)).query == query
    assert {*given} == {*RunFilter.base_fields}
