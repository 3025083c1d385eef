"""The glossary by the API: for administrators in a session; what came with the site is everybody's."""

from __future__ import annotations

import pytest

from tests.api.conftest import session_api

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def root_api(administrator):
    return session_api(administrator)


def test_a_line_is_added_changed_removed_and_each_is_undone(root_api):
    added = root_api("POST", "glossary", {"text": "flumph, invoice"})
    assert added.status_code == 201
    uid = added.json()["entry"]["id"]
    assert [row["id"] for row in root_api("GET", "glossary").json()["items"]] == [uid]
    assert root_api("GET", "glossary?q=nothing").json()["items"] == []
    changed = root_api("PATCH", f"glossary/{uid}", {"text": "flumph, ticket"}).json()
    assert changed["entry"]["words"] == ["flumph", "ticket"]
    assert root_api("POST", f"glossary/changes/{changed['change_id']}/undo").status_code == 200
    assert root_api("GET", "glossary").json()["items"][0]["text"] == "flumph, invoice"
    removed = root_api("DELETE", f"glossary/{uid}").json()
    assert root_api("GET", "glossary").json()["items"] == []
    root_api("POST", f"glossary/changes/{removed['change_id']}/undo")
    assert len(root_api("GET", "glossary").json()["items"]) == 1


def test_a_refusal_says_the_place_and_the_remedy(root_api):
    answer = root_api("POST", "glossary", {"text": "alone"})
    assert answer.status_code == 422
    assert answer.json()["problems"][0].keys() >= {"code", "path", "remedy"}
    assert answer.json()["code"] == "GLOSSARY_LINE_INVALID"
    assert root_api("POST", "glossary", {"text": "pdf, 便携文档"}).status_code == 409


def test_others_and_tokens_write_and_read_nothing(root_api, alice, administrator, token_api):
    uid = root_api("POST", "glossary", {"text": "flumph, invoice"}).json()["entry"]["id"]
    for api in (session_api(alice), token_api(administrator)):
        assert api("GET", "glossary").status_code == 403
        assert api("POST", "glossary", {"text": "a, b"}).status_code == 403
    assert session_api(alice)("PATCH", f"glossary/{uid}", {"text": "a, b"}).status_code == 404
    assert session_api(None)("GET", "glossary").status_code == 401


def test_the_lines_that_came_with_the_site_come_in_pages(root_api, charlie):
    api, seen, cursor = session_api(charlie), [], ""
    while cursor is not None:
        page = api("GET", f"glossary/built-in?limit=100&q=a{cursor and '&cursor=' + cursor}").json()
        seen += [row["text"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert len(seen) == len(set(seen)) > 100
