"""The same call within the ttl is answered by the stored run; whatever differs makes another call."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.packages.package import Manifest, Security
from registry.packages.problems import Refusal
from worker.models import Run, RunStatus
from worker.run_views.documents import run_document
from worker.runs import cache
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C12")]

CACHEABLE = "cacheable: true\nttl: 300\n"
SHARED = CACHEABLE + "cache_scope: team\n"


@pytest.fixture
def cacheable(publish_skill):
    return publish_skill(front=CACHEABLE)


@pytest.fixture
def answered(cacheable, queue_run):
    """A first run of the skill, which later ones may be answered by."""
    return execute_here(queue_run(cacheable, {"who": "A", "output_dir": "x"}))


def test_the_same_call_is_answered_at_once_and_says_so(cacheable, queue_run, answered, actor_of, alice):
    again = queue_run(cacheable, {"output_dir": "x", "who": "A"})
    assert (again.status, again.cached_from) == (RunStatus.SUCCEEDED, answered)
    first, second = (run_document(run, actor=actor_of(alice)) for run in (answered, again))
    assert second["cached"]
    assert not first["cached"]
    for key in ("outputs", "stdout", "stderr"):
        assert first[key] == second[key]
    assert [(f["path"], f["digest"]) for f in first["artifacts"]] == [
        (f["path"], f["digest"]) for f in second["artifacts"]
    ]


def test_an_answer_outlives_the_run_it_came_from(cacheable, queue_run, answered):
    again = queue_run(cacheable, {"who": "A", "output_dir": "x"})
    answered.delete()
    again.refresh_from_db()
    assert (again.cached_from, again.artifacts.count(), again.log_chunks.count() > 0) == (None, 1, True)


@pytest.mark.parametrize(
    "other",
    [
        {"inputs": {"who": "B", "output_dir": "x"}},
        {"inputs": {"who": "A"}},
        {"debug": True},
        {"stdin": "more"},
        {"arguments": ["--who", "A"]},
        {"context": {"locale": "zh"}},
        {"no_cache": True},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_call_that_differs_is_run(cacheable, queue_run, answered, other):
    inputs = other.pop("inputs", {"who": "A", "output_dir": "x"})
    assert queue_run(cacheable, inputs, **other).status == RunStatus.QUEUED


def test_another_caller_is_not_answered(cacheable, queue_run, answered, bob):
    assert queue_run(cacheable, {"who": "A", "output_dir": "x"}, by=bob).status == RunStatus.QUEUED


def test_another_version_is_not_answered(publish_skill, queue_run, answered):
    version = publish_skill(number="1.0.1", front=CACHEABLE)
    assert queue_run(version, {"who": "A", "output_dir": "x"}).status == RunStatus.QUEUED


def test_other_grants_are_not_answered(cacheable, queue_run, answered, settings):
    settings.SKILLQUAY_MAX_RUN_MEMORY_MB = 300
    assert queue_run(cacheable, {"who": "A", "output_dir": "x"}).status == RunStatus.QUEUED


def test_another_team_of_the_same_caller_is_not_answered(cacheable, queue_run, answered, alice):
    from registry.models import Membership, Role, Team

    team = Team.objects.create(slug="second", name="Second")
    Membership.objects.create(team=team, user=alice, role=Role.MEMBER)
    assert queue_run(cacheable, {"who": "A", "output_dir": "x"}, team=team).status == RunStatus.QUEUED


def test_a_file_counts_by_its_bytes(cacheable, queue_run, alice, actor_of):
    from worker.files.inputs import store_input

    def upload(data):
        return {"input_path": {"input": store_input([data], "a.txt", actor_of(alice)).uid}}

    first = execute_here(queue_run(cacheable, upload(b"one")))
    assert queue_run(cacheable, upload(b"one")).cached_from == first
    assert queue_run(cacheable, upload(b"two")).status == RunStatus.QUEUED


def test_an_answer_grows_stale(cacheable, queue_run, answered):
    Run.objects.update(cache_until=timezone.now() - timedelta(seconds=1))
    assert queue_run(cacheable, {"who": "A", "output_dir": "x"}).status == RunStatus.QUEUED


def test_a_cached_answer_does_not_answer_later_calls(cacheable, queue_run, answered):
    again = queue_run(cacheable, {"who": "A", "output_dir": "x"})
    assert (again.cache_key, again.cache_until) == ("", None)


def test_a_failure_answers_nobody(publish_skill, queue_run):
    version = publish_skill("broken", "raise SystemExit(1)", front=CACHEABLE)
    assert execute_here(queue_run(version)).status == RunStatus.FAILED
    assert queue_run(version).status == RunStatus.QUEUED


def test_a_skill_that_is_not_cacheable_is_run_each_time(hello, queue_run):
    execute_here(queue_run(hello))
    assert queue_run(hello).status == RunStatus.QUEUED


def test_memory_writes_are_not_repeated(cacheable, queue_run, answered):
    Run.objects.update(result={**answered.result, "memory_writes": [{"content": "once"}]})
    assert queue_run(cacheable, {"who": "A", "output_dir": "x"}).result["memory_writes"] == []


# Shared by a team -----------------------------------------------------------------------------------------
def test_a_team_shares_answers_where_the_manifest_says_so(publish_skill, queue_run, bob, actor_of):
    version = publish_skill(front=SHARED)
    first = execute_here(queue_run(version))
    again = queue_run(version, by=bob)
    assert again.cached_from == first
    assert first.uid not in str(run_document(again, actor=actor_of(bob)))


def test_a_script_whose_answer_is_shared_is_not_told_who_asks(publish_skill, queue_run, bob):
    version = publish_skill(front=SHARED)
    contexts = [queue_run(version, by=by, no_cache=True).request["context"] for by in (None, bob)]
    assert contexts[0]["user_id"] == contexts[1]["user_id"]


def test_a_context_of_the_callers_own_is_not_shared(publish_skill, queue_run, bob):
    version = publish_skill(front=SHARED)
    execute_here(queue_run(version, context={"locale": "zh"}))
    assert queue_run(version, context={"locale": "zh"}, by=bob).status == RunStatus.QUEUED


def test_another_team_gets_no_shared_answer(publish_skill, queue_run, charlie):
    version = publish_skill(front=SHARED, visibility="site")
    execute_here(queue_run(version))
    assert queue_run(version, by=charlie).status == RunStatus.QUEUED


@pytest.mark.parametrize(
    "more", [{}, {"requires": ("docs/other",)}, {"security": Security(secrets=("KEY",))}]
)
def test_what_hangs_on_its_caller_is_not_shared(team, more):
    from worker.protocols.call import Request
    from worker.runs.cache import is_shared

    manifest = Manifest("", "", "", "", cacheable=True, cache_scope="team", **more)
    assert is_shared(Request(), manifest, team) is not bool(more)


# Everything that makes a call the same ---------------------------------------------------------------------
def _soon():
    return timezone.now() + timedelta(seconds=60)


@pytest.fixture
def run(cacheable, queue_run):
    return queue_run(cacheable, {"who": "A", "output_dir": "x"})


def test_each_part_of_the_key_tells_calls_apart(run, cacheable):
    from registry.packages.manifest.manifest import manifest_of
    from worker.runs.cache import key_of

    manifest = manifest_of(cacheable.manifest)
    request = {
        "script": "s",
        "action": "a",
        "tool": "t",
        "stdin": "i",
        "debug": True,
        "inputs": {"who": "B"},
        "context": {"locale": "zh"},
        "config": {"timeout_ms": 1},
    }
    limits = ("memory_mb", "disk_mb", "files", "processes", "descriptors")
    others: dict[str, list[Any]] = {
        "skill_id": [0],
        "version_number": ["1.0.1"],
        "digest": ["sha256:other"],
        "protocol": ["stdin_json"],
        "entry": ["scripts/other.py"],
        "team_id": [None],
        "caller_id": [0],
        "session_id": ["s"],
        "grants": [{"secrets": {"KEY": "grant"}}],
        "files": [[{"pointer": "/a", "path": "/job/work/a", "digest": "sha256:a", "named": {}}]],
        "request": [{**run.request, name: value} for name, value in request.items()],
        "limits": [{**run.limits, name: 1} for name in limits],
    }
    keys = [key_of(run, manifest)]
    for name, values in others.items():
        own = getattr(run, name)
        for value in values:
            setattr(run, name, value)
            keys.append(key_of(run, manifest))
        setattr(run, name, own)
    assert len(set(keys)) == len(keys) == 24


def test_what_the_version_may_do_is_part_of_the_key(run, cacheable):
    from dataclasses import replace

    from registry.packages.manifest.manifest import manifest_of
    from worker.runs.cache import key_of

    manifest = manifest_of(cacheable.manifest)
    wider = replace(
        manifest, security=replace(manifest.security, network="allowlist", network_allowlist=("a.example",))
    )
    assert key_of(run, manifest) != key_of(run, wider)


def test_what_a_child_has_left_of_the_budget_makes_no_other_call(run, cacheable):
    from registry.packages.manifest.manifest import manifest_of
    from worker.runs.cache import key_of

    manifest = manifest_of(cacheable.manifest)
    before = key_of(run, manifest)
    run.limits = {**run.limits, "timeout_s": 1.5, "output_bytes": 10}
    assert key_of(run, manifest) == before


# What ends an answer ---------------------------------------------------------------------------------------
def test_a_withdrawn_version_answers_nothing_from_the_cache(cacheable, queue_run, answered):
    from registry.models import Version

    for withdrawn in ({"yanked_at": timezone.now()}, {"held_at": timezone.now(), "yanked_at": None}):
        Version.objects.filter(pk=cacheable.pk).update(**withdrawn)
        assert queue_run(cacheable, {"who": "A", "output_dir": "x"}).status == RunStatus.QUEUED


def test_an_erased_run_answers_nobody(cacheable, queue_run, answered, actor_of, alice):
    from worker.retention.erase import erase_run

    erase_run(answered, actor=actor_of(alice))
    assert queue_run(cacheable, {"who": "A", "output_dir": "x"}).status == RunStatus.QUEUED


def test_a_run_that_is_erased_while_it_answers_answers_nobody(
    cacheable, queue_run, answered, actor_of, alice, monkeypatch
):
    from worker.retention.erase import erase_run

    found_before = cache.find_answer

    def find_and_erase(key):
        found = found_before(key)
        erase_run(answered, actor=actor_of(alice))
        return found

    monkeypatch.setattr(cache, "find_answer", find_and_erase)
    with pytest.raises(Refusal) as refused:
        queue_run(cacheable, {"who": "A", "output_dir": "x"})
    assert refused.value.code == "UNAVAILABLE"
    monkeypatch.undo()
    assert Run.objects.get() == answered


def test_a_purged_version_leaves_no_answer(cacheable, queue_run, answered, actor_of, alice):
    from registry.versions.lifecycle.purge import purge_version

    purge_version(cacheable, actor_of(alice), reason="It must go.")
    answered.refresh_from_db()
    assert (answered.cache_key, answered.cache_until, answered.result) == ("", None, None)


@pytest.mark.parametrize(("ttl", "seconds"), [(None, 300), (0, 0), (7, 7), (10**9, 30 * 24 * 3600)])
def test_the_ttl_is_bounded(ttl, seconds):
    from worker.runs.cache import ttl_of

    assert ttl_of(Manifest("", "", "", "", cacheable=True, ttl=ttl)) == seconds


def test_a_ttl_of_nothing_stores_nothing(publish_skill, queue_run):
    version = publish_skill(front="cacheable: true\nttl: 0\n")
    execute_here(queue_run(version))
    assert queue_run(version).status == RunStatus.QUEUED


def test_ten_calls_at_once_are_ten_runs_and_the_eleventh_is_answered(cacheable, queue_run):
    runs = [queue_run(cacheable) for _ in range(10)]
    assert {run.status for run in runs} == {RunStatus.QUEUED}
    for run in runs[:2]:
        execute_here(run)
    assert queue_run(cacheable).cached_from == runs[1]
