from __future__ import annotations

import pytest

from portal.presenters.results import display_value, inputs_line, one_line
from tests.checks import not_none

pytestmark = pytest.mark.row("P5")


def test_a_list_of_flat_objects_is_a_table():
    table = display_value([{"a": 1, "b": "x"}, {"a": None, "c": True}])
    assert table.kind == "table"
    assert table.columns == ("a", "b", "c")
    assert table.rows == (("1", "x", ""), ("", "", "true"))


def test_nested_values_are_a_tree_that_says_what_it_leaves_off():
    tree = not_none(display_value({"rows": list(range(5000))}).tree)
    assert tree.children[0].size == 5000
    assert tree.children[0].children[-1].kind == "cut"
    assert tree.children[0].children[-1].size == 5000 - (len(tree.children[0].children) - 1)


def test_nesting_without_end_is_cut():
    deep: list = []
    for _ in range(150):
        deep = [deep, 1]
    assert display_value(deep).kind == "tree"


@pytest.mark.parametrize(("value", "format", "kind"), [
    ("#", "markdown", "markdown"), ("x", "", "text"), (3, "", "scalar"), (None, "", "none"), ({}, "", "none"),
])  # fmt: skip
def test_each_kind_is_known(value, format, kind):
    assert display_value(value, format=format).kind == kind


def test_inputs_and_outcome_are_one_line():
    line = inputs_line(
        {"action": "analyze", "inputs": {"days": 7, "city": "北京", "data_path": {"artifact": "r/a.csv"}}}
    )
    assert line == "analyze · days=7 · city=北京 · data_path=a.csv"
    assert one_line("a\n b" + "x" * 500).startswith("a bx")
    assert len(one_line("x" * 500)) == 120
