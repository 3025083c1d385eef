"""Dependencies of scripts: made once in a sandbox that reaches the index alone, kept, shown read-only."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from registry.actors import Actor
from registry.api.documents import version_document
from registry.packages.reading import read_files
from registry.publishing import publish
from tests.index_server import Index, integrity, npm_archive, wheel
from tests.skipping import require_network
from worker import unpacking
from worker.dependencies import keeping, making, queue
from worker.dependencies.preparing import preparation_document, prepare_again
from worker.execution import execute
from worker.models import Attempt, Preparation, Run, Status
from worker.recording import streams_of
from worker.runs import run_here
from worker.states import claim_next

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db(transaction=True)]

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
    with Index.serving(settings) as index:
        index.add("cheerful", wheel("cheerful", files=CHEERFUL, needs=["grin"]))
        index.add("grin", wheel("grin", files={"grin.py": "FACE = ':-)'\n"}))
        settings.SKILLQUAY_PYTHON_INDEX = index.url.replace("//", "//reader:s3cret@")
        yield index


@pytest.fixture
def version(published):
    return published(script=BLOCK)


def _output(run):
    assert run.status == Status.SUCCEEDED, (run.failure_code, run.message, run.result)
    return json.loads(_said(run))


def _said(run):
    return streams_of(run, most=10_000)[0]


def test_a_script_runs_with_what_it_names_again_without_an_index_and_on_a_second_machine(
    network, index, version, published, ask, settings, tmp_path, alice
):
    row = Preparation.objects.get()
    assert row.state == "waiting"
    assert making.make_waiting() == 1
    row.refresh_from_db()
    assert row.state == "ready", (row.problem, row.log)
    assert [(each["name"], each["version"]) for each in row.packages] == [
        ("cheerful", "1.0.0"),
        ("grin", "1.0.0"),
    ]
    assert row.lock.count("--hash=sha256:") == 2
    assert index.asked
    assert {credentials for _, credentials in index.asked} == {"Basic cmVhZGVyOnMzY3JldA=="}
    assert "s3cret" not in row.log + row.lock

    index.asked.clear()
    settings.SKILLQUAY_PYTHON_INDEX = ""
    said = _output(run_here(ask(version)))
    assert (said["said"], said["at"]) == ("hello :-)", "/deps/cheerful.py")
    assert (said["writes"], said["path"]) == (False, ["/skill/scripts", "/deps"])

    other = tmp_path / "second-machine"
    other.mkdir()
    (other / "blobs").symlink_to(f"{settings.SKILLQUAY_VAR}/blobs")
    settings.SKILLQUAY_VAR = other
    unpacking._opened.cache_clear()
    assert _output(run_here(ask(version)))["said"] == "hello :-)"
    assert index.asked == []

    later = published(script=BLOCK, number="1.1.0")
    assert Preparation.objects.get().versions.count() == 2  # shared, so ready at once
    assert preparation_document(later, Actor(user=alice))["state"] == "ready"


def test_a_run_that_comes_first_makes_what_it_needs_by_itself(network, index, version, ask):
    run = run_here(ask(version))
    assert _output(run)["said"] == "hello :-)"
    steps = [step["name"] for step in Attempt.objects.get(run=run).steps]
    assert steps.index("unpack") < steps.index("dependencies") < steps.index("execute")


def test_a_run_waits_in_the_queue_while_another_prepares_and_goes_on_at_once_after(version, ask):
    hold = queue.claim(Preparation.objects.get().key, timezone.now())
    run = ask(version)
    assert execute(claim_next("host:1", run_id=run.pk))
    run.refresh_from_db()
    assert (run.status, run.attempt, run.started_at) == (Status.QUEUED, 0, None)
    assert run.run_after > timezone.now()
    assert not Attempt.objects.filter(run=run).exists()
    hold.succeed(queue.Made("", (), "", 0))
    assert Run.objects.get(pk=run.pk).run_after <= timezone.now()


def test_one_whose_worker_died_is_made_again_and_the_dead_one_writes_no_more(version):
    now = timezone.now()
    dead = queue.claim_next(now)
    assert queue.claim_next(now) is None
    alive = queue.claim_next(now + queue.LEASE + timedelta(seconds=1))
    assert alive.attempt == 2
    made = queue.Made("lock", (), "", 0)
    assert not dead.succeed(made)
    assert not dead.renew()
    assert alive.succeed(made)


def test_one_that_ends_its_workers_each_time_has_failed(version):
    now = timezone.now()
    for _ in range(queue.ATTEMPTS + 1):
        queue.claim_next(now)
        now += queue.LEASE + timedelta(seconds=1)
    row = Preparation.objects.get()
    assert (row.state, row.problem["code"]) == ("failed", "DEPENDENCIES_FAILED")


def test_without_an_index_it_is_refused_by_the_name_of_the_setting_until_retried(
    version, ask, alice, settings
):
    told = partial(version_document, version, Actor(user=alice))
    assert told()["preparation"] == "preparing"
    making.make_waiting()
    run = run_here(ask(version))
    assert (run.status, run.failure_code) == (Status.REFUSED, "DEPENDENCIES_OFF")
    document = preparation_document(version, Actor(user=alice))
    assert document["state"] == told()["preparation"] == "failed"
    assert "SKILLQUAY_PYTHON_INDEX" in document["preparations"][0]["problem"]["remedy"]
    prepare_again(version, Actor(user=alice))
    assert preparation_document(version, Actor(user=alice))["state"] == "preparing"


def test_an_index_that_does_not_answer_is_said_to_be_offline(network, index, version):
    index.stop()
    making.make_waiting()
    row = Preparation.objects.get()
    assert row.problem["code"] == "DEPENDENCIES_OFFLINE", row.log


def test_what_is_gone_from_the_storage_is_made_again_from_its_lock(network, index, version, ask, settings):
    making.make_waiting()
    first = Preparation.objects.get()
    index.add("grin", wheel("grin", "2.0.0", files={"grin.py": "FACE = ';-)'\n"}), version="2.0.0")
    Preparation.objects.update(last_used_at=timezone.now() - timedelta(days=90))
    keeping.sweep()
    assert Preparation.objects.get().state == "unused"
    unpacking.take_away(keeping.root() / first.digest.partition(":")[2])
    assert _output(run_here(ask(version)))["said"] == "hello :-)"
    assert Preparation.objects.get().digest == first.digest


def test_what_no_version_needs_is_swept(version):
    version.delete()
    keeping.sweep()
    assert not Preparation.objects.exists()


def test_a_skill_chooses_a_runtime_that_the_administrator_names(published, ask, settings, tmp_path):
    script = "import subprocess\nprint(subprocess.run(['office'], capture_output=True, text=True).stdout)"
    version = published(script=script, front="runtime: office\n")
    run = run_here(ask(version))
    assert (run.status, run.failure_code) == (Status.REFUSED, "RUNTIME_UNKNOWN")
    (tmp_path / "office" / "bin").mkdir(parents=True)
    (tmp_path / "office" / "bin" / "office").write_text("#!/bin/sh\necho converted\n")
    (tmp_path / "office" / "bin" / "office").chmod(0o755)
    settings.SKILLQUAY_RUNTIMES = {"office": str(tmp_path / "office")}
    run = run_here(ask(version))
    assert _said(run) == "converted\n\n"


def _node_package(archive, *, resolved="https://registry.example/smile/-/smile-1.0.0.tgz"):
    entry = {
        "version": "1.0.0",
        "resolved": resolved,
        "integrity": integrity(archive),
        "hasInstallScript": True,
    }
    wanted = {"name": "x", "dependencies": {"smile": "^1.0.0"}}
    lock = {"lockfileVersion": 3, "packages": {"": wanted, "node_modules/smile": entry}}
    return read_files(
        [
            ("SKILL.md", b"---\nname: smiling\ndescription: For tests.\nversion: 1.0.0\n---\n# Smiling\n"),
            ("scripts/smiling.mjs", NODE.encode()),
            ("package.json", json.dumps({**wanted, "scripts": {"postinstall": "touch ran"}}).encode()),
            ("package-lock.json", json.dumps(lock).encode()),
        ]
    )


def test_node_packages_are_installed_from_the_lock_and_none_of_their_scripts_runs(
    network, index, team, alice, ask, settings
):
    manifest = {"name": "smile", "version": "1.0.0", "type": "module", "main": "smile.js"}
    manifest["scripts"] = {"postinstall": "touch ran", "preinstall": "touch ran"}
    files = {
        "package/package.json": json.dumps(manifest),
        "package/smile.js": "export const face=':-D';export default 1",
    }
    archive = npm_archive(files)
    index.files["/simple/smile/-/smile-1.0.0.tgz"] = archive
    settings.SKILLQUAY_NPM_REGISTRY = index.url
    version = publish(
        _node_package(archive), team=team, actor=Actor(user=alice), visibility="private"
    ).version
    run = run_here(ask(version))
    row = Preparation.objects.get(kind="node")
    assert row.state == "ready", (row.problem, row.log)
    assert _output(run) == {"said": ":-D", "ran": False}
    assert {path for path, _ in index.asked} == {"/simple/smile/-/smile-1.0.0.tgz"}


def test_what_a_killed_worker_left_of_a_build_is_swept_and_a_live_build_is_not(settings):
    root = keeping.root()
    for name in (".building-dead-1", ".building-alive-1"):
        (root / name / "install").mkdir(parents=True)
    os.utime(root / ".building-dead-1", (1, 1))
    keeping.sweep()
    assert [each.name for each in root.glob(".building-*")] == [".building-alive-1"]
