"""The one document of a run: everything for who may read it, standing alone for its skill's authors."""

from __future__ import annotations

import pytest

from registry.packages.problems import Refusal
from worker.models import Run, Step
from worker.run_views.documents import KEYS, run_document
from worker.run_views.events import events_since
from worker.runs.cancel import cancel
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P5")]

CONTENT = {"outputs", "output", "message", "error", "warnings", "stdout", "stderr", "steps", "artifacts"}
CONTENT |= {"inputs", "team", "caller", "request_id", "entry", "progress", "cause"}


@pytest.fixture
def of_bob(hello, queue_run, bob):
    return execute_here(queue_run(hello, {"who": "secret"}, by=bob))


def test_the_document_has_exactly_its_keys(of_bob, actor_of, bob):
    assert tuple(run_document(of_bob, actor=actor_of(bob))) == KEYS


def test_a_maintainer_of_the_callers_team_reads_it_all(of_bob, actor_of, alice):
    assert "secret" in run_document(of_bob, actor=actor_of(alice))["stdout"]


def test_authors_of_the_skill_see_how_it_went_and_no_content(
    publish_skill, queue_run, charlie, actor_of, alice
):
    run = execute_here(queue_run(publish_skill(visibility="site"), {"who": "secret"}, by=charlie))
    document = run_document(run, actor=actor_of(alice))
    assert not CONTENT & set(document)
    assert document["status"] == "succeeded"
    assert document["duration_ms"] > 0
    assert "secret" not in str(document)


def test_to_a_stranger_the_run_is_as_if_it_were_not(of_bob, actor_of, charlie):
    with pytest.raises(Refusal) as no:
        run_document(of_bob, actor=actor_of(charlie))
    assert no.value.code == "NOT_FOUND"


def test_the_skills_own_steps_stand_after_execute(of_bob, actor_of, bob):
    Step.objects.create(run=of_bob, attempt=1, seq=0, step_id="a", name="Fetch", error={"name": "E"})
    steps = run_document(of_bob, actor=actor_of(bob))["steps"]
    assert [step["seq"] for step in steps] == list(range(6))
    assert (steps[3]["name"], steps[3]["kind"], steps[3]["status"]) == ("Fetch", "skill", "failed")


@pytest.mark.row("C11")
def test_steps_have_an_id_and_a_start(of_bob, actor_of, bob):
    Step.objects.create(run=of_bob, attempt=1, seq=0, step_id="a", name="Fetch", timestamp=12.5)
    steps = run_document(of_bob, actor=actor_of(bob))["steps"]
    assert (steps[3]["step_id"], steps[3]["timestamp"]) == ("a", 12.5)
    assert steps[0]["timestamp"] > 1e12
    events = [event["data"] for event in events_since(of_bob.uid).events if event["event"] == "step"]
    assert {("a", 12.5)} < {(step["step_id"], step["timestamp"]) for step in events}


@pytest.mark.parametrize(("who", "code"), [("charlie", "NOT_FOUND"), ("bob", "FORBIDDEN")])
def test_who_may_not_read_a_run_may_not_cancel_it(queued, actor_of, request, who, code):
    with pytest.raises(Refusal) as no:
        cancel(queued, actor=actor_of(request.getfixturevalue(who)))
    assert no.value.code == code


def test_a_maintainer_who_cancels_is_in_the_audit_trail(hello, queue_run, bob, alice, actor_of):
    from registry.models import AuditEntry

    run = queue_run(hello, by=bob)
    assert cancel(run, actor=actor_of(alice))
    assert AuditEntry.objects.get(action="run.cancel").target == run.uid
    assert not cancel(run, actor=actor_of(alice))


def test_a_runs_history_survives_its_skill(of_bob, hello, actor_of, bob):
    hello.skill.latest = None
    hello.skill.save()
    hello.skill.delete()
    document = run_document(Run.objects.get(pk=of_bob.pk), actor=actor_of(bob))
    assert (document["skill"], document["version"], document["digest"]) == (
        "docs/hello",
        "1.0.0",
        hello.digest,
    )
