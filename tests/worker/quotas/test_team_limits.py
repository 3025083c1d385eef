"""What a team may use is counted and held; teams take turns at the workers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Membership, Role, Team
from registry.packages.problems import Refusal
from tests.checks import not_none
from tests.factories.runs import make_run
from tests.plans import plan_lines
from worker.models import Artifact, Run, RunStatus, TeamDailyUsage
from worker.queue import claims
from worker.quotas import team_limits
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]


@pytest.fixture
def root(administrator):
    return Actor(user=administrator)


@pytest.fixture
def limited(team, root):
    """``limited(runs_per_day=2…)``: the team's limits set by an administrator."""

    def limited(**limits):
        team_limits.set_limits(team, limits, root)
        return {use.name: use for use in team_limits.usage_of(team)}

    return limited


def _code(verb):
    with pytest.raises(Refusal) as refused:
        verb()
    return refused.value.code


def _claimed():
    claim = claims.claim_next("here:1")
    return claim and Run.objects.get(pk=claim.run_id)


def test_runs_of_a_day_are_counted_and_the_next_one_is_refused(hello, queue_run, limited, team):
    limited(runs_per_day=2)
    queue_run(hello)
    queue_run(hello)
    assert _code(lambda: queue_run(hello)) == "TEAM_RUNS_EXCEEDED"
    assert Run.objects.count() == 2
    TeamDailyUsage.objects.filter(team=team).update(day=team_limits.today() - timedelta(days=1))
    assert queue_run(hello).status == RunStatus.QUEUED, "it is another day"


def test_what_a_cache_answers_counts_for_nothing(publish_skill, queue_run, limited, team):
    version = publish_skill(front="cacheable: true\n")
    execute_here(queue_run(version))
    limited(runs_per_day=1)
    assert queue_run(version).cached_from_id
    assert TeamDailyUsage.objects.get(team=team).runs == 1


def test_cpu_time_of_every_process_is_counted(publish_skill, queue_run, limited, team):
    busy = """
        import json, subprocess, sys, time
        spin = "import time\\nwhile time.process_time() < 0.25: pass"
        subprocess.run([sys.executable, "-c", spin])
        while time.process_time() < 0.25: pass
        print(json.dumps({}))
    """
    assert execute_here(queue_run(publish_skill("busy", busy))).status == "succeeded"
    assert 500 <= TeamDailyUsage.objects.get(team=team).cpu_ms < 3000
    TeamDailyUsage.objects.filter(team=team).update(cpu_ms=5000)
    limited(cpu_seconds_per_day=5)
    assert _code(lambda: queue_run(publish_skill())) == "TEAM_CPU_EXCEEDED"


def test_bytes_that_runs_keep_are_held(hello, queue_run, limited):
    run = execute_here(queue_run(hello, {"output_dir": "x"}))
    kept = sum(Artifact.objects.filter(run=run).values_list("size", flat=True))
    assert limited(stored_bytes=kept)["stored_bytes"].is_spent
    assert _code(lambda: queue_run(hello)) == "TEAM_BYTES_EXCEEDED"
    assert limited(stored_bytes=kept + 1)["stored_bytes"].is_near
    assert queue_run(hello).status == RunStatus.QUEUED


def test_four_fifths_are_told(hello, queue_run, limited, team, alice):
    owner = Actor(user=alice)
    limited(runs_per_day=5)
    for number in range(1, 6):
        queue_run(hello)
        told = [each.code for each in team_limits.warnings_of(team)]
        assert told == (["TEAM_LIMIT_NEAR"] if number >= 4 else [])
    warned = run_document(not_none(Run.objects.last()), actor=owner)["warnings"]
    assert any("100" in warning and "runs_per_day" in warning for warning in warned)


def test_no_more_runs_at_once_than_the_team_may(hello, queue_run, limited):
    limited(concurrent_runs=2)
    for _ in range(3):
        queue_run(hello)
    first, second = _claimed(), _claimed()
    assert first
    assert second
    assert _claimed() is None, "two are running"
    Run.objects.filter(pk=first.pk).update(status=RunStatus.SUCCEEDED)
    assert _claimed() is not None


def test_the_site_s_own_limit_holds_where_a_team_has_none(hello, queue_run, limited, settings):
    settings.SKILLQUAY_TEAM_LIMITS = {**settings.SKILLQUAY_TEAM_LIMITS, "concurrent_runs": 1}
    queue_run(hello), queue_run(hello)
    assert _claimed()
    assert _claimed() is None
    limited(concurrent_runs=0)
    assert _claimed(), "0 is no limit"
    assert not limited(concurrent_runs=None)["concurrent_runs"].own


def test_a_team_that_asks_for_little_does_not_wait_behind_one_that_asks_for_much(
    publish_skill, queue_run, alice
):
    other = Team.objects.create(slug="small", name="Small")
    Membership.objects.create(team=other, user=alice, role=Role.MEMBER)
    version = publish_skill(visibility="site")
    docs = Team.objects.get(slug="docs")
    for _ in range(6):
        queue_run(version, team=docs)
    for _ in range(2):
        queue_run(version, team=other)
    order = []
    while run := _claimed():
        order.append(run.team.slug)
        Run.objects.filter(pk=run.pk).update(status=RunStatus.SUCCEEDED)
    assert order == ["docs", "small", "docs", "small", "docs", "docs", "docs", "docs"]


def test_runs_of_nobodys_team_have_their_turn_and_those_of_later_wait(hello, queue_run):
    late, free = queue_run(hello), queue_run(hello)
    Run.objects.filter(pk=late.pk).update(run_after=timezone.now() + timedelta(hours=1))
    Run.objects.filter(pk=free.pk).update(team=None)
    assert _claimed() == free
    assert _claimed() is None


def test_only_an_administrator_sets_limits(team, alice, bob, charlie):
    for user in (alice, bob):
        assert (
            _code(lambda user=user: team_limits.set_limits(team, {"runs_per_day": 1}, Actor(user=user)))
            == "FORBIDDEN"
        )
    refused = _code(lambda: team_limits.set_limits(team, {"runs_per_day": 1}, Actor(user=charlie)))
    assert refused == "NOT_FOUND"


@pytest.mark.parametrize("limits", [{"unknown": 1}, {"runs_per_day": -1}, {"runs_per_day": 2**60}])
def test_a_limit_is_one_that_there_is(limited, limits):
    assert _code(lambda: limited(**limits)) == "TEAM_LIMIT_INVALID"


def test_running_runs_are_counted_without_reading_the_team_s_other_runs(hello, alice, team):
    for status in ("running", "running", "succeeded"):
        make_run(hello, alice, team, status=status)
    make_run(hello, alice, None, status="running")
    make_run(hello, alice, team, status="running", depth=1)
    (usage,) = team_limits.usage_of(team, ["concurrent_runs"])
    assert usage.used == 2
    lines = plan_lines(lambda: team_limits.usage_of(team, ["concurrent_runs"]))
    assert not [line for line in lines if "run_team" in line]
