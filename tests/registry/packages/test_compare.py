"""Two packages held against each other: files, lines, manifest, schemas, and what the later may do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.packages.compare.lines import MAX_BYTES, common_pairs, compare_texts
from registry.packages.compare.permission_set import PermissionSet, permissions_of
from registry.packages.compare.schemas import compare_schemas
from registry.packages.compare.versions import Content, FileFacts, compare, compare_files
from registry.packages.package import Manifest, Security
from tests.checks import not_none

pytestmark = pytest.mark.row("P1")
PLAIN = Manifest(name="report", slug="report", display_name="Report", description="Reports.")


def facts(path, digest, **more):
    return FileFacts(path, 10, digest, is_text=True, **more)


def held(before: Manifest, after: Manifest, files=((), ())):
    return compare(Content(before, files[0]), Content(after, files[1]))


def test_files_are_added_removed_changed_and_renamed_by_their_bytes():
    before = (facts("a.md", "1"), facts("b.md", "2"), facts("old.md", "3"), facts("same.md", "4"))
    after = (facts("a.md", "9"), facts("c.md", "8"), facts("new.md", "3"), facts("same.md", "4"))
    kinds = {change.path: change.kind for change in compare_files(before, after)}
    assert kinds == {"a.md": "changed", "b.md": "removed", "c.md": "added", "new.md": "renamed"}


def test_a_file_that_may_be_executed_now_has_changed():
    (change,) = compare_files((facts("a.sh", "1"),), (facts("a.sh", "1", executable=True),))
    assert change.kind == "changed"


def test_words_that_changed_are_marked_and_the_rest_is_folded():
    lines = [f"line {n}" for n in range(40)]
    before = "\n".join([*lines, "the old word stays", *lines]).encode()
    found = compare_texts(before, before.replace(b"old word", b"new word"))
    (changed,) = [line for part in found.sections for line in part.lines if line.kind == "changed"]
    assert [piece.text for piece in changed.after if piece.changed] == ["new"]
    assert [part.folded for part in found.sections] == [True, False, True]
    assert (found.added, found.removed) == (1, 1)


def test_lines_with_little_in_common_are_removed_and_added():
    found = compare_texts(b"alpha beta\n", b"something else\n")
    assert [line.kind for part in found.sections for line in part.lines] == ["removed", "added"]


def test_a_pair_of_long_texts_without_order_is_compared():
    before = "\n".join(f"{n * 7919 % 3}" for n in range(6000)).encode()
    after = "\n".join(f"{n * 104729 % 3 * n % 2}" for n in range(6000)).encode()
    assert not compare_texts(before, after).too_large  # in a tenth of a second, where difflib takes minutes


@pytest.mark.parametrize("text", [b"x" * (MAX_BYTES + 1), b"\n".join(b"%d" % n for n in range(7000))])
def test_what_is_too_large_is_said_to_be(text):
    assert compare_texts(b"another\n", text).too_large


def test_long_texts_with_a_small_change_are_compared():
    lines = [b"%d" % n for n in range(50_000)]
    found = compare_texts(b"\n".join(lines), b"\n".join([*lines[:25_000], b"new", *lines[25_000:]]))
    assert (found.added, found.removed) == (1, 0)
    assert [part.folded for part in found.sections] == [True, False, True]
    assert [len(part.lines) + part.omitted for part in found.sections] == [24_997, 7, 24_997]
    changed = next(line for line in found.sections[1].lines if line.kind == "added")
    assert (changed.before_number, changed.after_number) == (None, 25_001)
    assert [(line.before_number, line.after_number) for line in found.sections[1].lines[-1:]] == [
        (25_003, 25_004)
    ]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_the_common_places_are_as_many_as_can_be(before, after):
    pairs = not_none(common_pairs(list(before), list(after), limit=99))
    assert all(before[i] == after[j] for i, j in pairs)
    assert pairs == sorted(set(pairs))
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, left in enumerate(before):
        for j, right in enumerate(after):
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else max(table[i][j + 1], table[i + 1][j])
    assert len(pairs) == table[-1][-1]


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_are_compared(before, after):
    found = compare_texts(before, after)
    numbers = [line.after_number for part in found.sections for line in part.lines if line.after_number]
    assert numbers == sorted(numbers)


def test_nothing_changed_in_what_it_may_do():
    found = held(PLAIN, replace(PLAIN, description="Reports weekly.", tags=("week",)))
    assert found.same_permissions
    assert not found.added_permissions
    assert [(field.name, field.added) for field in found.fields] == [
        ("description", ()),
        ("tags", ("week",)),
    ]


def test_what_it_may_now_do_is_told_with_what_it_lost():
    before = replace(
        PLAIN, security=Security(network="allowlist", network_allowlist=("a.org",), timeout_ms=1000)
    )
    after = replace(
        PLAIN, security=Security(network="allowlist", network_allowlist=("b.org",), timeout_ms=500)
    )
    told = {change.name: change for change in held(before, after).abilities}
    assert (told["hosts"].added, told["hosts"].removed, told["hosts"].broader) == (
        ("b.org",),
        ("a.org",),
        True,
    )
    assert (told["timeout_ms"].added, told["timeout_ms"].broader) == (("500",), False)


def test_new_scripts_and_another_way_to_be_started_are_told():
    after = replace(PLAIN, type="direct", context="fork", hooks={"Stop": "x"}, allowed_tools=("Bash",))
    found = held(PLAIN, after, ((), (facts("scripts/go.py", "1"), facts("scripts/notes.md", "2"))))
    told = {change.name: change.added for change in found.abilities}
    assert told["scripts"] == ("scripts/go.py",)
    assert {"type", "context", "hooks", "tools"} <= set(told)
    assert found.added_permissions.hooks == {"Stop: x"}


@pytest.mark.parametrize(
    ("asked", "had", "beyond"),
    [
        ({"hosts": {"a.x.org"}}, {"hosts": {"*.x.org"}}, set()),
        ({"hosts": {"*.x.org"}}, {"hosts": {"a.x.org"}}, {"*.x.org"}),
        ({"hosts": {"x.org"}}, {"hosts": {"*.x.org"}}, {"x.org"}),
        ({"tools": {"Bash(git log:*)"}}, {"tools": {"Bash"}}, set()),
        ({"tools": {"Bash"}}, {"tools": {"Bash(git log:*)"}}, {"Bash"}),
        ({"secrets": {"KEY"}}, {"environment": {"KEY=1"}}, {"KEY"}),
    ],
)
def test_a_permission_is_beyond_another_unless_that_covers_it(asked, had, beyond):
    made = [PermissionSet(**{name: frozenset(names) for name, names in one.items()}) for one in (asked, had)]
    found = made[0].beyond(made[1])
    assert getattr(found, next(iter(asked))) == beyond
    assert bool(found) == bool(beyond)


def test_a_manifest_that_asks_for_nothing_goes_beyond_nothing():
    quiet = permissions_of(replace(PLAIN, security=Security(filesystem="none")))
    assert not quiet
    assert not quiet.beyond(permissions_of(PLAIN))


TEXT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


def _with(**rule):
    return {"type": "object", "properties": {"a": {"type": "string", **rule}}}


def _unlisted(rule):
    return {**TEXT, "additionalProperties": rule}


@pytest.mark.parametrize(
    ("before", "after", "input_effect", "output_effect"),
    [
        (TEXT, {**TEXT, "required": ["a"]}, "breaking", "compatible"),
        ({**TEXT, "required": ["a"]}, TEXT, "compatible", "breaking"),
        (TEXT, {"type": "object", "properties": {}}, "breaking", "breaking"),
        ({"type": "object", "properties": {}}, TEXT, "compatible", "compatible"),
        (TEXT, _with(type=["string", "null"]), "compatible", "breaking"),
        (_with(type="number"), _with(type="integer"), "breaking", "compatible"),
        (_with(enum=["x", "y"]), _with(enum=["x"]), "breaking", "compatible"),
        (TEXT, _with(enum=["x"]), "breaking", "compatible"),
        (_with(enum=["x"]), _with(enum=["x", "z"]), "compatible", "breaking"),
        (_with(minLength=1), _with(minLength=2), "breaking", "compatible"),
        (_with(maxLength=9), TEXT, "compatible", "breaking"),
        (TEXT, _with(pattern="^x"), "unclear", "unclear"),
        (TEXT, _with(description="Words."), "compatible", "compatible"),
        (TEXT, _unlisted(False), "breaking", "compatible"),
        (TEXT, _unlisted({"type": "string"}), "breaking", "compatible"),
        (_unlisted({"type": "string"}), _unlisted(False), "breaking", "compatible"),
        (_unlisted(False), _unlisted({"type": "string"}), "compatible", "breaking"),
        (_unlisted(False), _unlisted({}), "compatible", "breaking"),
        (_unlisted({"type": "string"}), _unlisted(True), "compatible", "breaking"),
        (_unlisted({"type": "string"}), _unlisted({"type": "integer"}), "unclear", "unclear"),
        (None, TEXT, "breaking", "compatible"),
        (TEXT, None, "compatible", "breaking"),
    ],
)  # fmt: skip
def test_a_changed_schema_says_whom_it_breaks(before, after, input_effect, output_effect):
    sides: list[tuple[Literal["input", "output"], str]] = [("input", input_effect), ("output", output_effect)]
    for side, effect in sides:
        assert {change.effect for change in compare_schemas(before, after, side)} == {effect}, side


def test_unlisted_fields_that_stay_allowed_change_nothing():
    assert compare_schemas(TEXT, _unlisted({}), "input") == ()


def test_a_new_input_that_has_to_be_given_breaks_and_says_where():
    after = {"type": "object", "properties": {**TEXT["properties"], "b/c": {}}, "required": ["b/c"]}
    (change,) = compare_schemas(TEXT, after, "input")
    assert (change.pointer, change.effect) == ("/b~1c", "breaking")


def test_schemas_are_walked_into_lists_and_groups():
    deep = {"properties": {"rows": {"items": {"properties": {"n": {"maximum": 9}}}}}}
    (change,) = compare_schemas(
        deep, {"properties": {"rows": {"items": {"properties": {"n": {"maximum": 5}}}}}}, "input"
    )
    assert (change.pointer, change.effect) == ("/rows/*/n", "breaking")


def test_the_parameters_of_a_tool_are_compared_too():
    def manifest(**parameters):
        return replace(PLAIN, protocol="abp", abp={"tools": [{"name": "find", "parameters": parameters}]})

    found = held(manifest(q={"type": "string"}), manifest(q={"type": "string", "required": True}))
    assert found.is_breaking
    assert [tool.tool for tool in found.tools] == ["find"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "required", "enum", "minimum", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "items"]), _JSON), _JSON)
def test_schemas_of_strangers_raise_nothing(before, inner):
    compare_schemas(before, {**before, "properties": {"a": inner}, "enum": inner, "type": inner}, "input")
