"""Why nothing is made of what a version names, where no sandbox is needed to say so."""

from __future__ import annotations

import errno
from types import SimpleNamespace

import pytest

from registry.actors import Actor
from registry.packages.problems import CODES, Refused
from worker.codes import status_of
from worker.dependencies import building, making
from worker.dependencies.attempt import Build
from worker.dependencies.preparing import prepare_again
from worker.dependencies.queue import Hold, problem_of
from worker.models import Preparation, PreparationState, Status
from worker.sandbox.policy import Ended

pytestmark = pytest.mark.row("C6")


@pytest.fixture
def hold(db):
    """The right to write a preparation of Python packages."""
    row = Preparation.objects.create(key="k", kind="python", asked="{}", state=PreparationState.RUNNING)
    return Hold(row, row.attempt)


def _code(call, *args):
    with pytest.raises(Refused) as refused:
        call(*args)
    return refused.value.code


def test_a_python_that_this_site_has_not_is_refused():
    building._check_python([">=3"])
    assert _code(building._check_python, [">=3", "<3"]) == "DEPENDENCIES_PYTHON"


def test_a_run_that_lacks_its_dependencies_is_refused_whatever_the_reason():
    why = [code for code in CODES if code.startswith("DEPENDENCIES_") and code != "DEPENDENCIES_TOO_MANY"]
    assert "DEPENDENCIES_HOST" in why
    assert {status_of(code) for code in why} == {Status.REFUSED}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "DEPENDENCIES_DISK"),
        (OSError(errno.EACCES, "Permission denied"), "DEPENDENCIES_FAILED"),
    ],
)
def test_a_full_disk_is_told_from_what_a_package_names(hold, monkeypatch, error, code):
    def build(_hold, _tick):
        raise error

    monkeypatch.setattr(making, "build", build)
    making.make(hold)
    hold.row.refresh_from_db()
    assert (hold.row.state, hold.row.problem["code"]) == ("failed", code)


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
    ended = Ended("exited", 1, None, b"", said.encode(), b"", 0.1, "bwrap", {})
    no = Build(hold, tmp_path)._refusal(ended)
    assert no.code == code
    assert str(no.problems[0].params.get("reason", "")).startswith(told)


def test_a_missing_installer_is_named(monkeypatch):
    monkeypatch.setattr(building, "find_spec", lambda _name: None)
    assert _code(building._pip) == "INSTALLER_MISSING"


def test_one_that_has_not_failed_is_being_prepared():
    assert problem_of(SimpleNamespace(problem=None)).code == "PREPARING"


@pytest.mark.django_db
def test_a_version_that_names_nothing_is_not_prepared(hello, alice):
    assert _code(prepare_again, hello, Actor(user=alice)) == "PREPARATION_NONE"
