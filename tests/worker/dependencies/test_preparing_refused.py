"""Why nothing is made of what a version names, where no sandbox is needed to say so."""

from __future__ import annotations

import errno

import pytest
from django.utils import timezone

from registry.core.leases import LEASE_TIME
from registry.identity.actors import Actor
from registry.packages.problems import CODES, Refusal
from worker.dependencies import build as making
from worker.dependencies.build_attempt import Build
from worker.dependencies.installers import installer
from worker.dependencies.queue import BuildLease, problem_of
from worker.dependencies.status import rebuild_dependencies
from worker.executors.run_status import status_of
from worker.models import DependencyBuild, DependencyBuildState, RunStatus
from worker.sandbox.policy import SandboxResult

pytestmark = pytest.mark.row("C6")


@pytest.fixture
def hold(db):
    """The right to write a preparation of Python packages."""
    row = DependencyBuild.objects.create(
        key="k",
        kind="python",
        spec="{}",
        state=DependencyBuildState.RUNNING,
        lease_until=timezone.now() + LEASE_TIME,
    )
    return BuildLease(row, row.attempt)


def _code(call, *args):
    with pytest.raises(Refusal) as refused:
        call(*args)
    return refused.value.code


def test_a_python_that_this_site_has_not_is_refused():
    installer._check_python([">=3"])
    assert _code(installer._check_python, [">=3", "<3"]) == "DEPENDENCIES_PYTHON"


def test_a_run_that_lacks_its_dependencies_is_refused_whatever_the_reason():
    why = [code for code in CODES if code.startswith("DEPENDENCIES_") and code != "DEPENDENCIES_TOO_MANY"]
    assert "DEPENDENCIES_HOST" in why
    assert {status_of(code) for code in why} == {RunStatus.REFUSED}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "DEPENDENCIES_DISK"),
        (OSError(errno.EACCES, "Permission denied"), "DEPENDENCIES_FAILED"),
    ],
)
def test_a_full_disk_is_told_from_what_a_package_names(hold, monkeypatch, error, code):
    def build(_hold, _check_stop):
        raise error

    monkeypatch.setattr(making, "build", build)
    making.run_build(hold)
    hold.job.refresh_from_db()
    assert (hold.job.state, hold.job.problem["code"]) == ("failed", code)


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        ("ERROR: [Errno 28] No space left on device", "DEPENDENCIES_DISK", ""),
        ("tar: File too large", "DEPENDENCIES_TOO_LARGE", ""),
        (
            "ERROR: No match for x\nERROR: No matching distribution found for x",
            "DEPENDENCIES_FAILED",
            "No matching",
        ),
        (
            "npm error code E404\nnpm error 404 Not Found - GET x\nnpm error 404\n",
            "DEPENDENCIES_FAILED",
            "404 Not",
        ),
        (
            "npm error code EUSAGE\nnpm error\nnpm error `npm ci` wants a lock",
            "DEPENDENCIES_FAILED",
            "`npm ci`",
        ),
        ("", "DEPENDENCIES_FAILED", "exited 1"),
    ],
)
def test_what_an_installer_said_last_is_told(hold, tmp_path, said, code, told):
    ended = SandboxResult("exited", 1, None, b"", said.encode(), b"", 0.1, "bwrap", {})
    no = Build(hold, tmp_path)._refusal(ended)
    assert no.code == code
    assert str(no.problems[0].params.get("reason", "")).startswith(told)


def test_a_missing_installer_is_named(monkeypatch):
    monkeypatch.setattr(installer, "find_spec", lambda _name: None)
    assert _code(installer._pip_folder) == "INSTALLER_MISSING"


def test_one_that_has_not_failed_is_being_prepared():
    assert problem_of(DependencyBuild(problem=None)).code == "PREPARING"


@pytest.mark.django_db
def test_a_version_that_names_nothing_is_not_prepared(hello, alice):
    assert _code(rebuild_dependencies, hello, Actor(user=alice)) == "PREPARATION_NONE"
