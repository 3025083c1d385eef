"""Saved views of the list of runs."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from registry.erasure.export import export_person
from registry.identity.actors import Actor
from tests.factories.runs import make_run
from tests.pages import messages, part, parts, select
from worker.models import SavedRunView
from worker.saved_views import saved_views

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P8")]


def _save(client, name, query):
    return client.post("/runs/views/", {"name": name, "query": query}, follow=True)


def test_view_is_saved_listed_opened_and_removed_with_undo(browse, bob, charlie, public, team):
    wanted = make_run(public.latest, bob, team, status="failed", failure_code="TIMEOUT")
    make_run(public.latest, bob, team)
    client = browse(bob)
    assert parts(client.get("/runs/"), "saved-views") == []
    form = part(client.get("/runs/?status=failed&caller=me"), "save-view")
    [query] = form.select("input", name="query")
    answer = _save(client, " My  failures ", query["value"])
    assert messages(answer) == ["success"]
    view = part(client.get("/runs/"), "saved-view")
    assert "My failures" in view
    page = client.get(f"/runs/{view['href']}")
    assert [row["value"] for row in parts(page, "run")] == [wanted.uid]
    assert part(page, "saved-view")["aria-current"] == "true"
    assert not parts(page, "save-view")
    saved = SavedRunView.objects.get()
    browse(charlie).post(f"/runs/views/{saved.uid}/remove/")
    assert parts(browse(charlie).get("/runs/"), "saved-view") == []
    removed = client.post(f"/runs/views/{saved.uid}/remove/", follow=True)
    assert parts(removed, "saved-view") == []
    actions = [form.attributes.get("action", "") for form in select(removed, "form")]
    [undo] = [action for action in actions if action.startswith("/runs/views/?")]
    restored = part(client.post(undo, follow=True), "saved-view")
    assert restored["href"] == view["href"]


def test_view_of_the_same_name_is_replaced(browse, bob):
    client = browse(bob)
    _save(client, "Today", "since=24h")
    _save(client, "Today", "since=24h&status=failed&nonsense=1&pinned=7")
    assert list(SavedRunView.objects.values_list("query", flat=True)) == ["status=failed&since=24h"]


@pytest.mark.parametrize(
    ("name", "query", "code"),
    [
        ("", "status=failed", "SAVED_VIEW_NAME_INVALID"),
        ("x" * 41, "status=failed", "SAVED_VIEW_NAME_INVALID"),
        ("a\u202eb", "status=failed", "SAVED_VIEW_NAME_INVALID"),
        ("Nothing", "status=nonsense&before=1", "SAVED_VIEW_EMPTY"),
        ("Long", f"ids={'a,' * 600}", "SAVED_VIEW_TOO_LONG"),
        ("Third", "status=failed", "SAVED_VIEWS_TOO_MANY"),
    ],
)
def test_view_that_cannot_be_saved_is_refused(browse, bob, charlie, monkeypatch, name, query, code):
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 2)
    for user, names in ((bob, ("First", "Second")), (charlie, ("Third",))):
        for each in names:
            saved_views.save_view(user, each, "status=lost")
    assert part(_save(browse(bob), name, query), "message", kind="error")["code"] == code
    assert bob.saved_run_views.count() == 2
    assert messages(_save(browse(bob), "Second", "status=failed")) == ["success"]


def test_views_need_a_post_and_a_csrf_token(bob):
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    assert client.post("/runs/views/", {"name": "a", "query": "status=failed"}).status_code == 403
    assert client.get("/runs/views/?name=a&query=status=failed").status_code == 405
    assert not SavedRunView.objects.exists()


def test_views_are_exported_and_erased_with_their_user(browse, bob):
    _save(browse(bob), "Failures", "status=failed")
    exported = json.loads(json.dumps(export_person(bob, Actor(user=bob)), default=list))
    assert exported["saved_run_views"] == [{"name": "Failures", "query": "status=failed"}]
    saved_views.erase_person(bob)
    assert not SavedRunView.objects.exists()
