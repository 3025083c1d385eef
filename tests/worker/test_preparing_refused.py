"""Why nothing is made of what a version names, where no sandbox is needed to say so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from registry.actors import Actor
from registry.packages.problems import Refused
from worker.dependencies import building
from worker.dependencies.preparing import prepare_again
from worker.dependencies.queue import problem_of

pytestmark = pytest.mark.row("C6")


def _code(call, *args):
    with pytest.raises(Refused) as refused:
        call(*args)
    return refused.value.code


def test_a_python_that_this_site_has_not_is_refused():
    building._check_python([">=3"])
    assert _code(building._check_python, [">=3", "<3"]) == "DEPENDENCIES_PYTHON"


def test_a_missing_installer_is_named(monkeypatch):
    monkeypatch.setattr(building, "find_spec", lambda _name: None)
    assert _code(building._pip) == "INSTALLER_MISSING"


def test_one_that_has_not_failed_is_being_prepared():
    assert problem_of(SimpleNamespace(problem=None)).code == "PREPARING"


@pytest.mark.django_db
def test_a_version_that_names_nothing_is_not_prepared(hello, alice):
    assert _code(prepare_again, hello, Actor(user=alice)) == "PREPARATION_NONE"
