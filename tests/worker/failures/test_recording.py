"""Failed runs are counted in their group once, by the transaction that ends them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.models import Event, EventMatch
from tests.checks import not_none
from worker.failures import recount
from worker.failures.changes import resolve
from worker.models import ErrorGroup, FailureCount, Run, RunStatus
from worker.queue import claims, retries, states
from worker.queue.states import Verdict
from worker.retention.erase import erase_person, erase_run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P6")]


def test_failures_with_the_same_cause_form_one_group(fail, hello, publish_skill, alice):
    first, last = fail("no row 12 in 'a'"), fail("no row 7 in 'b'")
    other = fail("no column")
    newer = fail("no row 1 in 'c'", version=publish_skill(number="1.1.0"))
    assert first.error_key == last.error_key == newer.error_key != other.error_key
    group = ErrorGroup.objects.get(key=first.error_key)
    assert (group.skill, group.type, group.message) == (hello.skill, "ValueError", "no row <n> in <value>")
    assert (group.count, group.first_seen, group.last_seen) == (3, first.finished_at, newer.finished_at)
    counts = group.counts.order_by("version_number").values_list("version_number", "caller_key", "count")
    assert list(counts) == [("1.0.0", alice.pk, 2), ("1.1.0", alice.pk, 1)]


def test_failed_run_takes_two_more_statements(fail):
    def statements():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            fail()
        return [q["sql"] for q in queries if "errorgroup" in q["sql"] or "failurecount" in q["sql"]]

    fail()
    assert len(statements()) == 2


def test_worker_that_lost_its_run_counts_nothing(queued):
    claim = not_none(claims.claim_next("w"))
    Run.objects.filter(pk=queued.pk).update(claim_token="another")
    assert not states.finish(claim, Verdict(RunStatus.FAILED, "SCRIPT_FAILED"), write=lambda: None)
    assert not ErrorGroup.objects.exists()


def test_failure_is_counted_only_if_the_run_ends(queued):
    claim = not_none(claims.claim_next("w"))

    def interrupt():
        raise OSError

    with pytest.raises(OSError):
        states.finish(claim, Verdict(RunStatus.FAILED, "SCRIPT_FAILED"), write=interrupt)
    assert not ErrorGroup.objects.exists()
    for _ in range(2):  # the second time, the claim is over
        states.finish(claim, Verdict(RunStatus.FAILED, "SCRIPT_FAILED"), write=lambda: None)
    assert ErrorGroup.objects.get().count == 1


def test_lost_run_is_counted_once(queued):
    not_none(claims.claim_next("w"))
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    for _ in range(2):
        retries.expire_leases(timezone.now())
    queued.refresh_from_db()
    group = ErrorGroup.objects.get()
    assert (group.key, group.failure_code, group.count) == (queued.error_key, "WORKER_LOST", 1)


@pytest.mark.parametrize("status", [RunStatus.SUCCEEDED, RunStatus.CANCELLED, RunStatus.REFUSED])
def test_run_that_did_not_fail_is_in_no_group(fail, status):
    assert fail(status=status).error_key == ""
    assert not ErrorGroup.objects.exists()


def test_run_of_a_case_is_in_no_group(fail):
    assert fail(case_name="empty file").error_key == ""


def test_failure_of_the_resolved_version_regresses_the_group(fail, publish_skill, actor_of, alice):
    fail()
    group = ErrorGroup.objects.select_related("skill__team").get()
    resolve(group, "1.1.0", actor_of(alice))
    fail()
    group.refresh_from_db()
    assert (group.state, group.count) == ("resolved", 2)
    newer = publish_skill(number="1.2.0")
    fail(version=newer)
    fail(version=newer)
    group.refresh_from_db()
    assert (group.state, group.resolved_in) == ("regressed", "1.1.0")
    assert [event.type for event in Event.objects.order_by("pk")] == [
        "error_group.created",
        "error_group.regressed",
    ]


def test_event_has_no_content_and_proposes_the_teams_skills(fail, publish_skill, team):
    front = "triggers:\n  event_types: [error_group.created]\n"
    triage = publish_skill("triage", front=front)
    fail("Kestrel")
    event = Event.objects.get()
    assert (event.team, event.payload["skill"], event.payload["failure_code"]) == (
        team,
        "docs/hello",
        "SCRIPT_FAILED",
    )
    assert "Kestrel" not in str(event.payload)
    match = EventMatch.objects.get()
    assert (match.skill, match.outcome, match.run_uid) == (triage.skill, "proposed", "")


def test_new_groups_above_the_rate_send_no_events(fail, settings):
    settings.SKILLQUAY_EVENTS_PER_MINUTE = 2
    for cause in ("a", "b", "c"):
        fail(cause)
    assert (ErrorGroup.objects.count(), Event.objects.count()) == (3, 2)


def test_erased_run_leaves_its_group(fail, actor_of, alice):
    first, last = fail(), fail()
    only = fail("only once")
    for run in (only, last):
        erase_run(run, actor=actor_of(alice))
    group = ErrorGroup.objects.get()
    assert (group.key, group.count, group.last_seen) == (first.error_key, 1, first.finished_at)
    assert FailureCount.objects.get().count == 1


def test_erased_person_leaves_groups(fail, actor_of, alice):
    fail()
    ErrorGroup.objects.update(assigned_to=alice, resolved_by=alice)
    erase_person(alice)
    assert not ErrorGroup.objects.exists()


def test_sweep_deletes_groups_of_deleted_runs(fail):
    kept, deleted = fail(), fail("gone")
    Run.objects.filter(pk=deleted.pk).delete()
    recount.sweep()
    assert ErrorGroup.objects.get().key == kept.error_key


def test_earlier_runs_are_grouped_once_and_without_events(fail):
    runs = [fail("no row 1"), fail("no row 2"), fail("other")]
    keys = [run.error_key for run in runs]
    ErrorGroup.objects.all().delete()
    Event.objects.all().delete()
    Run.objects.update(error_key="")
    assert sum(recount.group_earlier_runs()) == 3
    assert sum(recount.group_earlier_runs()) == 0
    assert list(Run.objects.order_by("pk").values_list("error_key", flat=True)) == keys
    assert sorted(ErrorGroup.objects.values_list("count", flat=True)) == [1, 2]
    assert not Event.objects.exists()
