"""Events of runs, approvals, schedules and reviews, and whose inbox they reach."""

from __future__ import annotations

import pytest
from django.utils import timezone

from registry.core.hooks import report_filed, version_held
from registry.models import Membership, Report
from tests.factories.runs import make_run
from worker.delivery import erase, expand, inbox, record
from worker.models import Approval, FailureStreak, Notification, NotificationEvent
from worker.queue.claims import claim_next

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6", "P2")]


def kinds(user, actor_of):
    rows = inbox.notifications(actor_of(user)).order_by("pk")
    return [row.event.kind for row in rows]


def test_first_failure_and_recovery_reach_the_caller_only(end_run, alice, bob, charlie, actor_of):
    for status in ("succeeded", "failed", "failed", "succeeded", "succeeded", "timed_out"):
        end_run(status, by=bob)
    assert kinds(bob, actor_of) == ["first_failure", "recovered", "first_failure"]
    assert kinds(alice, actor_of) == kinds(charlie, actor_of) == []
    kept = NotificationEvent.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kept) == ["first_failure", "run_failed", "recovered", "first_failure"]


def test_runs_lost_with_their_worker_begin_a_streak_like_failed_ones(
    end_run, lose_run, bob, actor_of, publish_skill
):
    """A requeued run and a cancelled one are not failures, however often their workers were lost."""
    lose_run(by=bob)
    lose_run(by=bob)
    end_run("succeeded", by=bob)
    lose_run(by=bob, cancelled=True)
    lose_run(by=bob)
    assert kinds(bob, actor_of) == ["first_failure", "recovered", "first_failure"]
    kept = NotificationEvent.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kept) == ["first_failure", "run_failed", "recovered", "first_failure"]
    lose_run(publish_skill(slug="again", front="retry_on_lost: true\n"), by=bob)
    assert NotificationEvent.objects.count() == 4


def test_recovery_before_the_failure_is_distributed_is_found(end_run, bob, actor_of):
    end_run("failed", by=bob, expanded=False)
    end_run("succeeded", by=bob, expanded=False)
    assert expand.expand_pending() == 2
    assert kinds(bob, actor_of) == ["first_failure", "recovered"]
    assert not FailureStreak.objects.exists()


def test_success_without_a_failure_writes_nothing(end_run, bob, django_assert_num_queries, hello, queue_run):
    end_run("succeeded", by=bob)
    assert not NotificationEvent.objects.exists()
    run = queue_run(hello, by=bob, no_cache=True)
    claim = claim_next("host:1", run_id=run.pk)
    with django_assert_num_queries(1):
        record.run_ended(claim, run.pk, "succeeded", timezone.now())
    with django_assert_num_queries(1):
        record.run_ended(claim, run.pk, "failed", timezone.now())


def test_inactive_user_gets_nothing(end_run, bob, actor_of):
    end_run("failed", by=bob)
    bob.is_active = False
    bob.save()
    end_run("succeeded", by=bob)
    assert Notification.objects.filter(user=bob).count() == 1


def test_approval_reaches_those_who_can_decide(hello, alice, bob, team, actor_of):
    run = make_run(hello, bob, team, status="waiting_approval", started_at=None, finished_at=None)
    record.approval_requested(run)  # without an approval, it is visible to nobody
    Approval.objects.create(run=make_run(hello, bob, team), expires_at=timezone.now())
    record.approval_requested(Approval.objects.get().run)
    expand.expand_pending()
    assert kinds(alice, actor_of) == ["approval_waiting"]
    assert kinds(bob, actor_of) == []


def test_review_matters_reach_reviewers_until_they_leave(hello, alice, bob, charlie, actor_of):
    version_held.send(hello)
    report_filed.send(Report(version=hello, reason="broken", by=bob))
    expand.expand_pending()
    assert kinds(alice, actor_of) == ["version_held", "report_filed"]
    assert kinds(bob, actor_of) == kinds(charlie, actor_of) == []
    Membership.objects.filter(user=alice).delete()
    assert kinds(alice, actor_of) == []
    assert inbox.unread_count(actor_of(alice)) == inbox.mark_read(actor_of(alice)) == 0


def test_second_distribution_adds_nothing(end_run, bob):
    end_run("failed", by=bob)
    NotificationEvent.objects.update(expanded_at=None)
    FailureStreak.objects.all().delete()
    expand.expand_pending()
    assert Notification.objects.count() == 1


def test_broken_event_does_not_hold_up_later_ones(end_run, bob, monkeypatch, caplog):
    def broken(event):
        monkeypatch.undo()
        raise ValueError("broken")

    end_run("failed", by=bob, expanded=False)
    monkeypatch.setattr(expand, "_update_streak", broken)
    end_run("failed", by=bob, expanded=False)
    assert expand.expand_pending() == 2
    assert "could not be distributed" in caplog.text
    assert Notification.objects.count() == 1


def test_old_events_are_deleted(end_run, bob):
    end_run("failed", by=bob)
    NotificationEvent.objects.update(at=timezone.now() - erase.KEEP * 2)
    erase.sweep()
    assert not Notification.objects.exists()
