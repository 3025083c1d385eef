"""Which parameters accept a file."""

from __future__ import annotations

import pytest

from registry.packages.command_lines import Parameter, may_be_file

pytestmark = [pytest.mark.row("A7", "P10")]


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (Parameter("source", "source"), True),
        (Parameter("config", "config", ("--config",), help="Path to a JSON file"), True),
        (Parameter("表", "表", ("--表",), help="要读取的文件"), True),
        (Parameter("rows", "rows", ("--rows",), file="input"), True),
        (Parameter("title", "title", ("--title",), help="Title of the page"), False),
        (Parameter("out", "out", file="output"), False),
        (Parameter("count", "count", type="integer"), False),
        (Parameter("mode", "mode", choices=("file", "text")), False),
        (Parameter("files", "files", ("--files",), min_values=0, max_values=0, help="List files"), False),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_texts_that_may_name_a_file_accept_one(parameter, expected):
    assert may_be_file(parameter) is expected
