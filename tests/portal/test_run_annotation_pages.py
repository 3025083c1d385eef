"""Pin, labels and notes on the pages of runs."""

from __future__ import annotations

import pytest

from tests.factories.runs import make_run
from tests.pages import actions, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P8")]


@pytest.fixture
def run(public, bob, team):
    return make_run(public.latest, bob, team)


def test_run_is_pinned_labelled_and_annotated_on_its_page(browse, run, bob):
    client = browse(bob)
    address = f"/runs/{run.uid}/"
    assert {"pin", "add-note", "save-labels"} <= set(actions(client.get(address)))
    client.post(f"{address}pin/", {"pinned": "1"})
    client.post(f"{address}labels/", {"labels": "Report，<b>x</b>,,"})
    client.post(f"{address}notes/", {"text": "<script>look</script>\nsecond line"})
    page = client.get(address)
    assert parts(page, "pinned")
    assert [tag.text for tag in parts(page, "label")] == ["<b>x</b>", "report"]
    note = part(page, "note")
    assert "<script>look</script>second line" in note
    for query in ("pinned=1", "label=report"):
        (row,) = parts(client.get(f"/runs/?{query}"), "run")
        assert parts(row, "pinned")
        assert "report" in [tag.text for tag in parts(row, "label")]
    assert parts(client.get("/runs/?label=other"), "run") == []
    client.post(f"{address}notes/{note['value']}/", {"delete": "1"})
    client.post(f"{address}pin/", {"pinned": "0"})
    page = client.get(address)
    assert (parts(page, "note"), parts(page, "pinned")) == ([], [])


def test_maintainer_can_delete_but_not_edit_a_note_of_another(browse, run, alice, bob, charlie):
    browse(bob).post(f"/runs/{run.uid}/notes/", {"text": "mine"})
    page = browse(alice).get(f"/runs/{run.uid}/")
    assert "delete-note" in actions(page)
    assert "save-note" not in actions(page)
    assert browse(charlie).post(f"/runs/{run.uid}/notes/", {"text": "x"}).status_code == 404
    assert run.notes.count() == 1
