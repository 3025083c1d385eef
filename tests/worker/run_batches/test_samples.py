"""Samples of a batch: each has the problem that starting its run would have, and they need few queries."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.identity.actors import Actor
from registry.models import Effect, Membership, Role
from registry.packages.problems import Refusal
from registry.rules import edit
from registry.secrets import grants, reviews
from registry.secrets.values import put_secret
from registry.versions.lifecycle import merge, purge, rename, yank
from tests.factories.runs import add_artifact, make_run
from worker.files.inputs import store_input
from worker.models import InputFile, Run, RunBatchAction
from worker.run_batches.samples import COUNT, samples
from worker.run_batches.selection import BatchRequest, checked, select_runs, version_for
from worker.runs.repeat import merged_inputs, repeat_run

pytestmark = [pytest.mark.row("P5"), pytest.mark.django_db]
ALL = {"until": "2999-01-01T00:00:00Z"}
NEEDS = "security: {secrets: [API_KEY]}\n"
SCHEMA = "input_schema: {type: object, properties: {size: {type: integer}}, required: [size]}\n"


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def end(queue_run):
    """``end(version, inputs)``: an ended run of the version."""

    def make(version, inputs=None):
        run = queue_run(version, inputs)
        Run.objects.filter(pk=run.pk).update(status="failed", attempt=1, finished_at=timezone.now())
        return run

    return make


@pytest.fixture
def mixed(publish_skill, end, owner, alice, bob, administrator, team):
    """Ten ended runs of ten skills; five of them can no longer be repeated."""
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    names = (
        "plain",
        "sized",
        "denied",
        "former",
        "canonical",
        "sealed",
        "reviewed",
        "upload",
        "lost",
        "read",
    )
    fronts = {"sized": SCHEMA, "sealed": NEEDS, "reviewed": NEEDS}
    made = {name: publish_skill(name, front=fronts.get(name, ""), visibility="site") for name in names}
    secret = put_secret(team, "API_KEY", "hunter2", owner)
    sealed = grants.grant(secret, made["sealed"], owner)
    grants.grant(secret, made["reviewed"], owner, to="reviewed")
    reviews.review(made["reviewed"], team, Actor(user=bob))
    kept, lost = (store_input([b"one"], "a.txt", owner) for _ in range(2))
    inputs = {"sized": {"size": 1}, "upload": {"input_path": {"input": kept.uid}}}
    runs = {name: end(made[name], inputs.get(name)) for name in names}
    add_artifact(runs["plain"], "deep/a.txt", b"one")
    change = {
        "sized": {"size": "big"},
        "lost": {"input_path": {"input": lost.uid}},
        "read": {"input_path": {"artifact": f"{runs['plain'].uid}/deep/a.txt"}},
    }
    for name, values in change.items():
        Run.objects.filter(pk=runs[name].pk).update(request={**runs[name].request, "inputs": values})
    InputFile.objects.update(expires_at=timezone.now())
    rename.rename(made["former"].skill, owner, slug="present")
    set_canonical("canonical", made["canonical"], Actor(user=administrator), reason="Ours.")
    for name in ("denied", "former"):
        edit.add_rule(team, Effect.DENY, f"docs/{name}", owner)
    grants.revoke(sealed.uid, team, owner)
    return runs


def find_samples(actor, **more):
    request = checked(BatchRequest(RunBatchAction.REPEAT, ALL, **more))
    return samples(request, select_runs(request, actor), actor)


def start_code(run, actor):
    """The code with which starting the run is refused; "" if it starts."""
    run = Run.objects.get(pk=run.pk)
    try:
        repeat_run(run, version_for(run, "same", actor), actor, inputs=merged_inputs(run, {}))
    except Refusal as refused:
        return refused.code
    return ""


def test_sample_has_the_problem_that_starting_has(mixed, owner):
    found = {sample.run.pk: sample.problem.code if sample.problem else "" for sample in find_samples(owner)}
    seen = {name: found[run.pk] for name, run in mixed.items()}
    assert seen == {
        "plain": "",
        "sized": "VALUE_INVALID",
        "denied": "RULE_DENIED",
        "former": "RULE_DENIED",
        "canonical": "",
        "sealed": "SECRET_NOT_GRANTED",
        "reviewed": "",
        "upload": "",
        "lost": "INPUT_NOT_FOUND",
        "read": "",
    }
    assert seen == {name: start_code(run, owner) for name, run in mixed.items()}


def test_samples_of_ten_skills_need_few_queries(mixed, owner):
    assert len(mixed) == COUNT
    with CaptureQueriesContext(connection) as queries:
        find_samples(owner)
    assert len(queries) <= 7


def test_samples_of_unopened_packages_need_one_more_query(mixed, owner, monkeypatch):
    with CaptureQueriesContext(connection) as warm:
        find_samples(owner)
    monkeypatch.setattr("worker.attempts.unpacking._opened", {})
    with CaptureQueriesContext(connection) as cold:
        find_samples(owner)
    assert len(cold) == len(warm) + 1


def test_selection_has_the_problem_that_starting_has(publish_skill, owner, alice, team):
    names = ("renamed", "merged", "into", "purged", "number", "yanked", "deleted", "internal")
    made = {name: publish_skill(name) for name in names}
    runs = {
        name: make_run(version, alice, team, status="failed", request={"inputs": {}, "arguments": []})
        for name, version in made.items()
    }
    other = make_run(publish_skill("none"), alice, team, status="failed")
    Run.objects.filter(pk=other.pk).update(version_number="7.0.0")
    runs["unknown"] = other
    rename.rename(made["renamed"].skill, owner, slug="present")
    merge.merge(made["merged"].skill, made["into"].skill, owner)
    purge.purge_skill(made["purged"].skill, owner, reason="Secret plans.")
    purge.purge_version(made["number"], owner, reason="Secret plans.")
    yank.yank(made["yanked"], owner, reason="Broken.")
    made["internal"].manifest["type"] = "internal"
    made["internal"].save(update_fields=["manifest"])
    made["deleted"].skill.delete()
    Run.objects.update(erased_at=None)  # purging erased the runs
    request = checked(BatchRequest(RunBatchAction.REPEAT, ALL))
    with CaptureQueriesContext(connection) as queries:
        selected = select_runs(request, owner)
    assert len(queries) <= 4
    codes = {each.run.pk: each.problem.code if each.problem else "" for each in selected}
    seen = {name: codes[run.pk] for name, run in runs.items()}
    assert seen == {
        "renamed": "",
        "merged": "",
        "into": "",
        "purged": "PURGED",
        "number": "PURGED",
        "yanked": "",
        "deleted": "NOT_FOUND",
        "internal": "SKILL_INTERNAL",
        "unknown": "NOT_FOUND",
    }
    assert seen == {name: start_code(run, owner) for name, run in runs.items()}


def test_version_that_another_team_hides_is_not_found(publish_skill, charlie):
    hidden = publish_skill("hidden", visibility="site")
    make_run(hidden, charlie, None, status="failed", request={"inputs": {}, "arguments": []})
    request = checked(BatchRequest(RunBatchAction.REPEAT, ALL))
    (before,) = select_runs(request, Actor(user=charlie))
    type(hidden.skill).objects.filter(pk=hidden.skill_id).update(visibility="private")
    (after,) = select_runs(request, Actor(user=charlie))
    assert before.problem is None
    assert after.problem
    assert after.problem.code == "NOT_FOUND"
