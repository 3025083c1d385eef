"""Version numbers: read kindly, sorted as semver does."""

# ruff: noqa: SIM905
from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semver import Version

from registry.packages.version_numbers import FIRST_VERSION, next_patch, normalise, parse, precedence

pytestmark = pytest.mark.row("P1")
ORDERED = (
    "0.0.1 0.1.0 0.9.9 0.10.0 1.0.0-0 1.0.0-1 1.0.0-10 1.0.0-A 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta "
    "1.0.0-alpha-b 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0 1.10.0 2.0.0 10.0.0"
).split()


def test_precedence_sorts_as_semver() -> None:
    backwards = ORDERED[::-1]
    assert sorted(backwards, key=precedence) == ORDERED


NUMBER = st.integers(0, 10**9)
PART = st.one_of(st.integers(0, 999).map(str), st.from_regex(r"[a-zA-Z-][0-9a-zA-Z-]{0,3}", fullmatch=True))


@st.composite
def numbers(draw: st.DrawFn) -> str:
    pre = ".".join(draw(st.lists(PART, max_size=4)))
    return str(Version(draw(NUMBER), draw(NUMBER), draw(NUMBER), pre or None))


def _compare(a: str, b: str) -> int:
    return Version.parse(a).compare(b)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(numbers(), max_size=12))
def test_precedence_agrees_with_the_library_always(found: list[str]) -> None:
    by_library = sorted(found, key=functools.cmp_to_key(_compare))
    assert [precedence(one) for one in sorted(found, key=precedence)] == [
        precedence(one) for one in by_library
    ]
    assert all(
        len(precedence(one)) <= 200 and set(precedence(one)) <= set("0123456789abcdef") for one in found
    )


def test_the_longest_versions_fit_their_column() -> None:
    for text in (
        "9" * 20 + "." + "9" * 20 + "." + "9" * 22,
        "1.0.0-" + "z" * 58,
        "1.0.0-" + ".".join("a" * 29),
    ):
        assert len(precedence(text)) <= 200


def test_build_metadata_does_not_count() -> None:
    assert precedence("1.0.0+a") == precedence("1.0.0+b") == precedence("1.0.0")


READ = {
    "1.0": "1.0.0",
    "1": "1.0.0",
    "v1.2.3": "1.2.3",
    "1.2.3": "1.2.3",
    " 1.2.3 ": "1.2.3",
    "2026.01.05": "2026.1.5",
    "1.0-beta": "1.0.0-beta",
    "1.0.0-rc.1+build.5": "1.0.0-rc.1+build.5",
    "": None,
    "latest": None,
    "1.2.3.4": None,
    "1..2": None,
    "1.0.0-": None,
    "1.0.0-01": None,
    "1.0.0-a..b": None,
    "^1.0.0": None,
    "1.0.0\n2": None,
    "１.０.０": None,
    "1." + "9" * 70: None,
}


@pytest.mark.row("C2")
@pytest.mark.parametrize("written", READ)
def test_versions_are_read_kindly(written: str) -> None:
    assert normalise(written) == READ[written]


def test_only_semver_parses() -> None:
    assert parse("1.0") is None
    assert parse("1.0.0" + "0" * 70) is None
    assert str(parse("1.0.0-a+b")) == "1.0.0-a+b"


def test_the_next_patch_follows_the_latest() -> None:
    assert next_patch(None) == FIRST_VERSION
    assert next_patch("1.2.3") == "1.2.4"
    assert next_patch("1.2.3-rc.1") == "1.2.3"
