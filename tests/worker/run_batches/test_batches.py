"""Run batches: selection, outcomes, crashes, cancelling and undo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.packages.problems import Refusal
from worker.models import Run, RunBatch, RunBatchAction
from worker.queue.claims import claim_next
from worker.run_batches import change, erase, steps
from worker.run_batches.loop import process_all
from worker.run_batches.selection import BatchRequest

pytestmark = [pytest.mark.row("P5"), pytest.mark.django_db]
ALL = {"skill": "docs/hello"}


@pytest.fixture
def start(alice):
    """``start(action, **filter)``: a batch of Alice, or of ``by``."""

    def make(action, version="", *, by=None, inputs=None, **given):
        request = BatchRequest(RunBatchAction(action), {**ALL, **given}, version, inputs or {})
        return change.create(request, by or Actor(user=alice))

    return make


@pytest.fixture
def ended(hello, queue_run):
    """``ended(3)``: ended runs of Alice."""

    def make(count, **more):
        runs = [queue_run(hello, {"who": str(number)}, **more) for number in range(count)]
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(
            status="failed", attempt=1, finished_at=timezone.now()
        )
        return runs

    return make


def outcomes(batch):
    rows = batch.items.order_by("pk").values_list("state", "problem")
    return [(state, problem["code"] if problem else "") for state, problem in rows]


def test_cancel_ends_active_runs_and_skips_the_others(start, hello, queue_run, ended, bob, actor_of):
    ended(1)
    own, other, late = queue_run(hello, by=bob), queue_run(hello), queue_run(hello, by=bob)
    batch = start("cancel", by=actor_of(bob))
    later = queue_run(hello, by=bob)
    Run.objects.filter(pk=late.pk).update(status="succeeded")
    process_all()
    assert outcomes(batch) == [
        ("done", ""),
        ("skipped", "RUN_BATCH_NOT_ALLOWED"),
        ("skipped", "RUN_BATCH_RUN_ENDED"),
    ]
    batch.refresh_from_db()
    assert (batch.state, batch.lease_until) == ("done", None)
    statuses = dict(Run.objects.values_list("pk", "status"))
    assert [statuses[run.pk] for run in (own, other, later)] == ["cancelled", "queued", "queued"]


def test_inputs_are_merged_into_those_of_each_run(start, ended):
    runs = ended(2)
    Run.objects.filter(pk=runs[1].pk).update(
        request={**runs[1].request, "inputs": {"who": "1", "size": {"x": 1, "y": 2}, "old": 1}}
    )
    batch = start("repeat", inputs={"size": {"y": 3, "z": None}, "old": None, "new": [1]})
    process_all()
    new = [item.new_run.request["inputs"] for item in batch.items.order_by("pk")]
    assert new == [
        {"who": "0", "size": {"y": 3}, "new": [1]},
        {"who": "1", "size": {"x": 1, "y": 3}, "new": [1]},
    ]
    (exported,) = erase.export_person(batch.user)["run_batches"]
    assert exported["inputs"] == batch.inputs


def test_repeat_uses_the_same_or_the_newest_version(start, ended, publish_skill):
    runs = ended(2)
    publish_skill(number="1.1.0")
    for choice, number in (("", "1.0.0"), ("newest", "1.1.0"), ("1.1.0", "1.1.0")):
        batch = start("repeat", choice, ids=",".join(run.uid for run in runs))
        process_all()
        new = [item.new_run for item in batch.items.order_by("pk")]
        assert [run.version_number for run in new] == [number] * 2
        assert [run.rerun_of_id for run in new] == [run.pk for run in runs]
        assert [run.request["inputs"]["who"] for run in new] == ["0", "1"]


def test_failed_and_skipped_runs_have_their_reason(start, ended, site_limit_of_one_run_per_day):
    kept, erased, removed = ended(3)
    Run.objects.filter(pk=erased.pk).update(erased_at=timezone.now())
    batch = start("repeat")
    Run.objects.filter(pk=removed.pk).delete()
    site_limit_of_one_run_per_day()
    process_all()
    assert outcomes(batch) == [
        ("failed", "TEAM_RUNS_EXCEEDED"),
        ("skipped", "RUN_ERASED"),
        ("skipped", "RUN_BATCH_RUN_REMOVED"),
    ]
    assert batch.items.get(run=kept).new_run is None


@pytest.fixture
def site_limit_of_one_run_per_day(team):
    from worker.models import TeamLimits

    return lambda: TeamLimits.objects.create(team=team, runs_per_day=1)


def test_killed_step_repeats_no_run_twice(start, ended, monkeypatch):
    ended(3)
    batch = start("repeat")

    class Killed(BaseException):
        pass

    def die(item, outcome):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(steps, "_record", die)  # after the run was created, before its item was saved
        with pytest.raises(Killed):
            process_all()
    assert Run.objects.filter(rerun_of__isnull=False).count() == 1
    process_all()
    assert Run.objects.filter(rerun_of__isnull=False).count() == 1  # the dead process still has the lease
    RunBatch.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    process_all()
    assert outcomes(batch) == [("done", "")] * 3
    assert Run.objects.filter(rerun_of__isnull=False).count() == 3


def test_batch_that_crashes_again_and_again_is_stopped(start, ended):
    ended(1)
    batch = start("repeat")
    RunBatch.objects.update(attempt=3, lease_until=timezone.now() - timedelta(seconds=1), state="running")
    process_all()
    batch.refresh_from_db()
    assert (batch.state, batch.problem["code"]) == ("cancelled", "RUN_BATCH_ABANDONED")
    assert outcomes(batch) == [("skipped", "RUN_BATCH_STOPPED")]


def test_large_batch_takes_several_steps_and_stops_when_cancelled(start, ended, monkeypatch, alice):
    monkeypatch.setattr(steps, "STEP", 2)
    ended(5)
    batch = start("repeat")
    assert steps.process_next(timezone.now())
    assert [state for state, _code in outcomes(batch)] == ["done"] * 2 + ["pending"] * 3
    change.cancel(batch, Actor(user=alice))
    assert not steps.process_next(timezone.now())
    assert outcomes(batch)[2:] == [("skipped", "RUN_BATCH_STOPPED")] * 3
    with pytest.raises(Refusal) as refused:
        change.cancel(batch, Actor(user=alice))
    assert refused.value.code == "RUN_BATCH_ENDED"
    batch.refresh_from_db()
    assert batch.attempt == 0  # a step that ends well counts as no attempt


def test_cancelled_batch_stops_within_its_step(start, ended, monkeypatch, alice):
    ended(3)
    batch, record = start("repeat"), steps._record

    def cancel_after_first(item, outcome):
        record(item, outcome)
        change.cancel(batch, Actor(user=alice))

    monkeypatch.setattr(steps, "_record", cancel_after_first)
    process_all()
    assert [state for state, _code in outcomes(batch)] == ["done", "skipped", "skipped"]
    batch.refresh_from_db()
    assert batch.state == "cancelled"


def test_undo_cancels_the_new_runs_that_have_not_started(start, ended, alice, monkeypatch):
    ended(3)
    batch = start("repeat")
    process_all()
    claim_next("host:1")
    assert change.cancel(batch, Actor(user=alice), undo=True) == 2
    new = [item.new_run.status for item in batch.items.order_by("pk")]
    assert sorted(new) == ["cancelled", "cancelled", "running"]
    cancelling = start("cancel", status=["running"])
    with pytest.raises(Refusal) as refused:
        change.cancel(cancelling, Actor(user=alice), undo=True)
    assert refused.value.code == "RUN_BATCH_NO_UNDO"


def test_run_that_is_queued_during_the_undo_is_cancelled_too(start, ended, alice, monkeypatch):
    ended(1)
    batch, repeat = start("repeat"), steps.repeat_run

    def undo_meanwhile(*args, **more):
        run = repeat(*args, **more)
        change.cancel(batch, Actor(user=alice), undo=True)
        return run

    monkeypatch.setattr(steps, "repeat_run", undo_meanwhile)
    process_all()
    assert Run.objects.get(rerun_of__isnull=False).status == "cancelled"


def test_batch_of_a_deactivated_user_stops(start, ended, alice):
    ended(1)
    batch = start("repeat")
    alice.is_active = False
    alice.save()
    process_all()
    batch.refresh_from_db()
    assert (batch.state, batch.problem["code"]) == ("cancelled", "RUN_BATCH_USER_GONE")


def test_runs_repeated_for_a_token_wait_for_approval(hello, ended, alice, start, publish_skill):
    from registry.models import Token

    publish_skill(number="1.1.0", front="allowed-tools: Bash\n")
    ended(1)
    token = Token.objects.create(
        owner=alice, name="agent", secret_hash="x", scopes=["run"], expires_at=timezone.now() + timedelta(1)
    )
    actor = Actor(user=alice, token=token, scopes=frozenset({"run"}))
    start("repeat", "newest", by=actor)
    process_all()
    new = Run.objects.get(rerun_of__isnull=False)
    assert (new.status, new.token_name) == ("waiting_approval", "agent")


def test_child_runs_of_a_matching_run_are_left_out(start, ended):
    parent, child = ended(2)
    Run.objects.filter(pk=child.pk).update(parent=parent, root=parent, depth=1)
    assert start("repeat").items.get().run == parent
    assert start("repeat", ids=child.uid).items.get().run == child


def test_old_batches_and_those_of_an_erased_person_are_deleted(start, ended, alice):
    ended(1)
    batch = start("repeat")
    process_all()
    erase.sweep()
    assert [row["id"] for row in erase.export_person(alice)["run_batches"]] == [batch.uid]
    RunBatch.objects.update(finished_at=timezone.now() - erase.KEEP_BATCHES - timedelta(seconds=1))
    erase.sweep()
    assert not RunBatch.objects.exists()
    start("repeat", status=["failed"])
    erase.erase_person(alice)
    assert not RunBatch.objects.exists()
