from __future__ import annotations

import pytest

from registry.packages.checks.trigger_tests import MAX_TESTS, read_trigger_tests
from registry.packages.package import PackageFile
from registry.packages.problems import LazyMessage

pytestmark = pytest.mark.row("C4")


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    return read_trigger_tests([PackageFile("tests/triggers.yaml", data)])


def test_a_package_without_the_file_asks_for_nothing():
    assert read_trigger_tests([PackageFile("SKILL.md", b"")]).tests == ()


def test_utterances_are_read_with_their_lines():
    found = read('match:\n  - summarise this\n  - "总结一下"\nnot_match:\n  - translate this\n')
    assert [(t.utterance, t.must_match, t.line) for t in found.tests] == [
        ("summarise this", True, 2),
        ("总结一下", True, 3),
        ("translate this", False, 5),
    ]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- a list\n", 1),
        ("match: one\n", 1),
        ("match:\n  - fine\nmust: [x]\n", 3),
        ("match:\n  - 12\n", 2),
        ("match:\n  - ''\n", 2),
        (f"match:\n  - {'x' * 501}\n", 2),
        ("match: [twice]\nnot_match:\n  - twice\n", 3),
        (b"match:\n  - \xff\n", 1),
        ("match:\n" + "".join(f"  - say {n}\n" for n in range(MAX_TESTS + 5)), MAX_TESTS + 2),
        ("#" * 70_000, 1),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text, line):
    (problem,) = read(text).problems
    assert (problem.code, problem.path, problem.line) == (
        "TRIGGER_TESTS_INVALID",
        "tests/triggers.yaml",
        line,
    )
    assert problem.severity == "warning"


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("match: one\n", {"field": "match"}),
        (f"match:\n  - {'x' * 501}\n", {"limit": 500}),
        ("match:\n" + "".join(f"  - say {n}\n" for n in range(MAX_TESTS + 5)), {"limit": MAX_TESTS}),
        ("#" * 70_000, {"limit": 65_536}),
    ],
)
def test_reason_is_translated_with_its_parameters(text, params):
    reason = read(text).problems[0].params["reason"]
    assert isinstance(reason, LazyMessage)
    assert reason.params == params


def test_an_empty_file_says_so():
    assert read("").problems != ()


@pytest.mark.parametrize(
    ("text", "code", "line", "params"),
    [
        ("match: [\n", "FRONT_MATTER_INVALID", 2, {"reason"}),
        ("match:\n  - &anchor x\n", "FRONT_MATTER_REFERENCE", 2, {"text"}),
        ("match: [x]\nmatch: [y]\n", "FRONT_MATTER_DUPLICATE", 2, {"field", "first"}),
        ("#" * 70_000, "TRIGGER_TESTS_INVALID", 1, {"reason"}),
    ],
)
def test_invalid_yaml_is_a_problem_of_this_file_and_not_of_the_front_matter(text, code, line, params):
    (problem,) = read(text).problems
    assert (problem.code, problem.line, problem.severity) == (code, line, "warning")
    assert (problem.path, problem.params.keys()) == ("tests/triggers.yaml", params)
    assert "front matter" not in problem.message().lower()
