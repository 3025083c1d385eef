"""What ``security`` says is what a run is held to."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from worker.run_views.documents import run_document
from worker.sandbox import layout
from worker.sandbox.policy import Job
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]

TELL = """
    import json, os
    os.makedirs("/job/output", exist_ok=True)
    for path in ("/tmp/mine", "/job/output/left.txt"):
        open(path, "w").write("x")
    closed = 0
    for path in ("/skill/new", "/usr/new", "/new"):
        try: open(path, "w")
        except OSError: closed += 1
    names = ("ZONE", "LD_PRELOAD", "NODE_OPTIONS", "PATH", "HTTPS_PROXY", "SKILLQUAY_REQUEST_FDS")
    given = {name: os.environ.get(name, "") for name in names}
    print(json.dumps({"own": sorted(os.listdir("/skill")), "closed": closed, "set": given}))
"""
STEERING = """security:
  environment:
    {ZONE: UTC, LD_PRELOAD: /x, NODE_OPTIONS: --x, PATH: /skill, HTTPS_PROXY: x, SKILLQUAY_REQUEST_FDS: x}
"""
STEERING_NAMES = ("LD_PRELOAD", "NODE_OPTIONS", "PATH", "HTTPS_PROXY", "SKILLQUAY_REQUEST_FDS")


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.mark.parametrize("filesystem", ["none", "read-only"])
def test_neither_filesystem_takes_away_what_a_script_writes_to(publish_skill, queue_run, owner, filesystem):
    run = execute_here(
        queue_run(publish_skill("holding", TELL, front=f"security: {{filesystem: {filesystem}}}\n"))
    )
    document = run_document(run, actor=owner)
    assert (document["outputs"]["closed"], [one["path"] for one in document["artifacts"]]) == (
        3,
        ["left.txt"],
    )
    assert "SKILL.md" in document["outputs"]["own"]


def test_a_package_sets_its_own_variables_and_none_that_steers_its_run(publish_skill, queue_run, owner):
    version = publish_skill("steering", TELL, front=STEERING)
    # A version that an older release published may still name them.
    version.manifest["security"]["environment"] |= dict.fromkeys(STEERING_NAMES, "/skill")
    version.save()
    run = execute_here(queue_run(version))
    set_ = run_document(run, actor=owner)["outputs"]["set"]
    assert set_.pop("PATH").startswith("/")
    assert set_.pop("HTTPS_PROXY") in ("", "http://127.0.0.1:3128")  # the platform's own
    assert set_ == {
        "ZONE": "UTC",
        "LD_PRELOAD": "",
        "NODE_OPTIONS": "",
        "SKILLQUAY_REQUEST_FDS": "",
    }


def test_a_variable_of_the_proxy_or_the_door_cannot_be_set_by_a_job(tmp_path):
    wanted = {"HTTPS_PROXY": "http://x", "no_proxy": "*", "SKILLQUAY_REQUEST_FDS": "0,1", "ZONE": "UTC"}
    job = Job(
        ("true",), tmp_path, tmp_path, environment=wanted, network=(), request_handler=lambda asked: asked
    )
    given = layout.environment(job)
    assert given["ZONE"] == "UTC"
    assert [name for name in wanted if given[name] == wanted[name]] == ["ZONE"]


def test_a_run_shows_what_held_each_of_its_limits(publish_skill, queue_run, owner, settings):
    settings.SKILLQUAY_MAX_RUN_CPUS = 1
    run = execute_here(queue_run(publish_skill("bound", TELL)))
    assert run.limits["cpus"] == 1
    held = run_document(run, actor=owner)["sandbox"]["enforcement"]
    assert set(held) >= {"memory", "processes", "disk", "files", "descriptors", "cpu"}
    assert held["cpu"] in ("cgroup", "affinity")
