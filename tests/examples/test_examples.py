"""Every example is a good package, and every try of it gives the answer that it says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from registry.packages.problems import Refusal
from registry.packages.read_package import read_folder
from tests.examples.running import run
from tests.examples.tries import EXAMPLES, slugs, tries
from worker.protocols.entry_points import find_entry_points
from worker.protocols.formats.progress import parse_progress

TRIES = list(tries())
USER = "u-1"


@cache
def package(slug):
    return read_folder(EXAMPLES / slug)


@pytest.mark.row("A1", "B8", "C1", "D1", "E4")
@pytest.mark.parametrize("slug", slugs())
def test_an_example_is_a_good_package(slug):
    assert [p for p in package(slug).problems if p.severity != "notice"] == []
    assert package(slug).manifest.slug == slug


@pytest.mark.row("C3", "D1")
def test_every_kind_of_skill_has_an_example():
    packages = [package(slug) for slug in slugs()]
    assert {one.profile for one in packages} == {"agentskills", "single-file", "apexbridge"}
    assert {one.manifest.type for one in packages} >= {"direct", "service", "static", None}
    assert {one.manifest.context for one in packages} == {"inline", "fork"}
    assert any(one.manifest.paths for one in packages)
    suffixes = {
        path.rpartition(".")[2] for one in packages for path in one.paths if path.startswith("scripts/")
    }
    assert suffixes == {"py", "sh", "js", "ts"}


@pytest.mark.row("P11")
@pytest.mark.parametrize("slug", slugs())
def test_an_example_has_something_to_press_or_says_what_else(slug):
    one = package(slug)
    found = find_entry_points(one.paths, one.manifest, one.profile, lambda path: one.file(path).data)
    assert found.scripts or found.tools or found.prompt_only


# The cause of a failure is found when the run is recorded.
_OUTCOME_CODES = {"USAGE": "SCRIPT_FAILED"}


@pytest.mark.row("A2", "A3", "A5", "B1", "B2", "B3", "B6", "B8", "C5", "C8", "C10", "C11", "P11")
@pytest.mark.parametrize("one", TRIES, ids=str)
def test_a_try_gives_the_answer_that_it_says(one, tmp_path):
    tmp_path.chmod(0o755)
    expect = dict(one.expect)
    if code := expect.pop("refused", None):
        with pytest.raises(Refusal) as refused:
            run(package(one.slug), one.request, tmp_path)
        assert refused.value.code == code
        return
    ran = run(package(one.slug), replace(one.request, context={"user_id": USER}), tmp_path)
    code = _OUTCOME_CODES.get(expect.get("code", ""), expect.get("code", ""))
    expect.pop("code", None)
    assert ran.outcome.failure_code == code, (ran.outcome, ran.ended)
    _check_log(expect, ran.ended)
    if "artifacts" in expect:
        assert sorted(ran.artifacts) == expect.pop("artifacts")
    _check_outcome(expect, ran.outcome)
    assert expect == {}, "these expectations are not known"


def _check_log(expect, ended):
    stderr = ended.stderr.decode()
    assert expect.pop("stdout", "") in ended.stdout.decode()
    assert expect.pop("stderr", "") in stderr
    if "progress" in expect:
        assert [p for line in stderr.splitlines() if (p := parse_progress(line)) is not None] == expect.pop(
            "progress"
        )


def _check_outcome(expect, outcome):
    if "action" in expect:
        assert outcome.answer["action"] == expect.pop("action")
    assert outcome.metadata.items() >= expect.pop("metadata", {}).items()
    if "protocol" in expect:
        assert outcome.metadata["protocol"] == expect.pop("protocol")
    assert expect.pop("text", "") in str(outcome.output)
    for name in ("output", "outputs", "message"):
        if name in expect:
            assert getattr(outcome, name) == expect.pop(name)
    if "warnings" in expect:
        assert list(outcome.warnings) == expect.pop("warnings")
    if "memory_writes" in expect:
        told = [
            {**write, "ownerId": write["ownerId"].format(user_id=USER)}
            for write in expect.pop("memory_writes")
        ]
        assert list(outcome.memory_writes) == told
    if "steps" in expect:
        _check_steps(expect.pop("steps"), outcome.steps)


def _check_steps(expected, steps):
    assert [(step.step_id, step.name) for step in steps] == [(one["id"], one["name"]) for one in expected]
    for told, step in zip(expected, steps, strict=True):
        assert step.duration_ms is not None
        for name in ("input", "output"):
            assert name not in told or getattr(step, name) == told[name]
        assert (step.error["message"] if step.error else None) == told.get("error")
