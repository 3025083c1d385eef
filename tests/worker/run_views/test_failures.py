"""Runs around a failed one."""

from __future__ import annotations

import pytest

from tests.factories.runs import make_run
from worker.failures.groups import find_group
from worker.failures.recount import group_earlier_runs
from worker.models import ErrorGroup
from worker.run_views import failures
from worker.run_views.failures import SimilarFailures, first_failure_since_success, last_success

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P6")]


@pytest.fixture
def run_of(hello, alice):
    """``run_of(type, by=…)``: a failed run of ``docs/hello``; without a type a succeeded one."""

    def make(name=None, *, by=alice, message="no", version=hello, **fields):
        cause = {"type": name, "message": message, "file": "", "line": None}
        failed = {"status": "failed", "failure_code": "SCRIPT_FAILED", "cause": cause}
        team = version.skill.team if by == alice else None
        return make_run(version, by, team, **({} if name is None else failed | fields))

    return make


def uids(found):
    return [each.uid for each in found]


def similar_to(run, actor):
    """The similar failures of the run, after all runs were added to their groups."""
    sum(group_earlier_runs())
    run.refresh_from_db()
    return failures.similar_failures(run, actor)


def test_failures_of_the_same_group_are_similar(run_of, actor_of, alice):
    first, run, last = (run_of("ValueError", message=f"row {n}") for n in range(3))
    run_of("ValueError", message="no column")
    for name in ("KeyError", "", None):
        run_of(name)
    run_of("ValueError", message="row 9", failure_code="OUTPUT_INVALID")
    actor = actor_of(alice)
    similar = similar_to(run, actor)
    assert (uids(similar.runs), similar.count) == ([last.uid, first.uid], 2)
    assert (similar.runs[1].number, similar.runs[1].version, similar.runs[1].status) == (1, "1.0.0", "failed")
    group = ErrorGroup.objects.get(key=run.error_key)
    assert find_group(group.uid, actor).count == similar.count + 1


def test_five_of_many_similar_failures_are_shown(run_of, actor_of, alice):
    runs = [run_of("ValueError") for _ in range(8)]
    similar = similar_to(runs[0], actor_of(alice))
    assert uids(similar.runs) == [run.uid for run in runs[:2:-1]]
    assert similar.count == 7


def test_similar_failures_count_only_visible_runs(publish_skill, run_of, actor_of, alice, charlie):
    version = publish_skill("open", visibility="site")
    own = run_of("ValueError", version=version)
    other = run_of("ValueError", by=charlie, version=version)
    assert similar_to(own, actor_of(alice)).count == 1  # the skill's team sees all its runs
    assert similar_to(own, actor_of(charlie)) == SimilarFailures()
    assert similar_to(other, actor_of(charlie)) == SimilarFailures()


def test_last_success_comes_before_the_run(run_of, actor_of, alice, publish_skill):
    run_of()
    success, first, run = run_of(), run_of("KeyError"), run_of("ValueError")
    run_of()
    run_of(version=publish_skill("other"))
    found = last_success(run, actor_of(alice))
    assert found is not None
    assert (found.uid, found.number, found.version) == (success.uid, 2, "1.0.0")
    since = first_failure_since_success(run, actor_of(alice))
    assert since is not None
    assert (since.uid, since.number) == (first.uid, 3)


def test_first_failure_can_be_the_run_itself(run_of, actor_of, alice):
    run = run_of("ValueError")
    since = first_failure_since_success(run, actor_of(alice))
    assert since is not None
    assert since.uid == run.uid
    assert last_success(run, actor_of(alice)) is None


def test_succeeded_run_has_no_failures_around_it(run_of, actor_of, alice):
    run_of("ValueError")
    run = run_of()
    assert similar_to(run, actor_of(alice)) == SimilarFailures()
    assert first_failure_since_success(run, actor_of(alice)) is None


def test_stranger_sees_no_runs_around_it(run_of, actor_of, alice, charlie):
    run_of()
    run = run_of("ValueError")
    assert last_success(run, actor_of(charlie)) is None
    assert similar_to(run, actor_of(charlie)) == SimilarFailures()


def test_run_of_a_deleted_skill_stands_alone(run_of, actor_of, alice):
    run = run_of("ValueError")
    run.skill.delete()
    run.refresh_from_db()
    assert last_success(run, actor_of(alice)) is None
    assert first_failure_since_success(run, actor_of(alice)) is None
