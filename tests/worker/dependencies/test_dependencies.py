"""Dependencies of scripts: made once in a sandbox that reaches the index alone, kept, shown read-only."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from registry.api.documents.skills import version_document
from registry.core.leases import LEASE_TIME, MAX_ATTEMPTS
from registry.identity.actors import Actor
from registry.models import AuditEntry, Team
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.checks import not_none
from tests.servers.package_index import PackageIndex, integrity, npm_archive, wheel
from tests.skipping import require_network
from worker.attempts import unpacking
from worker.attempts.recording import read_stream_ends
from worker.dependencies import build, queue, store
from worker.dependencies.status import cancel_builds, dependencies_document, rebuild_dependencies
from worker.executors.conductor import execute
from worker.models import Attempt, DependencyBuild, Run, RunStatus
from worker.queue.claims import claim_next
from worker.service.inline import execute_here

pytestmark = [pytest.mark.matrix(at_most=6), pytest.mark.row("C6"), pytest.mark.django_db(transaction=True)]

BLOCK = """
# /// script
# requires-python = ">=3.9"
# dependencies = ["cheerful>=1"]
# ///
import json, os, sys, cheerful
def writes(path):
    try:
        open(path, "w")
    except OSError:
        return False
    return True
said = {"said": cheerful.say(), "at": cheerful.__file__, "compiled": cheerful.__cached__ is not None}
print(json.dumps({**said, "writes": writes("/deps/x") or writes(cheerful.__file__), "path": sys.path[:2]}))
"""
CHEERFUL = {"cheerful.py": "import grin\ndef say():\n    return 'hello ' + grin.FACE\n"}
NODE = """
import smile, { face } from "smile";
import { existsSync } from "node:fs";
console.log(JSON.stringify({ said: face, ran: existsSync("/node_modules/smile/ran") }));
"""


@pytest.fixture
def network():
    require_network()


@pytest.fixture
def index(settings):
    with PackageIndex.serving(settings) as index:
        index.add("cheerful", wheel("cheerful", files=CHEERFUL, needs=["grin"]))
        index.add("grin", wheel("grin", files={"grin.py": "FACE = ':-)'\n"}))
        settings.SKILLQUAY_PYTHON_INDEX = index.url.replace("//", "//reader:s3cret@")
        yield index


@pytest.fixture
def version(publish_skill):
    return publish_skill(script=BLOCK)


def _output(run):
    assert run.status == RunStatus.SUCCEEDED, (run.failure_code, run.message, run.result)
    return json.loads(_said(run))


def _said(run):
    return read_stream_ends(run, max_bytes=10_000)[0]


def test_a_script_runs_with_what_it_names_again_without_an_index_and_on_a_second_machine(
    network, index, version, publish_skill, queue_run, settings, tmp_path, alice
):
    row = DependencyBuild.objects.get()
    assert row.state == "waiting"
    assert build.build_waiting() == 1
    row.refresh_from_db()
    assert row.state == "ready", (row.problem, row.log)
    assert [(each["name"], each["version"]) for each in row.packages] == [
        ("cheerful", "1.0.0"),
        ("grin", "1.0.0"),
    ]
    assert row.lock.count("--hash=sha256:") == 2
    assert index.requests
    assert {credentials for _, credentials in index.requests} == {"Basic cmVhZGVyOnMzY3JldA=="}
    assert "s3cret" not in row.log + row.lock

    index.requests.clear()
    settings.SKILLQUAY_PYTHON_INDEX = ""
    said = _output(execute_here(queue_run(version)))
    assert (said["said"], said["at"]) == ("hello :-)", "/deps/cheerful.py")
    assert (said["writes"], said["path"]) == (False, ["/skill/scripts", "/deps"])

    other = tmp_path / "second-machine"
    other.mkdir()
    (other / "blobs").symlink_to(f"{settings.SKILLQUAY_VAR}/blobs")
    settings.SKILLQUAY_VAR = other
    unpacking._opened.clear()
    assert _output(execute_here(queue_run(version)))["said"] == "hello :-)"
    assert index.requests == []

    later = publish_skill(script=BLOCK, number="1.1.0")
    assert DependencyBuild.objects.get().versions.count() == 2  # shared, so ready at once
    assert dependencies_document(later, Actor(user=alice))["state"] == "ready"


def test_a_run_that_comes_first_makes_what_it_needs_by_itself(network, index, version, queue_run):
    run = execute_here(queue_run(version))
    assert _output(run)["said"] == "hello :-)"
    steps = [step["name"] for step in Attempt.objects.get(run=run).steps]
    assert steps.index("unpack") < steps.index("dependencies") < steps.index("execute")


def test_a_run_waits_in_the_queue_while_another_prepares_and_goes_on_at_once_after(version, queue_run):
    hold = not_none(queue.claim(DependencyBuild.objects.get().key, timezone.now()))
    run = queue_run(version)
    assert execute(not_none(claim_next("host:1", run_id=run.pk)))
    run.refresh_from_db()
    assert (run.status, run.attempt, run.started_at) == (RunStatus.QUEUED, 0, None)
    assert run.run_after > timezone.now()
    assert not Attempt.objects.filter(run=run).exists()
    hold.succeed(queue.BuildResult("", (), "", 0))
    assert Run.objects.get(pk=run.pk).run_after <= timezone.now()


def test_one_whose_worker_died_is_made_again_and_the_dead_one_writes_no_more(version):
    now = timezone.now()
    dead = not_none(queue.claim_next(now))
    assert queue.claim_next(now) is None
    alive = not_none(queue.claim_next(now + LEASE_TIME + timedelta(seconds=1)))
    assert alive.attempt == 2
    made = queue.BuildResult("lock", (), "", 0)
    assert not dead.succeed(made)
    assert not dead.renew()
    assert alive.succeed(made)


def test_one_that_ends_its_workers_each_time_has_failed(version):
    now = timezone.now()
    for _ in range(MAX_ATTEMPTS + 1):
        queue.claim_next(now)
        now += LEASE_TIME + timedelta(seconds=1)
    row = DependencyBuild.objects.get()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_FAILED")


def test_without_an_index_it_is_refused_by_the_name_of_the_setting_until_retried(
    version, queue_run, alice, settings
):
    told = partial(version_document, version, Actor(user=alice))
    assert told()["dependencies"] == "building"
    build.build_waiting()
    run = execute_here(queue_run(version))
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "DEPENDENCIES_DISABLED")
    document = dependencies_document(version, Actor(user=alice))
    assert document["state"] == told()["dependencies"] == "failed"
    assert "SKILLQUAY_PYTHON_INDEX" in document["builds"][0]["problem"]["remedy"]
    rebuild_dependencies(version, Actor(user=alice))
    assert dependencies_document(version, Actor(user=alice))["state"] == "building"


def test_an_index_that_does_not_answer_is_said_to_be_offline(network, index, version):
    index.stop()
    build.build_waiting()
    row = DependencyBuild.objects.get()
    assert row.problem["code"] == "DEPENDENCIES_OFFLINE", row.log


def test_what_is_gone_from_the_storage_is_made_again_from_its_lock(
    network, index, version, queue_run, settings
):
    build.build_waiting()
    first = DependencyBuild.objects.get()
    index.add("grin", wheel("grin", "2.0.0", files={"grin.py": "FACE = ';-)'\n"}), version="2.0.0")
    DependencyBuild.objects.update(last_used_at=timezone.now() - timedelta(days=90))
    store.sweep()
    assert DependencyBuild.objects.get().state == "unused"
    unpacking.remove_folder(store.root() / first.digest.partition(":")[2])
    assert _output(execute_here(queue_run(version)))["said"] == "hello :-)"
    assert DependencyBuild.objects.get().digest == first.digest


def test_cancelled_build_stops_and_refuses_the_runs_that_wait_for_it(version, queue_run, alice, settings):
    lease = not_none(queue.claim_next(timezone.now()))
    run = queue_run(version)
    assert execute(not_none(claim_next("host:1", run_id=run.pk)))
    assert cancel_builds(version, Actor(user=alice)) == 1
    assert not lease.is_held()
    assert not lease.succeed(queue.BuildResult("", (), "", 0))
    assert queue.claim_next(timezone.now()) is None
    assert Run.objects.get(pk=run.pk).run_after <= timezone.now()
    run = execute_here(Run.objects.get(pk=run.pk))
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "DEPENDENCIES_CANCELLED")
    assert cancel_builds(version, Actor(user=alice)) == 0
    assert AuditEntry.objects.filter(action="version.cancel_dependencies").count() == 1
    rebuild_dependencies(version, Actor(user=alice))
    assert DependencyBuild.objects.get().state == "waiting"


def test_run_whose_own_build_is_cancelled_is_refused(network, index, version, queue_run, monkeypatch):
    def cancel(lease, _output):
        queue.cancel(lease.job)

    monkeypatch.setattr(queue.BuildLease, "append_log", cancel)
    run = execute_here(queue_run(version))
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "DEPENDENCIES_CANCELLED")


def test_build_that_another_skill_needs_is_cancelled_only_by_maintainers_of_both(
    version, publish_skill, alice, root
):
    twin = publish_skill(script=BLOCK, slug="twin").skill
    twin.team = Team.objects.create(slug="other", name="Other")
    twin.save()
    with pytest.raises(Refusal) as refused:
        cancel_builds(version, Actor(user=alice))
    assert refused.value.code == "PREPARATION_SHARED"
    assert DependencyBuild.objects.get().state == "waiting"
    assert cancel_builds(version, root) == 1


def test_new_version_restarts_a_cancelled_build(version, publish_skill, alice):
    cancel_builds(version, Actor(user=alice))
    publish_skill(script=BLOCK, slug="another")
    row = DependencyBuild.objects.get()
    assert (row.state, row.problem, row.versions.count()) == ("waiting", None, 2)


def test_what_no_version_needs_is_swept(version):
    version.delete()
    store.sweep()
    assert not DependencyBuild.objects.exists()


def test_a_skill_chooses_a_runtime_that_the_administrator_names(publish_skill, queue_run, settings, tmp_path):
    script = "import subprocess\nprint(subprocess.run(['office'], capture_output=True, text=True).stdout)"
    version = publish_skill(script=script, front="runtime: media\n")
    run = execute_here(queue_run(version))
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "RUNTIME_UNKNOWN")
    (tmp_path / "office" / "bin").mkdir(parents=True)
    (tmp_path / "office" / "bin" / "office").write_text("#!/bin/sh\necho converted\n")
    (tmp_path / "office" / "bin" / "office").chmod(0o755)
    settings.SKILLQUAY_RUNTIMES = {"media": str(tmp_path / "office")}
    run = execute_here(queue_run(version))
    assert _said(run) == "converted\n\n"


def _node_package(archive, *, name="smile"):
    entry = {
        "version": "1.0.0",
        "resolved": f"https://registry.example/{name}/-/smile-1.0.0.tgz",
        "integrity": integrity(archive),
        "hasInstallScript": True,
    }
    is_alias = name != "smile"
    entry |= {"name": name} if is_alias else {}
    wanted = {"name": "x", "dependencies": {"smile": f"npm:{name}@^1.0.0" if is_alias else "^1.0.0"}}
    lock = {"lockfileVersion": 3, "packages": {"": wanted, "node_modules/smile": entry}}
    return read_files(
        [
            ("SKILL.md", b"---\nname: smiling\ndescription: For tests.\nversion: 1.0.0\n---\n# Smiling\n"),
            ("scripts/smiling.mjs", NODE.encode()),
            ("package.json", json.dumps({**wanted, "scripts": {"postinstall": "touch ran"}}).encode()),
            ("package-lock.json", json.dumps(lock).encode()),
        ]
    )


@pytest.mark.parametrize("name", ["smile", "@real/smile"])
def test_node_packages_are_installed_from_the_lock_and_none_of_their_scripts_runs(
    name, network, index, team, alice, queue_run, settings
):
    manifest = {
        "name": name,
        "version": "1.0.0",
        "type": "module",
        "main": "smile.js",
        "scripts": {"postinstall": "touch ran", "preinstall": "touch ran"},
    }
    files = {
        "package/package.json": json.dumps(manifest),
        "package/smile.js": "export const face=':-D';export default 1",
    }
    archive = npm_archive(files)
    index.files[f"/simple/{name}/-/smile-1.0.0.tgz"] = archive
    settings.SKILLQUAY_NPM_REGISTRY = index.url
    version = publish(
        _node_package(archive, name=name), team=team, actor=Actor(user=alice), visibility="private"
    ).version
    run = execute_here(queue_run(version))
    row = DependencyBuild.objects.get(kind="node")
    assert row.state == "ready", (row.problem, row.log)
    assert _output(run) == {"said": ":-D", "ran": False}
    assert {path for path, _ in index.requests} == {f"/simple/{name}/-/smile-1.0.0.tgz"}
    assert [one["name"] for one in row.packages] == [name]


def test_what_a_killed_worker_left_of_a_build_is_swept_and_a_live_build_is_not(settings):
    root = store.root()
    for name in (".building-dead-1", ".building-alive-1"):
        (root / name / "install").mkdir(parents=True)
    os.utime(root / ".building-dead-1", (1, 1))
    store.sweep()
    assert [each.name for each in root.glob(".building-*")] == [".building-alive-1"]
