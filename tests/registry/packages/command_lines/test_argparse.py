"""What is read of argparse scripts equals the real parser, which accepts the calls that are built."""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.packages.command_lines import build_arguments, read_command_line
from tests.registry.packages.command_lines.argparse_scripts import COMPUTED, FLAT, SUBCOMMANDS, real_parser

pytestmark = pytest.mark.row("A7")

SCRIPTS = {"flat": FLAT, "subcommands": SUBCOMMANDS}
READ = {name: read_command_line("scripts/x.py", source) for name, source in SCRIPTS.items()}
PARSERS = {name: real_parser(source) for name, source in SCRIPTS.items()}
_COUNTS: dict[Any, tuple[int, int | None]] = {None: (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


def _real(parser: argparse.ArgumentParser) -> dict[str, Any]:
    parameters, subcommands = [], {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            first_names: dict[int, str] = {}
            for name, each in action.choices.items():
                first_names.setdefault(id(each), name)
            subcommands = {name: _real(action.choices[name]) for name in first_names.values()}
        elif not isinstance(action, argparse._HelpAction | argparse._VersionAction):
            count = _COUNTS.get(action.nargs) or (action.nargs, action.nargs)
            choices = tuple(map(str, action.choices)) if action.choices else ()
            is_required = action.required if action.option_strings else action.nargs not in ("?", "*")
            row = (action.dest, tuple(action.option_strings), count, choices, is_required)
            parameters.append((*row, "type" if action.type in (int, float) else ""))
    groups = [[each.dest for each in group._group_actions] for group in parser._mutually_exclusive_groups]
    return {"parameters": parameters, "subcommands": subcommands, "groups": groups}


def _read(level) -> dict[str, Any]:
    names = {each.id: each.name for each in level.parameters}
    return {
        "parameters": [
            (each.name, each.flags + each.negative_flags, (each.min_values, each.max_values), each.choices,
             each.required, "type" if each.type != "text" else "")
            for each in level.parameters
        ],
        "subcommands": {each.name: _read(each) for each in level.subcommands},
        "groups": [[names[id] for id in group.ids] for group in level.groups],
    }  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_read_parser_equals_the_real_one(name):
    assert _read(READ[name].root) == _real(PARSERS[name])
    assert READ[name].kind == "fields"
    assert READ[name].gaps == ()


def test_texts_defaults_and_files_are_read():
    by_name = {each.name: each for each in READ["flat"].root.parameters}
    assert READ["flat"].description == "Converts."
    assert by_name["mode"].help == "50% of fast, slow"
    assert (by_name["out_file"].default, by_name["names"].default) == ("a.pdf", ("a", "b"))
    assert (by_name["input"].file, by_name["out_file"].file, by_name["mode"].file) == ("input", "output", "")
    assert [each.name for each in by_name.values() if each.hidden] == ["secret"]
    assert [each.name for each in by_name.values() if each.repeated] == ["tag", "v"]


def test_computed_parts_are_gaps():
    found = read_command_line("scripts/x.py", COMPUTED)
    assert [(gap.reason, gap.line) for gap in found.gaps] == [
        ("computed_name", 4),
        ("conditional", 7),
        ("computed_value", 5),
    ]
    assert found.root.accepts_unknown
    assert found.root.parameters[0].default_computed
    assert not found.is_complete


def test_computed_requirement_is_a_gap():
    source = (
        "import argparse, sys\np = argparse.ArgumentParser()\n"
        "p.add_argument('--low', required='--demo' not in sys.argv)\np.add_argument('--high', required=1)\n"
        "p.parse_args()\n"
    )
    found = read_command_line("scripts/x.py", source)
    assert [(gap.reason, gap.line) for gap in found.gaps] == [("computed_value", 3)]
    assert [each.required for each in found.root.parameters] == [False, True]


_WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=0x4E2D, exclude_categories=["Cs"]), max_size=8)


def _one(parameter) -> st.SearchStrategy[Any]:
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    return st.integers(-99, 99).map(str) if parameter.type == "integer" else _WORDS


def _value(parameter) -> st.SearchStrategy[Any]:
    if parameter.is_switch:
        if parameter.repeated:
            return st.integers(1, 3)
        return st.booleans() if parameter.negative_flags else st.just(True)
    if parameter.max_values == 1 and not parameter.repeated:
        is_optional = not parameter.min_values and parameter.flags
        return _one(parameter) | st.just(True) if is_optional else _one(parameter)
    items = _one(parameter)
    if parameter.max_values != 1 and parameter.flags:  # argparse has no way to pass a second word with "-"
        items = items.filter(lambda word: not word.startswith("-"))
    return st.lists(items, min_size=max(parameter.min_values, 1), max_size=parameter.max_values or 3)


@st.composite
def _calls(draw, name):
    read = READ[name]
    commands = draw(st.sampled_from(list(read.commands()))) if read.root.subcommands else ()
    values = {}
    for level in read.levels(commands):
        required = {draw(st.sampled_from(group.ids)) for group in level.groups}
        grouped = {id for group in level.groups for id in group.ids}
        for parameter in level.parameters:
            is_required = parameter.required or parameter.id in required
            if is_required or (parameter.id not in grouped and draw(st.booleans())):
                is_grouped = (
                    parameter.id in grouped
                )  # argparse regards a value equal to the default as omitted
                strategy = _one(parameter) if is_grouped and not parameter.is_switch else _value(parameter)
                values[parameter.id] = draw(strategy)
    return values, commands


@pytest.mark.parametrize("name", SCRIPTS)
@given(data=st.data())
def test_real_parser_reads_the_chosen_values_from_the_built_call(name, data):
    values, commands = data.draw(_calls(name))
    if name == "subcommands" and not commands:
        return
    words = build_arguments(READ[name], values, commands)
    error = io.StringIO()
    try:
        with contextlib.redirect_stderr(error):
            parsed = vars(PARSERS[name].parse_args(words))
    except SystemExit:
        raise AssertionError((words, error.getvalue())) from None
    for level in READ[name].levels(commands):
        for parameter in level.parameters:
            if parameter.id in values and not parameter.is_switch:
                _assert_same(parameter, values[parameter.id], parsed[parameter.name])


def _assert_same(parameter, chosen, parsed):
    if chosen is True:
        assert parsed in (9, None)
    elif parameter.has_many_values:
        assert [str(each) for each in parsed] == chosen
    else:
        assert str(parsed) == (str(Path(chosen)) if parameter.name == "input" else chosen)
