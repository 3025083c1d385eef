from __future__ import annotations

import os
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from registry.core.leases import claim
from registry.identity.actors import Actor
from registry.models import AuditEntry, Team
from registry.packages.problems import Refusal
from registry.storage import blobs
from tests.factories.runs import add_artifact, add_log
from worker.daily_runs.roll_up import roll_up
from worker.failures.recount import recount
from worker.models import (
    Artifact,
    ErrorGroup,
    FailureCount,
    LogChunk,
    Memory,
    RetentionPass,
    Run,
    ShareLink,
)
from worker.queue.states import ENDED
from worker.retention import remove
from worker.retention.policies import effective_policy, policy_of, set_policy
from worker.retention.preview import preview
from worker.run_views.statistics import runs_by_version, skill_statistics

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


@pytest.fixture
def other_team():
    return Team.objects.create(slug="other", name="Other")


@pytest.fixture
def site_policy(root):
    def save(**values):
        set_policy(None, values, root)

    return save


def do_pass():
    RetentionPass.objects.update(due_at=timezone.now())
    return remove.run_pass()


def left():
    return set(Run.objects.values_list("pk", flat=True))


def test_runs_go_by_outcome_and_age(past_run, site_policy):
    site_policy(succeeded_days=10, failed_days=30)
    for days in (5, 15, 40):
        for status in ("succeeded", "failed", "cancelled"):
            past_run(days, status=status)
    assert do_pass()
    kept = Run.objects.order_by("pk").values_list("status", flat=True)
    assert [list(kept).count(status) for status in ("succeeded", "failed", "cancelled")] == [1, 2, 3]
    assert AuditEntry.objects.get(action="run.retention").detail["runs"] == 3


def test_newest_runs_of_each_skill_and_team_stay(past_run, site_policy, publish_skill, other_team, team):
    other = publish_skill("other")
    runs = [past_run(40) for _ in range(4)]
    others = [past_run(40, version=other) for _ in range(2)]
    foreign = [past_run(40, team=other_team) for _ in range(3)]
    child = past_run(40, parent=foreign[2], root=foreign[2])
    site_policy(succeeded_days=10, keep_last=2)
    do_pass()
    assert left() == {run.pk for run in [*runs[2:], *others, *foreign[1:], child]}


def test_value_out_of_range_is_refused(site_policy):
    with pytest.raises(Refusal) as error:
        site_policy(keep_last=0)
    assert (error.value.code, error.value.problems[0].path) == ("RETENTION_INVALID", "keep_last")


def test_team_removes_earlier_than_the_site_but_never_later(past_run, site_policy, team, alice, other_team):
    site_policy(succeeded_days=30, keep_last=2)
    owner = Actor(user=alice)
    with pytest.raises(Refusal) as error:
        set_policy(team, {"succeeded_days": 31}, owner)
    assert (error.value.code, error.value.problems[0].path) == ("RETENTION_ABOVE_SITE", "succeeded_days")
    set_policy(team, {"succeeded_days": 7, "keep_last": 1}, owner)
    site_policy(succeeded_days=5)  # holds for the team, too
    assert effective_policy(policy_of(None), policy_of(team)).succeeded_days == 5
    own, foreign = [past_run(6) for _ in range(3)], [past_run(6, team=other_team) for _ in range(3)]
    do_pass()
    assert left() == {run.pk for run in (*own[1:], *foreign[1:])}  # of 6 days: only the site's policy
    Run.objects.update(finished_at=timezone.now() - timedelta(days=8))
    do_pass()
    assert left() == {own[2].pk, *(run.pk for run in foreign[1:])}


def test_artifacts_and_logs_go_before_the_row(past_run, site_policy):
    site_policy(artifact_days=10, log_days=20)
    old, older = past_run(15), past_run(25)
    for run in (old, older):
        add_artifact(run, "out.txt", b"content " + run.uid.encode())
        add_log(run, ("stdout", "done\n"))
    do_pass()
    assert not Artifact.objects.exists()
    assert set(LogChunk.objects.values_list("run", flat=True)) == {old.pk}
    old.refresh_from_db()
    older.refresh_from_db()
    assert (bool(old.artifacts_removed_at), bool(old.log_removed_at)) == (True, False)
    assert (older.log_bytes, bool(older.log_removed_at)) == (0, True)
    assert blobs.sweep(grace=timedelta(0)).blobs == 2


def test_oldest_artifacts_go_when_the_team_has_too_many(past_run, site_policy):
    runs = [past_run(1) for _ in range(3)]
    for run in runs:
        add_artifact(run, "a.txt", b"x" * 60)
    site_policy(artifact_bytes=120)
    do_pass()
    assert set(Artifact.objects.values_list("run", flat=True)) == {run.pk for run in runs[1:]}
    assert left() == {run.pk for run in runs}


def test_counts_stay_when_runs_go(past_run, site_policy, hello, publish_skill, alice, bob, other_team):
    second = publish_skill(number="2.0.0", script="print(1)")
    for number in range(12):
        at = {"version": (hello, second)[number % 2], "by": (alice, bob)[number % 3 == 0]}
        status, code = (("succeeded", ""), ("failed", "OOPS"), ("timed_out", "TIMEOUT"))[number % 3]
        run = past_run(number * 4, **at, status=status, failure_code=code, is_counted=number == 99)
        seconds = timedelta(seconds=number + 0.123456)
        Run.objects.filter(pk=run.pk).update(finished_at=run.started_at + seconds)
    viewers = [Actor(user=alice), Actor(user=bob)]

    def figures():
        return [
            (skill_statistics(hello.skill, viewer), runs_by_version(hello.skill, viewer))
            for viewer in viewers
        ]

    before = figures()
    assert sum(version.counts.runs for version in before[0][0].versions) == 12
    assert (roll_up(5), roll_up(), roll_up()) == (5, 7, 0)
    assert figures() == before
    site_policy(succeeded_days=1, failed_days=1)
    do_pass()
    assert Run.objects.count() < 3
    assert figures() == before


def test_error_group_keeps_counts_and_newest_sample(past_run, site_policy, hello, team, alice):
    group = ErrorGroup.objects.create(
        key="k", skill=hello.skill, failure_code="OOPS", count=3,
        first_seen=timezone.now(), last_seen=timezone.now(),
    )  # fmt: skip
    FailureCount.objects.create(
        group=group, version_number=hello.number, team_key=team.pk, caller_key=alice.pk, count=3,
        first_seen=group.first_seen, last_seen=group.last_seen,
    )  # fmt: skip
    runs = [past_run(40, status="failed", failure_code="OOPS", error_key="k") for _ in range(3)]
    site_policy(failed_days=10)
    do_pass()
    assert left() == {runs[2].pk}
    recount(["k"])  # as an erasure does
    group.refresh_from_db()
    assert (group.count, group.counts.get().removed) == (3, 2)


def test_interrupted_pass_continues_and_a_lost_lease_writes_nothing(past_run, site_policy, monkeypatch):
    monkeypatch.setattr(remove, "BATCH", 2)
    runs = [past_run(40) for _ in range(6)]
    site_policy(succeeded_days=10)
    assert remove.run_pass(wait=lambda seconds: True) is False  # stopped after the first batch
    assert left() == {run.pk for run in runs[2:]}
    assert RetentionPass.objects.get().cursor == runs[1].pk

    def steal(seconds):
        RetentionPass.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert claim(RetentionPass.objects.all(), timezone.now())
        return False

    assert remove.run_pass(wait=steal) is False  # the thief was killed: nobody else writes meanwhile
    assert len(left()) == 2
    RetentionPass.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert do_pass()
    assert (left(), RetentionPass.objects.get().runs) == (set(), 6)


@pytest.mark.parametrize("link", ["pinned", "cached_from", "memory", "answer", "error", "uncounted"])
def test_each_kind_of_reference_keeps_a_run(link, past_run, alice, site_policy):
    row = {"age": 30, "status": "succeeded", "link": link, "other": 0}
    first = _make(row | {"link": "" if link == "cached_from" else link}, past_run, alice)
    second = _make(row | {"link": ""}, past_run, alice)
    _link(second if link == "cached_from" else first, row, [first, second], alice)
    site_policy(succeeded_days=5)
    do_pass()
    assert left() == {first.pk}


def test_active_share_link_keeps_a_run_until_it_ends(past_run, alice, site_policy):
    shared = past_run(30)
    change_link = ShareLink.objects.filter(run=shared).update
    now = timezone.now()
    ShareLink.objects.create(run=shared, created_by=alice, created_at=now, expires_at=now + timedelta(days=1))
    site_policy(succeeded_days=5)
    do_pass()
    assert left() == {shared.pk}
    change_link(expires_at=now)
    do_pass()
    assert left() == set()


_ENDED = ("succeeded",) * 5 + ("failed", "cancelled")
_LINKS = ("cached_from", "parent", "memory", "answer", "error", "pinned", "uncounted", "unfinished")
_EVENTS = st.fixed_dictionaries(
    {
        "age": st.integers(20, 60),
        "status": st.sampled_from(_ENDED),
        "link": st.sampled_from(("",) * 6 + _LINKS),
        "other": st.integers(0, 9),
    }
)


@settings(
    max_examples=int(os.environ.get("RETENTION_EXAMPLES", 8)),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate,),  # a smaller example is not worth the minutes
)
@given(
    rows=st.lists(_EVENTS, min_size=4, max_size=10),
    policy=st.fixed_dictionaries(
        {
            name: st.sampled_from([5, 5, 40, None])
            for name in ("succeeded_days", "failed_days", "other_days", "artifact_days")
        }
        | {"keep_last": st.sampled_from([None, None, 1, 2])}
    ),
)
def test_what_is_pinned_running_or_referenced_stays(rows, policy, past_run, alice, team, root):
    with transaction.atomic():
        made = [_make(row, past_run, alice) for row in rows]
        for run, row in zip(made, rows, strict=True):
            _link(run, row, made, alice)
        set_policy(None, policy, root)
        must_stay = _closure(made, policy)
        shown = preview(None, {}, root)
        before = left()
        do_pass()
        assert must_stay <= left()
        assert len(before - left()) == shown.runs
        transaction.set_rollback(True)


def _make(row, past_run, alice):
    link = row["link"]
    run = past_run(row["age"], status=row["status"], is_counted=link != "uncounted")
    changes: dict[str, dict[str, object]] = {
        "pinned": {"pinned_at": timezone.now()},
        "unfinished": {"status": "running", "finished_at": None},
    }
    Run.objects.filter(pk=run.pk).update(**changes.get(link, {"progress": 100}))
    add_artifact(run, "a.txt", b"a")
    run.refresh_from_db()
    return run


def _link(run, row, made, alice):
    other, rows = made[row["other"] % len(made)], Run.objects.filter(pk=run.pk)
    if row["link"] == "cached_from" and other.pk < run.pk:
        rows.update(cached_from=other)
    if row["link"] == "parent" and other.pk < run.pk and other.parent_id is None:
        rows.update(parent=other, root=other)
        run.parent_id = other.pk
    if row["link"] == "memory":
        Memory.objects.create(
            owner_type="task", owner_run=run, type="fact", importance=3, content="x", owner_key=str(run.pk),
            created_at=timezone.now(), updated_at=timezone.now(),
        )  # fmt: skip
    if row["link"] == "answer":
        rows.update(cache_key="k", cache_until=timezone.now() + timedelta(hours=2))
    if row["link"] == "error":
        rows.update(error_key="e")


def _closure(made, policy):
    """The runs that must stay, found without the code under test: protected ones and their relatives."""
    runs = list(Run.objects.filter(pk__in=[run.pk for run in made]))
    newest_error = max((run.pk for run in runs if run.error_key), default=0)
    owners = set(Memory.objects.values_list("owner_run", flat=True))
    sources = {run.cached_from_id for run in runs}
    keep = {
        run.pk
        for run in runs
        if run.status not in ENDED or run.pinned_at or not run.is_counted or run.cache_key
        or run.pk in owners | sources or run.pk == newest_error
    }  # fmt: skip
    roots = [run for run in runs if run.parent_id is None]
    keep |= {run.pk for run in sorted(roots, key=lambda run: -run.pk)[: policy["keep_last"] or 0]}
    keep |= {run.root_id for run in runs if run.pk in keep and run.root_id}  # trees stay whole
    return keep | {run.pk for run in runs if run.root_id in keep}
