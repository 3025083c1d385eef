"""What a team may use is counted and held; teams take turns at the workers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.actors import Actor
from registry.models import Membership, Role, Team
from registry.packages.problems import Refused
from worker import states, team_limits
from worker.documents import run_document
from worker.models import Artifact, Run, Status, TeamDay
from worker.runs import run_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]


@pytest.fixture
def root(administrator):
    return Actor(user=administrator)


@pytest.fixture
def limited(team, root):
    """``limited(runs_a_day=2…)``: the team's limits set by an administrator."""

    def limited(**limits):
        team_limits.set_limits(team, limits, root)
        return {use.name: use for use in team_limits.uses_of(team)}

    return limited


def _code(verb):
    with pytest.raises(Refused) as refused:
        verb()
    return refused.value.code


def _claimed():
    claim = states.claim_next("here:1")
    return claim and Run.objects.get(pk=claim.run_id)


def test_runs_of_a_day_are_counted_and_the_next_one_is_refused(hello, ask, limited, team):
    limited(runs_a_day=2)
    ask(hello)
    ask(hello)
    assert _code(lambda: ask(hello)) == "TEAM_RUNS_SPENT"
    assert Run.objects.count() == 2
    TeamDay.objects.filter(team=team).update(day=team_limits.today() - timedelta(days=1))
    assert ask(hello).status == Status.QUEUED, "it is another day"


def test_what_a_cache_answers_counts_for_nothing(published, ask, limited, team):
    version = published(front="cacheable: true\n")
    run_here(ask(version))
    limited(runs_a_day=1)
    assert ask(version).cached_from_id
    assert TeamDay.objects.get(team=team).runs == 1


def test_cpu_time_of_every_process_is_counted(published, ask, limited, team):
    busy = """
        import json, subprocess, sys, time
        spin = "import time\\nwhile time.process_time() < 0.25: pass"
        subprocess.run([sys.executable, "-c", spin])
        while time.process_time() < 0.25: pass
        print(json.dumps({}))
    """
    assert run_here(ask(published("busy", busy))).status == "succeeded"
    assert 500 <= TeamDay.objects.get(team=team).cpu_ms < 3000
    TeamDay.objects.filter(team=team).update(cpu_ms=5000)
    limited(cpu_seconds_a_day=5)
    assert _code(lambda: ask(published())) == "TEAM_CPU_SPENT"


def test_bytes_that_runs_keep_are_held(hello, ask, limited):
    run = run_here(ask(hello, {"output_dir": "x"}))
    kept = sum(Artifact.objects.filter(run=run).values_list("size", flat=True))
    assert limited(kept_bytes=kept)["kept_bytes"].is_spent
    assert _code(lambda: ask(hello)) == "TEAM_BYTES_SPENT"
    assert limited(kept_bytes=kept + 1)["kept_bytes"].is_near
    assert ask(hello).status == Status.QUEUED


def test_four_fifths_are_told(hello, ask, limited, team, alice):
    owner = Actor(user=alice)
    limited(runs_a_day=5)
    for number in range(1, 6):
        ask(hello)
        told = [each.code for each in team_limits.warnings_of(team)]
        assert told == (["TEAM_LIMIT_NEAR"] if number >= 4 else [])
    warned = run_document(Run.objects.last(), actor=owner)["warnings"]
    assert any("has used 100 percent of its runs_a_day (5)" in warning for warning in warned)


def test_no_more_runs_at_once_than_the_team_may(hello, ask, limited):
    limited(concurrent_runs=2)
    for _ in range(3):
        ask(hello)
    first, second = _claimed(), _claimed()
    assert first
    assert second
    assert _claimed() is None, "two are running"
    Run.objects.filter(pk=first.pk).update(status=Status.SUCCEEDED)
    assert _claimed() is not None


def test_the_site_s_own_limit_holds_where_a_team_has_none(hello, ask, limited, settings):
    settings.SKILLQUAY_TEAM_LIMITS = {**settings.SKILLQUAY_TEAM_LIMITS, "concurrent_runs": 1}
    ask(hello), ask(hello)
    assert _claimed()
    assert _claimed() is None
    limited(concurrent_runs=0)
    assert _claimed(), "0 is no limit"
    assert not limited(concurrent_runs=None)["concurrent_runs"].own


def test_a_team_that_asks_for_little_does_not_wait_behind_one_that_asks_for_much(published, ask, alice):
    other = Team.objects.create(slug="small", name="Small")
    Membership.objects.create(team=other, user=alice, role=Role.MEMBER)
    version = published(visibility="site")
    docs = Team.objects.get(slug="docs")
    for _ in range(6):
        ask(version, team=docs)
    for _ in range(2):
        ask(version, team=other)
    order = []
    while run := _claimed():
        order.append(run.team.slug)
        Run.objects.filter(pk=run.pk).update(status=Status.SUCCEEDED)
    assert order == ["docs", "small", "docs", "small", "docs", "docs", "docs", "docs"]


def test_runs_of_nobodys_team_have_their_turn_and_those_of_later_wait(hello, ask):
    late, free = ask(hello), ask(hello)
    Run.objects.filter(pk=late.pk).update(run_after=timezone.now() + timedelta(hours=1))
    Run.objects.filter(pk=free.pk).update(team=None)
    assert _claimed() == free
    assert _claimed() is None


def test_only_an_administrator_sets_limits(team, alice, bob, charlie):
    for user in (alice, bob):
        assert (
            _code(lambda user=user: team_limits.set_limits(team, {"runs_a_day": 1}, Actor(user=user)))
            == "FORBIDDEN"
        )
    refused = _code(lambda: team_limits.set_limits(team, {"runs_a_day": 1}, Actor(user=charlie)))
    assert refused == "NOT_FOUND"


@pytest.mark.parametrize("limits", [{"unknown": 1}, {"runs_a_day": -1}, {"runs_a_day": 2**60}])
def test_a_limit_is_one_that_there_is(limited, limits):
    assert _code(lambda: limited(**limits)) == "TEAM_LIMIT_INVALID"
