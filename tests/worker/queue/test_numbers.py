"""Runs are numbered per skill."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from registry.models import Skill
from worker.models import Run, RunStatus
from worker.queue import states
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


def test_runs_are_numbered_per_skill(hello, publish_skill, queue_run):
    other = publish_skill("other")
    assert [queue_run(version).number for version in (hello, other, hello, hello)] == [1, 1, 2, 3]


def test_version_continues_the_numbers_of_its_skill(hello, publish_skill, queue_run):
    queue_run(hello)
    assert queue_run(publish_skill(number="1.1.0")).number == 2


def test_run_of_renamed_skill_keeps_number_and_label(hello, queue_run):
    first = queue_run(hello)
    Skill.objects.filter(pk=hello.skill_id).update(slug="renamed")
    hello.skill.refresh_from_db()
    second = queue_run(hello)
    first.refresh_from_db()
    assert (first.number, first.skill_label) == (1, "docs/hello")
    assert (second.number, second.skill_label) == (2, "docs/renamed")


def test_cached_answer_has_its_own_number(publish_skill, queue_run):
    version = publish_skill(front="cacheable: true\n")
    first = execute_here(queue_run(version))
    second = queue_run(version)
    assert (second.cached_from, first.number, second.number) == (first, 1, 2)


def test_run_that_waits_for_approval_keeps_its_number(hello, queue_run):
    run = queue_run(hello)
    Run.objects.filter(pk=run.pk).delete()
    run.pk = None
    states.enqueue_for_approval(run)
    assert (run.status, run.number) == (RunStatus.WAITING_APPROVAL, 2)
    states.release(run)
    run.refresh_from_db()
    assert (run.status, run.number) == (RunStatus.QUEUED, 2)


def test_refused_insert_uses_no_number(hello, queue_run):
    run = queue_run(hello, idempotency_key="a")
    run.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        states.enqueue(run)
    assert queue_run(hello).number == 2


def test_run_outlives_its_skill_with_its_number(hello, queue_run):
    run = queue_run(hello)
    hello.skill.delete()
    run.refresh_from_db()
    assert (run.skill, run.number) == (None, 1)
