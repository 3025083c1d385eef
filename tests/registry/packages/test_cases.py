"""The cases of a package: valid ones are read, and each misspelled or wrong field is named with its line."""

from __future__ import annotations

import pytest

from registry.packages.checks.cases import CASES_YAML, STATUSES, Expectation, parse_cases
from registry.packages.problems import LazyMessage
from registry.packages.read_package import read_files

pytestmark = pytest.mark.row("C2")
VALID = b"""
cases:
  - name: counts the rows
    script: count
    arguments: [tests/rows.csv, "--json"]
    expect:
      output: {rows: 3}
      artifacts: [rows.txt]
  - name: refuses letters
    inputs: {n: x}
    expect: {code: INVALID_PARAM}
  - name: only succeeds
"""


def test_valid_cases_are_read():
    found = parse_cases(VALID)
    assert found.problems == ()
    assert [(each.name, each.line) for each in found.cases] == [
        ("counts the rows", 3),
        ("refuses letters", 9),
        ("only succeeds", 12),
    ]
    first, second, third = found.cases
    assert (first.script, first.arguments) == ("count", ("tests/rows.csv", "--json"))
    assert first.expect == Expectation("succeeded", "", "subset", {"rows": 3}, ("rows.txt",))
    assert (second.inputs, second.expect) == ({"n": "x"}, Expectation("", "INVALID_PARAM"))
    assert third.expect == Expectation("succeeded")


WRONG = {
    "cases:\n- name: a\n  agruments: [x]": ("write `arguments`", 3),
    "cases:\n- name: a\n  expect: {ouput: 1}": ("write `output`", 3),
    "cases:\n- name: a\n  expect:\n    status: suceeded": ("write `succeeded`", 4),
    "cases:\n- name: a\n  colour: red": ("the fields are", 3),
    "cases:\n- script: a": ("`name`", 2),
    "cases:\n- name: 5": ("`name`", 2),
    "cases:\n- name: a\n  script: 5": ("`script`", 3),
    "cases:\n- name: a\n  arguments: x": ("`arguments`", 3),
    "cases:\n- name: a\n  inputs: [x]": ("`inputs`", 3),
    "cases:\n- name: a\n  expect: [x]": ("`expect`", 3),
    "cases:\n- name: a\n  expect: {output: 1, equals: 1}": ("only one", 3),
    "cases:\n- name: a\n  expect: {artifacts: [1]}": ("`artifacts`", 3),
    "cases:\n- name: a\n- name: a": ("duplicated", 3),
    "cases:\n- a": ("must be an object", 2),
    "case: []": ("one list", 1),
    "- a": ("one list", 1),
    "cases:\n" + "".join(f"- name: a{n}\n" for n in range(21)): ("first 20", 22),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_field_is_named_with_its_line_and_its_case_is_skipped(text):
    reason, line = WRONG[text]
    found = parse_cases(text.encode())
    assert [(each.code, each.severity, each.line) for each in found.problems] == [
        ("CASES_INVALID", "warning", line)
    ]
    assert reason in str(found.problems[0].params["reason"])
    assert len(found.cases) == {"first 20": 20, "duplicated": 1}.get(reason, 0)


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("cases:\n- name: a\n  agruments: [x]", {"field": "agruments", "known": "arguments"}),
        ("cases:\n- name: a\n  expect:\n    status: suceeded", {"known": "succeeded"}),
        ("cases:\n- name: a\n  expect:\n    status: x", {"names": STATUSES}),
        ("cases:\n- name: a\n  script: 5", {"field": "script"}),
        ("cases:\n- name: 5", {"limit": 100}),
    ],
)
def test_reason_is_translated_with_its_parameters(text, params):
    (problem,) = parse_cases(text.encode()).problems
    reason = problem.params["reason"]
    assert isinstance(reason, LazyMessage)
    assert reason.params == params
    marked = problem.message(lambda part: part.replace(reason.template, f"<{reason.template}>"))
    assert "<" in marked
    assert all(str(value) in marked for value in params.values() if isinstance(value, str))


@pytest.mark.parametrize("data", [b"\xff", b"a: [", b"x" * 300_000])
def test_unreadable_file_is_a_warning_of_the_package(data):
    head = b"---\nname: x\ndescription: y\n---\n# X\n"
    package = read_files([("SKILL.md", head), (CASES_YAML, data)])
    assert [(each.severity, each.path) for each in package.problems] == [("warning", CASES_YAML)]
