"""Every change of a run's state has one winner, and a worker that lost its lease changes nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.checks import not_none
from worker.models import Attempt, LogChunk, Run, RunStatus
from worker.queue import claims, retries, states
from worker.queue.states import Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P9")]


def _nothing():
    pass


def _lapse(run):
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    return retries.expire_leases(timezone.now())


def test_the_oldest_runnable_run_is_claimed_first(hello, queue_run):
    first, second = queue_run(hello), queue_run(hello)
    assert [not_none(claims.claim_next("w")).uid for _ in range(2)] == [first.uid, second.uid]
    assert claims.claim_next("w") is None


def test_a_run_waits_for_its_time(queued):
    Run.objects.update(run_after=timezone.now() + timedelta(hours=1))
    assert claims.claim_next("w") is None


def test_a_claim_carries_what_the_worker_needs(queued):
    claim = not_none(claims.claim_next("w"))
    assert (claim.attempt, claim.digest, claim.request["inputs"]) == (
        1,
        queued.digest,
        {},
    )
    attempt = Attempt.objects.get(run=queued)
    assert (attempt.number, attempt.worker, attempt.status) == (1, "w", RunStatus.RUNNING)


def test_a_named_run_is_claimed_before_older_ones(hello, queue_run):
    queue_run(hello)
    second = queue_run(hello)
    assert not_none(claims.claim_next("w", run_id=second.pk)).uid == second.uid


def test_a_finish_ends_run_and_attempt_together(queued):
    claim = not_none(claims.claim_next("w"))
    assert states.finish(claim, Verdict(RunStatus.FAILED, "INVALID_PARAM", "no"), write=_nothing)
    queued.refresh_from_db()
    assert (queued.status, queued.failure_code, queued.claim_token) == (RunStatus.FAILED, "INVALID_PARAM", "")
    assert queued.attempts.get().status == RunStatus.FAILED


def test_a_finish_that_cannot_write_ends_nothing(queued):
    claim = not_none(claims.claim_next("w"))

    def broken():
        raise RuntimeError

    with pytest.raises(RuntimeError):
        states.finish(claim, Verdict(RunStatus.SUCCEEDED), write=broken)
    queued.refresh_from_db()
    assert queued.status == RunStatus.RUNNING


def test_a_worker_that_lost_its_lease_writes_nothing(queued):
    claim = not_none(claims.claim_next("w"))
    _lapse(queued)
    assert not claims.renew(claim)
    assert not claims.heartbeat(claim).held
    written = []
    assert not states.finish(claim, Verdict(RunStatus.SUCCEEDED), write=lambda: written.append(1))
    queued.refresh_from_db()
    assert (queued.status, written) == (RunStatus.LOST, [])


def test_worker_that_lost_its_lease_ends_no_later_attempt(publish_skill, queue_run):
    run = queue_run(publish_skill(front="retry_on_lost: true\n"))
    lost = not_none(claims.claim_next("w"))
    _lapse(run)
    holder = not_none(claims.claim_next("other"))
    assert not states.finish(lost, Verdict(RunStatus.SUCCEEDED), write=_nothing)
    assert states.finish(holder, Verdict(RunStatus.FAILED), write=_nothing)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED


def test_a_renewed_lease_does_not_lapse(queued):
    claim = not_none(claims.claim_next("w"))
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert claims.renew(claim)
    assert retries.expire_leases(timezone.now()) == []


def test_a_lost_run_is_lost_unless_its_skill_may_be_repeated(claimed):
    assert _lapse(claimed) == [claimed.uid]
    claimed.refresh_from_db()
    assert (claimed.status, claimed.failure_code) == (RunStatus.LOST, "WORKER_LOST")
    assert claimed.attempts.get().failure_code == "WORKER_LOST"


def test_a_repeatable_run_is_queued_again_until_its_attempts_are_used_up(publish_skill, queue_run, settings):
    settings.SKILLQUAY_MAX_RUN_ATTEMPTS = 2
    run = queue_run(publish_skill(front="retry_on_lost: true\n"))
    for expected in (RunStatus.QUEUED, RunStatus.LOST):
        claims.claim_next("w")
        _lapse(run)
        run.refresh_from_db()
        assert run.status == expected
    assert list(run.attempts.values_list("number", flat=True).order_by("number")) == [1, 2]


def test_the_log_of_a_lost_attempt_stays(publish_skill, queue_run):
    run = queue_run(publish_skill(front="retry_on_lost: true\n"))
    claims.claim_next("w")
    LogChunk.objects.create(run=run, attempt=1, seq=0, stream="stdout", offset=0, data=b"before")
    _lapse(run)
    claims.claim_next("w")
    run.refresh_from_db()
    assert run.attempt == 2
    assert bytes(run.log_chunks.get(attempt=1).data) == b"before"


def test_lapsing_twice_takes_a_run_back_once(claimed):
    assert _lapse(claimed)
    assert retries.expire_leases(timezone.now()) == []


# Cancel, in every state -----------------------------------------------------------------------------------
@pytest.mark.parametrize("status", [RunStatus.QUEUED, RunStatus.WAITING_APPROVAL])
def test_a_waiting_run_is_cancelled_at_once(queued, status):
    Run.objects.update(status=status)
    assert states.cancel(queued.pk)
    queued.refresh_from_db()
    assert (queued.status, queued.failure_code) == (RunStatus.CANCELLED, "CANCELLED")
    assert claims.claim_next("w") is None


def test_a_running_run_is_asked_to_stop(queued):
    claim = not_none(claims.claim_next("w"))
    assert states.cancel(queued.pk)
    assert states.cancel(queued.pk)
    assert claims.heartbeat(claim) == claims.Heartbeat(held=True, cancel=True)
    queued.refresh_from_db()
    assert queued.status == RunStatus.RUNNING


@pytest.mark.parametrize("status", states.ENDED)
def test_a_run_that_has_ended_stays_as_it_is(queued, status):
    Run.objects.update(status=status)
    assert not states.cancel(queued.pk)
    queued.refresh_from_db()
    assert queued.status == status


def test_a_cancelled_run_whose_worker_dies_is_cancelled_not_repeated(publish_skill, queue_run):
    run = queue_run(publish_skill(front="retry_on_lost: true\n"))
    claims.claim_next("w")
    states.cancel(run.pk)
    _lapse(run)
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED
