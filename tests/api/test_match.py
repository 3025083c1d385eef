from __future__ import annotations

import pytest

from tests.api.conftest import assert_error

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


def test_an_agent_asks_which_skills_fit(version, as_bob):
    found = as_bob.post("match", {"utterance": "summarise this document"}).json()
    (row,) = found["results"]
    assert (found["none"], row["skill"], row["version"]) == (False, "docs/summarise", "1.0.0")
    assert row["can"] == {"load": True, "run": True}
    assert set(row["needs"]) == {"approval", "secret", "files", "network"}
    assert 0 < row["score"] <= 1
    assert row["reasons"]


@pytest.mark.row("P2")
def test_a_stranger_is_told_of_nothing(version, as_charlie):
    found = as_charlie.post("match", {"utterance": "summarise this document"}).json()
    assert found == {"query": "summarise this document", "none": True, "results": []}


def test_nobody_may_ask_for_what_is_everybodys(public_version, anonymous):
    from registry.models import IdempotencyKey, Skill

    asked = {"utterance": "summarise this document"}
    assert anonymous.post("match", asked).json()["none"]
    Skill.objects.update(is_bundled=True)
    for _ in range(2):  # a key of nobody is kept for nobody: it could be anybody's
        found = anonymous.post("match", asked, headers={"Idempotency-Key": "k"})
        assert [each["skill"] for each in found.json()["results"]] == ["docs/summarise"]
        assert "Idempotency-Replayed" not in found.headers
    assert found.json()["results"][0]["can"] == {"load": True, "run": False}
    assert not IdempotencyKey.objects.exists()


def test_nothing_asked_is_answered_with_none(version, as_bob):
    for body in (
        {},
        {"utterance": ""},
        {"utterance": "a"},
        {"event": "x"},
        {"intent": "?", "paths": ["a.md"]},
    ):
        assert as_bob.post("match", body).json()["none"], body


def test_wrong_fields_are_refused(as_bob):
    assert_error(as_bob.post("match", {"utterances": "x"}), 422, "FIELD_UNKNOWN")
    assert_error(as_bob.post("match", {"utterance": 7}), 422, "FIELD_INVALID")
    assert_error(as_bob.post("match", {"paths": "x"}), 422, "FIELD_INVALID")
    assert_error(as_bob.post("match", {"limit": 0}), 422, "FIELD_INVALID")


@pytest.mark.row("P4")
def test_a_search_counts_facets_where_asked(version, as_bob, as_charlie):
    found = as_bob.get("search?q=document&facets=1").json()
    assert {"value": "docs", "count": 1} in found["facets"]["team"]
    assert found["facets"]["tag"] == [{"value": "summary", "count": 1}, {"value": "text", "count": 1}]
    assert not any(as_charlie.get("search?q=document&facets=1").json()["facets"].values())
    assert "facets" not in as_bob.get("search?q=document").json()
    assert as_bob.get("search?q=document&tag=other").json()["none"]
