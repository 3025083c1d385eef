from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.models import Channel
from tests.api.conftest import SKILL_MD, assert_error
from tests.factories.runs import make_run
from tests.pages import part, parts
from worker.models import Attempt, Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("D9", "P6")]


def test_the_usage_of_a_skill_says_how_its_score_came_about(version, as_alice, as_bob):
    as_bob.post("usage", {"skill": "docs/summarise"})
    as_alice.get("skills/docs/summarise/versions/1.0.0/archive").close()
    found = as_bob.get("skills/docs/summarise/usage").json()
    assert found["kinds"] == {"load": 1, "install": 1, "run": 0, "activation": 0}
    assert found["by_version"] == [{"version": "1.0.0", "load": 0, "install": 1, "run": 0, "activation": 0}]
    assert found["score"] == pytest.approx(found["count"] * found["factor"], abs=0.01)
    assert [day["load"] + day["install"] + day["run"] for day in found["by_day"]] == [2]
    assert (found["half_life_days"], found["floor"], found["dedupe_window_seconds"]) == (7, 0.1, 60)


@pytest.mark.row("B3")
def test_figures_tell_how_runs_went_by_version_and_day(version, bob, team, as_bob):
    for code in ("", "", "", "SCRIPT_FAILED"):
        make_run(version, bob, team, status="failed" if code else "succeeded", failure_code=code)
    make_run(version, bob, team, status="queued", started_at=None, finished_at=None)
    found = as_bob.get("skills/docs/summarise/statistics").json()
    (row,) = found["versions"]
    assert (row["version"], row["runs"], row["succeeded"]) == ("1.0.0", 4, 3)
    assert row["p50_ms"] == row["p95_ms"] == pytest.approx(2100)
    assert row["failure_codes"] == {"SCRIPT_FAILED": 1}
    assert [(day["succeeded"], day["failed"]) for day in found["days"]] == [(3, 1)]


def test_clearly_worse_version_is_marked_in_api_and_pages(version, publish, bob, team, as_bob, client):
    newer = publish({"SKILL.md": SKILL_MD.replace("1.0.0", "1.1.0")})
    Channel.objects.create(skill=version.skill, name="stable", version=newer)
    sandbox = {"cpu_ms": 1500, "peak_memory": 3 << 20}
    for number in range(20):
        make_run(version, bob, team, status="failed" if number < 1 else "succeeded")
        make_run(newer, bob, team, status="failed" if number < 9 else "succeeded")
    Attempt.objects.filter(run=Run.objects.latest("pk")).update(sandbox=sandbox)
    found = {row["version"]: row for row in as_bob.get("skills/docs/summarise/statistics").json()["versions"]}
    assert (found["1.1.0"]["worse_than"], found["1.0.0"]["worse_than"]) == ("1.0.0", None)
    assert (found["1.1.0"]["failed"], found["1.1.0"]["peak_cpu_ms"]) == (9, 1500)
    assert (found["1.1.0"]["peak_memory"], found["1.0.0"]["peak_memory"]) == (3 << 20, 0)
    client.force_login(bob)
    for page in ("usage/", "versions/", "1.1.0/"):
        assert part(client.get(f"/skills/docs/summarise/{page}"), "worse")["value"] == "1.0.0"
    assert not parts(client.get("/skills/docs/summarise/1.0.0/"), "worse")
    assert newer.skill.channels.get(name="stable").version == newer  # no channel moves


def test_figures_tell_half_and_95_percent_of_the_durations_without_cached_answers(version, bob, team, as_bob):
    began = timezone.now() - timedelta(minutes=5)
    runs = [
        make_run(version, bob, team, started_at=began, finished_at=began + timedelta(seconds=seconds))
        for seconds in range(1, 22)
    ]
    for _ in range(5):
        make_run(version, bob, team, started_at=began, finished_at=began, cached_from=runs[0])
    (row,) = as_bob.get("skills/docs/summarise/statistics").json()["versions"]
    assert (row["runs"], row["p50_ms"], row["p95_ms"]) == (26, 11_000, 20_000)


def test_figures_hold_the_runs_only_that_one_may_know_of(public_version, bob, team, as_charlie, anonymous):
    make_run(public_version, bob, team)
    assert as_charlie.get("skills/docs/summarise/statistics").json()["versions"] == []
    assert_error(anonymous.get("skills/docs/summarise/statistics"), 401, "SIGN_IN_REQUIRED")


def test_figures_of_what_one_may_not_see_are_not_there(version, as_charlie):
    assert_error(as_charlie.get("skills/docs/summarise/statistics"), 404, "NOT_FOUND")
