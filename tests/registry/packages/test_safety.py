"""Which fields ask: those that no list calls safe and that mean something."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.packages.compare.permission_set import PermissionSet
from registry.packages.package import Manifest, Security
from registry.packages.read_package import read_upload
from registry.packages.rule_names import matches, normalize
from registry.packages.unsafe_properties import (
    SAFE,
    RequestedPermissions,
    permissions_from_document,
    requested_permissions,
    unsafe_properties,
)

pytestmark = pytest.mark.row("D6")

EACH = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMED = ("hello", "hello", "Hello", "Says hello.")


def unsafe(has_scripts=False, **fields):
    return unsafe_properties(Manifest(*NAMED, **fields), has_scripts=has_scripts)


def read(front_matter):
    text = f"---\nname: hello\ndescription: Says hello.\n{front_matter}\n---\n# Hello\n"
    return read_upload(text.encode(), filename="SKILL.md").manifest


def test_the_safe_properties_are_the_thirty_of_the_document():
    assert len(SAFE) == 30
    assert not SAFE & {"allowedTools", "hooks", "shell"}


@pytest.mark.parametrize(
    "line",
    [
        "version: 1.0.0",
        "when_to_use: At dawn.",
        "argument-hint: <file>",
        "arguments: [path]",
        "model: opus",
        "effort: high",
        "context: fork",
        "agent: reviewer",
        "user-invocable: false",
        "disable-model-invocation: true",
        "paths: [src/**]",
        "displayName: Grüezi",
        "aliases: [hi]",
        "is-hidden: true",
        "loaded_from: disk",
        "type: direct",
        "tags: [text]",
        "license: MIT",
        "triggers: [say hello]",
        "metadata: {author: me, version: '1.0'}",
        "metadata: {runner: {needs: [docker]}, short-description: x, hooks: {Stop: x}}",
        "metadata: text",
        "requires: {mcp: [github]}",
        "security: {timeout_ms: 1000, memory_mb: 64, filesystem: none, network: none}",
        "security: {filesystem: read-only}",
        "permissions: {network: false, filesystem: true}",
        "cacheable: true\nttl: 60",
    ],
)
def test_a_listed_field_asks_nobody(line):
    assert unsafe_properties(read(line), has_scripts=False) == ()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("allowed-tools: Read, Bash(git log:*)", "allowed_tools"),
        ("hooks: {PreToolUse: [{command: [echo]}]}", "hooks"),
        ("hooks: {PreToolUse: []}", "hooks"),
        ("shell: [bash]", "shell"),
        ("requires: [docs/other]", "requires"),
        ("security: {environment: {A: b}}", "security.environment"),
        ("security: {secrets: [KEY]}", "security.secrets"),
        ("security: {network: allowlist, network_allowlist: [a.example]}", "security.network"),
        ("security: {sudo: true}", "security.sudo"),
        ("permissions: {exec: true}", "permissions.exec"),
        ("metadata: {skillquay-hooks: '{\"Stop\": 1}'}", "hooks"),
        ("metadata: {skillquay-sudo: x}", "sudo"),
        ("sudo: true", "sudo"),
        ("sudo: false", "sudo"),
        ("sudo: 0", "sudo"),
        ("sudo: ''", "sudo"),
        ("name-of-a-new-field: x", "name-of-a-new-field"),
    ],
)
def test_what_is_not_listed_asks_as_soon_as_it_says_something(line, name):
    assert name in unsafe_properties(read(line), has_scripts=False)


@pytest.mark.parametrize("value", ["null", "[]", "{}", "~"])
@pytest.mark.parametrize("name", ["sudo", "hooks", "shell", "allowed-tools", "requires"])
def test_a_field_that_means_nothing_asks_nobody(name, value):
    assert unsafe_properties(read(f"{name}: {value}"), has_scripts=False) == ()


def test_a_script_asks_by_itself():
    assert unsafe(has_scripts=True) == ("scripts/",)


def test_every_field_that_a_manifest_has_or_gets_is_listed_or_asks():
    """A field that somebody adds to Manifest asks until it is listed here and there."""
    asking = {"allowed_tools", "hooks", "shell", "requires", "endpoints", "runtime"}
    given_away = {"metadata", "extra", "security", "name", "description"}
    for field in dataclasses.fields(Manifest):
        if field.name in given_away or field.name == "slug" or field.name == "display_name":
            continue
        said = object()
        assert (unsafe(**{field.name: said}) == (field.name,)) is (field.name in asking), field.name
    for field in dataclasses.fields(Security):
        changed: dict[str, Any] = {field.name: ("other",)}
        found = unsafe(security=dataclasses.replace(Security(), **changed))
        assert (found == ()) is (field.name in ("timeout_ms", "memory_mb")), field.name


@EACH
@given(st.text(min_size=1, max_size=20), st.booleans() | st.integers() | st.text(max_size=5))
def test_an_unlisted_field_never_makes_less_unsafe(name, value):
    before = unsafe(hooks={"Stop": "x"})
    assert set(before) <= set(unsafe(hooks={"Stop": "x"}, extra={name: value}))


@EACH
@given(st.dictionaries(st.text(max_size=8), st.text(max_size=300) | st.integers(), max_size=4))
def test_what_was_granted_is_kept_whole_and_covers_itself(extra):
    asks = requested_permissions(Manifest(*NAMED, extra=extra, allowed_tools=("Read",)), has_scripts=True)
    assert permissions_from_document(asks.document()) == asks
    assert not asks.beyond(asks)
    assert not asks.beyond(asks | RequestedPermissions(PermissionSet(hosts=frozenset({"a.example"}))))


def test_a_long_value_is_told_short_and_apart_from_others():
    one, other = (requested_permissions(read(f"sudo: {'a' * 5000}{end}"), has_scripts=False) for end in "xy")
    assert one.beyond(other)
    assert len(next(iter(one.properties))) < 150


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("/docs/Report", "docs/report"),
        (" report ", "report"),
        ("/docs/:*", "docs/:*"),
        ("rep:*", "rep:*"),
        ("_canonical_report", "_canonical_report"),
        ("_canonical_:*", "_canonical_:*"),
        (":*", None),
        ("", None),
        ("docs/", None),
        ("a/b/c", None),
        ("docs/re*", None),
        ("re port", None),
        ("报告", None),
        ("a" * 200, None),
    ],
)
def test_a_rules_name_is_normal_or_none(written, name):
    assert normalize(written) == name


@pytest.mark.parametrize(
    ("name", "is_about"),
    [
        ("docs/report", True),
        ("report", True),
        ("docs/rep:*", True),
        ("docs/report:*", True),
        ("rep:*", True),
        ("do:*", True),
        ("docs/repor", False),
        ("repo", False),
        ("port:*", False),
        ("docs/reports:*", False),
    ],
)
def test_a_name_is_exact_or_a_beginning(name, is_about):
    assert matches(name, ("docs/report", "report")) is is_about
