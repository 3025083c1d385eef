"""Pins, labels and notes of runs over the API."""

from __future__ import annotations

import pytest

from registry.erasure import people
from registry.erasure.export import export_person
from registry.identity.actors import Actor
from registry.models import AuditEntry, Version
from tests.factories.runs import make_run
from worker.models import Run, RunLabel, RunNote
from worker.retention.erase import erase_run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


@pytest.fixture
def run(version, bob, team):
    """A run of Bob, which Alice can read as owner of the team."""
    return make_run(Version.objects.get(), bob, team)


def patch(api, run, **body):
    return api("PATCH", f"runs/{run.uid}", body)


def test_run_is_pinned_labelled_and_found_by_both(run, as_alice, as_bob, bob, team):
    other = make_run(Version.objects.get(), bob, team)
    changed = patch(as_alice, run, pinned=True, labels=["Quarterly  Report", "quarterly report", "好"]).json()
    assert changed["pinned_at"]
    assert changed["labels"] == ["quarterly report", "好"]
    for query in ("pinned=true", "label=QUARTERLY report", "label=好&pinned=1"):
        (item,) = as_bob.get(f"runs?{query}").json()["items"]
        assert (item["id"], item["labels"]) == (run.uid, ["quarterly report", "好"])
    assert as_bob.get("runs?label=other").json()["items"] == []
    unpinned = patch(as_bob, run, pinned=False, labels=["好"]).json()
    assert (unpinned["pinned_at"], unpinned["labels"]) == (None, ["好"])
    assert patch(as_bob, other, pinned=False).status_code == 200
    assert [*AuditEntry.objects.values_list("action", flat=True)].count("run.unpin") == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"labels": ["a,b"]}, "RUN_LABEL_INVALID"),
        ({"labels": [" "]}, "RUN_LABEL_INVALID"),
        ({"labels": ["x" * 41]}, "RUN_LABEL_INVALID"),
        ({"labels": [f"l{n}" for n in range(21)], "pinned": True}, "RUN_LABELS_TOO_MANY"),
        ({"labels": "a"}, "FIELD_INVALID"),
        ({"pinned": 1}, "FIELD_INVALID"),
    ],
)
def test_invalid_change_is_refused_as_a_whole(run, as_bob, body, code):
    assert patch(as_bob, run, **body).json()["code"] == code
    assert Run.objects.get().pinned_at is None
    assert not RunLabel.objects.exists()


def test_unreadable_run_shows_and_finds_no_marks(public_version, charlie, as_alice, as_charlie):
    """The skill's team sees that Charlie's run exists, but not its marks."""
    run = make_run(Version.objects.get(), charlie, charlie.memberships.get().team)
    assert patch(as_charlie, run, pinned=True, labels=["secret"]).status_code == 200
    as_charlie.post(f"runs/{run.uid}/notes", {"text": "secret"})
    (item,) = as_alice.get("runs").json()["items"]
    assert (item["pinned_at"], item["labels"]) == (None, None)
    assert "labels" not in as_alice.get(f"runs/{run.uid}").json()
    for query in ("pinned=true", "label=secret"):
        assert as_alice.get(f"runs?{query}").json()["items"] == []
    assert patch(as_alice, run, pinned=False).status_code == 403
    assert as_alice.get(f"runs/{run.uid}/notes").status_code == 403


def test_notes_are_edited_by_authors_and_deleted_by_maintainers(run, as_alice, as_bob, monkeypatch):
    path = f"runs/{run.uid}/notes"
    mine = as_alice.post(path, {"text": " Wrong month. \r\n"}).json()
    theirs = as_bob.post(path, {"text": "Fixed."}).json()
    assert [note["text"] for note in as_bob.get(path).json()["items"]] == ["Wrong month.", "Fixed."]
    assert as_bob("PATCH", f"{path}/{mine['id']}", {"text": "x"}).status_code == 403
    assert as_bob("DELETE", f"{path}/{mine['id']}").status_code == 403
    edited = as_alice("PATCH", f"{path}/{mine['id']}", {"text": "Wrong year."}).json()
    assert (edited["text"], bool(edited["edited_at"])) == ("Wrong year.", True)
    assert as_alice("PATCH", f"{path}/{theirs['id']}", {"text": "x"}).status_code == 403
    assert as_alice("DELETE", f"{path}/{theirs['id']}").status_code == 204
    assert AuditEntry.objects.filter(action="run.delete_note").count() == 1
    assert as_alice("DELETE", f"{path}/{theirs['id']}").status_code == 404
    for text in (" \n", "x" * 5001):
        assert as_bob.post(path, {"text": text}).json()["code"] == "RUN_NOTE_INVALID"
    monkeypatch.setattr("worker.annotations.notes.MAX_NOTES", 1)
    assert as_bob.post(path, {"text": "one more"}).json()["code"] == "RUN_NOTES_TOO_MANY"


def test_erasing_a_run_erases_its_marks(run, as_bob, bob):
    patch(as_bob, run, pinned=True, labels=["secret"])
    as_bob.post(f"runs/{run.uid}/notes", {"text": "secret"})
    erase_run(run, actor=Actor(user=bob))
    document = as_bob.get(f"runs/{run.uid}").json()
    assert (document["pinned_at"], document["labels"]) == (None, [])
    assert as_bob.get(f"runs/{run.uid}/notes").json()["items"] == []
    assert patch(as_bob, run, pinned=True).json()["code"] == "RUN_CONTENT_ERASED"


def test_notes_of_a_person_are_exported_and_erased(run, as_alice, bob):
    RunNote.objects.create(run=run, author=bob, text="of Bob", created_at=run.created_at)
    as_alice.post(f"runs/{run.uid}/notes", {"text": "of Alice"})
    assert [note["text"] for note in export_person(bob, by=Actor(user=bob))["run_notes"]] == ["of Bob"]
    people.erase_person(bob, by=Actor(user=bob))
    assert not RunNote.objects.filter(text="of Bob").exists()
