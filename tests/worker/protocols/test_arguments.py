"""Protocol A: the argument vector and the last line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.packages.problems import Refusal
from tests.worker.protocols.running import call
from worker.protocols.formats.arguments import (
    MAX_ARGUMENT_BYTES,
    MAX_TOTAL_BYTES,
    argument_vector,
    parse_outputs,
)

NAMES = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,20}\Z")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def refusal(inputs):
    with pytest.raises(Refusal) as refused:
        argument_vector(inputs)
    return refused.value.problems[0]


@pytest.mark.row("A2")
@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("input_path", "--input-path"),
        ("output_dir", "--output-dir"),
        ("max_count", "--max-count"),
        ("inputPath", "--inputPath"),
        ("X1", "--X1"),
        ("a__b_", "--a--b-"),
    ],
)
def test_only_underscores_change(name, argument):
    assert argument_vector({name: "v"}) == (argument, "v")


@pytest.mark.row("A2")
@pytest.mark.parametrize(
    ("value", "word"),
    [
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-1.5, "-1.5"),
        (0.9, "0.9"),
        (10**30, "1" + "0" * 30),
        ("", ""),
        ("--x", "--x"),
        ('it\'s "q" $(id)\n`id`', 'it\'s "q" $(id)\n`id`'),
        ([1, "二", None], '[1,"二",null]'),
        ({"a": {"b": True}}, '{"a":{"b":true}}'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_each_type_has_its_word(value, word):
    assert argument_vector({"key": value}) == ("--key", word)


@pytest.mark.row("A2")
def test_arguments_precede_inputs_and_keep_their_text():
    given = ["build", "--x", "a b", "$(id)", True, 1.5, None, ["二"]]
    assert argument_vector({"max_count": 3}, given) == (
        *("build", "--x", "a b", "$(id)", "true", "1.5", '["二"]'),
        *("--max-count", "3"),
    )


@pytest.mark.row("A2")
def test_refused_argument_is_named_by_its_place():
    with pytest.raises(Refusal) as refused:
        argument_vector({}, ["a", "b\0"])
    found = refused.value.problems[0]
    assert (found.code, found.path) == ("ARGUMENT_NOT_STORABLE", "arguments/1")


@pytest.mark.row("A2")
def test_null_is_left_out_and_the_order_is_kept():
    assert argument_vector({"z": 1, "a": None, "b": 2}) == ("--z", "1", "--b", "2")


@pytest.mark.row("A2")
@pytest.mark.parametrize("name", ["", "1a", "_a", "a-b", "a b", "a\n", "é", "a;id", "--x", "a=b", "\ud800"])
def test_other_names_are_refused_with_their_place(name):
    found = refusal({name: 1})
    assert found.code == "ARGUMENT_NAME_INVALID"
    assert found.message().isprintable()
    assert found.path == "/" + ascii(name)[1:-1]


@pytest.mark.row("A2")
@pytest.mark.parametrize("value", ["a\0b", "\ud800", ["\udfff"], {"\ud800": 1}, float("nan"), [float("inf")]])
def test_what_no_argument_can_carry_is_refused(value):
    found = refusal({"key": value})
    assert (found.code, found.path) == ("ARGUMENT_NOT_STORABLE", "/key")


@pytest.mark.row("A2")
def test_sizes_beyond_the_system_are_refused_before_the_start():
    assert refusal({"a": "x" * (MAX_ARGUMENT_BYTES + 1)}).code == "ARGUMENTS_TOO_LARGE"
    assert (
        refusal({f"a{n}": "x" * 100_000 for n in range(MAX_TOTAL_BYTES // 100_000 + 1)}).code
        == "ARGUMENTS_TOO_LARGE"
    )


@pytest.mark.row("A2")
@given(st.dictionaries(NAMES, TEXTS, max_size=8))
def test_every_text_stands_in_the_vector_as_it_is(inputs):
    vector = argument_vector(inputs)
    assert list(vector[1::2]) == list(inputs.values())
    assert list(vector[0::2]) == ["--" + name.replace("_", "-") for name in inputs]


@pytest.mark.row("A2")
@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        NAMES, st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, st.lists), max_size=5
    )
)
def test_what_is_not_text_reads_back_as_json(inputs):
    vector = argument_vector(inputs)
    read = [
        json.loads(w) if not isinstance(v, str) else w
        for w, v in zip(vector[1::2], _said(inputs), strict=True)
    ]
    assert read == _said(inputs)


def _said(inputs):
    return [value for value in inputs.values() if value is not None]


@pytest.mark.row("A2", "A3")
@pytest.mark.parametrize(
    "script",
    [
        {"scripts/show.py": "import json, sys\nprint(json.dumps({'argv': sys.argv[1:]}))\n"},
        {"scripts/show.js": "console.log(JSON.stringify({argv: process.argv.slice(2)}))\n"},
        {"scripts/show.sh": 'printf \'{"argv": ["%s", "%s"]}\' "$1" "${#2}"\n'},
    ],
    ids=["python", "node", "bash"],
)
def test_hostile_values_reach_the_script_whole(script, tmp_path):
    value = 'it\'s "q" $(touch /job/output/x) `id`\n--other; 二'
    ran = call(script, tmp_path, inputs={"some_text": value})
    assert ran.outcome.outputs["argv"] in (["--some-text", value], ["--some-text", str(len(value))])
    assert ran.artifacts == {}


@pytest.mark.row("A2")
def test_argument_vector_reaches_the_script_unchanged(tmp_path):
    script = {"scripts/show.py": "import json, sys\nprint(json.dumps({'argv': sys.argv[1:]}))\n"}
    hostile = ["sub", 'it\'s "q" $(touch /job/output/x) `id`\n', "", "--", "*"]
    ran = call(script, tmp_path, arguments=hostile, inputs={"a": 1})
    assert ran.outcome.outputs["argv"] == [*hostile, "--a", "1"]
    assert ran.artifacts == {}


@pytest.mark.row("A3")
@pytest.mark.parametrize(
    ("stdout", "outputs"),
    [
        ('log\n{"a": 1}\n', {"a": 1}),
        ('{"a": 1}\r\n\n  \n', {"a": 1}),
        ('{"a": 1}\nlog', {}),
        ("", {}),
        ("[1]", {}),
        ("null", {}),
        ("{broken", {}),
        ('{"a": NaN}', {}),
        ('{"a": 1e999}', {}),
        ('{\n"a": 1\n}', {}),
        ('{"a": ' + "[" * 100_000, {}),
        ('{"a": ' + "9" * 5_000 + "}", {}),
    ],
)
def test_outputs_are_the_object_on_the_last_line(stdout, outputs):
    assert parse_outputs(stdout) == outputs


@pytest.mark.row("A3")
@settings(max_examples=50)
@given(st.text())
def test_no_output_upsets_the_reading(text):
    assert isinstance(parse_outputs(text), dict)


@pytest.mark.row("A3")
def test_success_is_exit_code_0_and_outputs_are_kept_either_way(tmp_path):
    ran = call({"scripts/a.sh": 'echo "{\\"n\\": 1}"; echo why >&2; exit 3\n'}, tmp_path)
    assert (ran.outcome.success, ran.outcome.failure_code) == (False, "SCRIPT_FAILED")
    assert ran.outcome.outputs == {"n": 1}
    assert ran.outcome.message == "the script ended with exit code 3"
    assert ran.ended.stderr == b"why\n"


@pytest.mark.row("A3")
def test_stdin_of_the_caller_reaches_the_script(tmp_path):
    ran = call({"scripts/a.py": "import sys\nprint(sys.stdin.read())\n"}, tmp_path, stdin='{"二": 2}')
    assert ran.outcome.outputs == {"二": 2}
