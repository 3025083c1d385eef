"""Asking for a run: who may, with what, within which limits; what is refused says where and why."""

from __future__ import annotations

import json

import pytest

from registry.models import Membership, Role, Team
from registry.packages.problems import LazyMessage, Refusal
from worker.core.opaque_ids import opaque_id
from worker.models import Run, RunStatus

pytestmark = pytest.mark.django_db

SCHEMA = """input_schema:
  type: object
  required: [who]
  properties:
    who: {type: string, maxLength: 5}
"""


def _refused(call, *args, **more):
    with pytest.raises(Refusal) as no:
        call(*args, **more)
    return no.value


@pytest.mark.row("P5", "P9")
def test_a_run_is_queued_and_a_worker_woken_on_commit(
    hello, queue_run, wake_calls, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        run = queue_run(hello)
        assert wake_calls == []
    assert (run.status, wake_calls) == (RunStatus.QUEUED, [1])
    assert (run.skill_label, run.version_number, run.digest) == ("docs/hello", "1.0.0", hello.digest)


@pytest.mark.row("P9")
def test_a_broker_that_is_down_loses_no_run(hello, alice, monkeypatch, caplog):
    from worker.celery import app
    from worker.queue import dispatch

    monkeypatch.setattr(app, "send_task", lambda *a, **k: (_ for _ in ()).throw(ConnectionError("no broker")))
    assert dispatch.wake() is False
    (record,) = caplog.records
    assert (record.levelname, "no broker" in record.message) == ("WARNING", True)
    assert not record.exc_info, "one line, without a traceback"


@pytest.mark.row("C5")
@pytest.mark.parametrize(
    ("inputs", "pointer"), [({"who": "too long"}, "/who"), ({"who": 1}, "/who"), ({}, "/who")]
)
def test_inputs_are_checked_before_queueing(publish_skill, queue_run, inputs, pointer):
    no = _refused(queue_run, publish_skill(front=SCHEMA), inputs)
    assert no.problems[0].path == pointer
    assert not Run.objects.exists()


@pytest.mark.row("A1")
def test_an_unknown_script_is_refused_before_queueing(hello, queue_run):
    no = _refused(queue_run, hello, script="nothing")
    assert no.code == "SCRIPT_NOT_FOUND"
    assert "hello" in no.problems[0].message()


@pytest.mark.row("P2")
def test_a_stranger_learns_nothing_by_asking(hello, queue_run, charlie):
    assert _refused(queue_run, hello, by=charlie).code in {"NOT_FOUND", "FORBIDDEN"}
    assert not Run.objects.exists()


@pytest.mark.row("P2")
def test_a_run_of_a_shared_skill_belongs_to_its_callers_team(publish_skill, queue_run, charlie, bob):
    version = publish_skill(visibility="site")
    assert queue_run(version, by=charlie).team.slug == "elsewhere"
    assert queue_run(version, by=bob).team.slug == "docs"


@pytest.mark.row("P2")
def test_nobody_runs_for_a_team_that_is_not_theirs(publish_skill, queue_run, charlie, team):
    no = _refused(queue_run, publish_skill(visibility="site"), by=charlie, team=team)
    assert (no.code, no.problems[0].path) == ("RUN_TEAM_INVALID", "team")


@pytest.mark.row("B4", "C6")
def test_the_smaller_limit_holds(publish_skill, queue_run, settings):
    front = "security:\n  timeout_ms: 2000\n  memory_mb: 4096\n"
    settings.SKILLQUAY_MAX_RUN_MEMORY_MB = 300
    limits = queue_run(publish_skill(front=front)).limits
    assert (limits["timeout_s"], limits["memory_mb"], limits["output_bytes"]) == (2.0, 300, 10_485_760)
    settings.SKILLQUAY_MAX_RUN_SECONDS, settings.SKILLQUAY_MAX_RUN_MEMORY_MB = 1, 8192
    limits = queue_run(publish_skill(front=front)).limits
    assert (limits["timeout_s"], limits["memory_mb"]) == (1, 4096)


@pytest.mark.row("B4")
def test_a_skill_that_says_nothing_gets_300_seconds(queued):
    assert queued.limits["timeout_s"] == 300


@pytest.mark.row("C6")
def test_a_network_allowlist_is_queued_as_every_other_run(publish_skill, queue_run):
    front = "security:\n  network: allowlist\n  network_allowlist: [example.org]\n"
    assert queue_run(publish_skill(front=front)).status == RunStatus.QUEUED


@pytest.mark.row("B1")
def test_the_context_holds_opaque_ids_of_the_team(hello, queue_run, alice, bob):
    first, again, other = queue_run(hello), queue_run(hello), queue_run(hello, by=bob)
    context = first.request["context"]
    assert context["user_id"] == again.request["context"]["user_id"] != other.request["context"]["user_id"]
    assert all(secret not in str(context) for secret in ("alice", alice.uid, alice.email or "@"))
    team = Team.objects.create(slug="second", name="Second")
    Membership.objects.create(team=team, user=alice, role=Role.MEMBER)
    assert queue_run(hello, team=team).request["context"]["user_id"] != context["user_id"]


@pytest.mark.row("C8", "C10")
def test_household_is_the_team_and_session_the_callers(hello, queue_run, team):
    run = queue_run(hello, context={"sessionId": "s-1"})
    context = run.request["context"]
    assert (run.session_id, context["sessionId"]) == ("s-1", "s-1")
    assert context["household_id"] == opaque_id("team", team, team.uid)
    own = queue_run(hello, context={"householdId": "h"}).request["context"]
    assert (own["householdId"], "household_id" in own) == ("h", False)


@pytest.mark.row("B1")
def test_a_run_is_found_by_its_request_id(hello, queue_run):
    given = queue_run(hello, context={"request_id": "order-7", "user_id": "root"})
    assert Run.objects.get(request_id="order-7") == given
    assert given.request["context"]["user_id"] != "root"
    assert len(queue_run(hello, context={"request_id": "x" * 65}).request_id) == 26


@pytest.mark.row("P5")
def test_one_idempotency_key_is_one_run_of_its_caller(hello, queue_run, bob):
    first = queue_run(hello, idempotency_key="k")
    assert queue_run(hello, {"who": "other"}, idempotency_key="k") == first
    assert queue_run(hello, idempotency_key="k", by=bob) != first


@pytest.mark.row("P5")
@pytest.mark.parametrize("value", ["a\x00b", "\ud800", float("nan"), json.loads("[" * 199 + "]" * 199)])
def test_what_cannot_be_stored_is_refused(hello, queue_run, value):
    (problem,) = _refused(queue_run, hello, {"who": value}).problems
    assert problem.code == "REQUEST_INVALID"
    reason = problem.params["reason"]
    assert isinstance(reason, LazyMessage)
    assert reason.params == {"levels": 200}


@pytest.mark.row("P5")
def test_inputs_larger_than_a_request_are_refused(hello, queue_run, settings):
    settings.SKILLQUAY_MAX_REQUEST_BYTES = 1024
    assert _refused(queue_run, hello, {"who": "x" * 1024}).code == "REQUEST_TOO_LARGE"
