"""What the API does with each type of skill, with runs that start others, and with stored answers."""

from __future__ import annotations

import pytest

from worker.models import Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C3", "C12")]

HEAD = """---
name: typed
description: For tests.
version: 1.0.0
type: {}
capabilities: [x]
tags: [x]
triggers: {{phrases: [x]}}
input_schema: {{type: object}}
output_schema: {{}}
security: {{network: none}}
resources: {{}}
cacheable: true
---
# Typed
"""
SCRIPT = "def execute(parameters):\n    return {'output': 1}\n"


@pytest.fixture
def of_type(publish):
    def make(kind):
        files = {"SKILL.md": HEAD.format(kind), "scripts/execute.py": SCRIPT}
        return publish(files, visibility="public")

    return make


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


def test_a_static_skill_is_refused_with_how_to_read_it(of_type, as_bob):
    answer = as_bob.post("runs", {"skill": str(of_type("static").skill)})
    assert (answer.status_code, answer.json()["code"]) == (422, "STATIC_SKILL")
    assert "skills_load" in answer.json()["remedy"]
    assert Run.objects.count() == 0


def test_an_internal_skill_is_started_by_its_team_alone(of_type, as_bob, as_charlie, token_api, bob):
    name = {"skill": str(of_type("internal").skill)}
    assert as_bob.post("runs", name).status_code == 202
    assert token_api(bob, "run").post("runs", name).status_code == 202
    refused, absent = as_charlie.post("runs", name), as_charlie.post("runs", {"skill": "docs/absent"})
    assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")
    assert refused.json()["message"].replace("typed", "") == absent.json()["message"].replace("absent", "")


@pytest.mark.parametrize("kind", ["direct", "preprocessor", "service", "distributed"])
def test_the_others_are_started_by_whoever_sees_them(of_type, as_charlie, kind):
    assert as_charlie.post("runs", {"skill": str(of_type(kind).skill)}).status_code == 202


def test_a_stored_answer_names_its_run_and_fresh_leaves_it_alone(of_type, as_bob):
    asked = {"skill": str(of_type("direct").skill), "inputs": {"a": 1}}
    first = as_bob.post("runs", asked).json()
    assert (first["cached"], first["cached_from"], first["children"], first["parent"]) == (
        False,
        None,
        [],
        None,
    )
    execute_here(Run.objects.get(uid=first["id"]))
    again = as_bob.post("runs", asked)
    assert (again.status_code, again.json()["cached"], again.json()["cached_from"]) == (
        200,
        True,
        first["id"],
    )
    fresh = as_bob.post("runs", {**asked, "no_cache": True})
    assert (fresh.status_code, fresh.json()["cached"]) == (202, False)
    assert as_bob.post("runs", {**asked, "no_cache": "yes"}).status_code == 422
