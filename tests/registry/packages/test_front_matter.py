"""Front matter: what YAML can do to a reader, and what people really write."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import FrontMatter, read_skill_md
from registry.packages.problems import Refusal

pytestmark = pytest.mark.row("C2")


def read(header: str, body: str = "body\n") -> FrontMatter:
    return read_skill_md(f"---\n{header}\n---\n{body}".encode(), Limits())


def codes(front: FrontMatter) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in front.problems]


HOSTILE = {
    "alias": ("a: &x 1\nb: *x", "FRONT_MATTER_REFERENCE", 2),
    "billion laughs": (
        "a: &a [x,x]\n" + "\n".join(f"b{i}: &b{i} [*a,*a,*a]" for i in range(20)),
        "FRONT_MATTER_REFERENCE",
        2,
    ),
    "merge": ("a: {b: 1}\n<<: *a", "FRONT_MATTER_REFERENCE", 3),
    "tag": ("a: !!python/object/apply:os.system ['id']", "FRONT_MATTER_REFERENCE", 2),
    "binary tag": ("a: 1\nb: !!binary aGk=", "FRONT_MATTER_REFERENCE", 3),
    "own tag": ("a: !x y", "FRONT_MATTER_REFERENCE", 2),
    "tagged key": ("!!str a: y", "FRONT_MATTER_REFERENCE", 2),
    "duplicate": ("name: a\ndescription: b\nname: c", "FRONT_MATTER_DUPLICATE", 4),
    "duplicate below": ("a:\n  b: 1\n  b: 2", "FRONT_MATTER_DUPLICATE", 4),
    "duplicate in another spelling": ('a: 1\n"a": 2', "FRONT_MATTER_DUPLICATE", 3),
    "deep lists": ("a: " + "[" * 900 + "]" * 900, "FRONT_MATTER_TOO_DEEP", 2),
    "deep open lists": ("a: " + "[" * 60_000, "FRONT_MATTER_TOO_DEEP", 2),
    "deep open mappings": ("a: " + "{a: " * 15_000, "FRONT_MATTER_TOO_DEEP", 2),
    "deep by indenting": ("\n".join(" " * i + f"k{i}:" for i in range(40)), "FRONT_MATTER_TOO_DEEP", None),
    "many values": ("a: [" + "1," * 10_001 + "]", "FRONT_MATTER_TOO_MANY", 2),
    "list as key": ("? [a, b]\n: c", "FRONT_MATTER_KEY", 2),
    "too large": ("a: " + "x" * 70_000, "FRONT_MATTER_TOO_LARGE", 2),
    "a list": ("- a\n- b", "FRONT_MATTER_NOT_FIELDS", 2),
    "a text": ("hello", "FRONT_MATTER_NOT_FIELDS", 2),
    "NUL by escape": ('name: a\nb: "x\\0y"', "TEXT_NOT_STORABLE", 3),
    "lone surrogate by escape": ('name: a\nb: "\\ud800"', "TEXT_NOT_STORABLE", 3),
    "NUL in a key": ('"a\\0": 1', "TEXT_NOT_STORABLE", 2),
    "control character": ("name: a\nb: x\x07y", "FRONT_MATTER_INVALID", 3),
    "tab as indent": ("a:\n\tb: 1", "FRONT_MATTER_INVALID", 3),
    "directive": ("%YAML 1.1", "FRONT_MATTER_INVALID", None),
    "no colon": ("name: a\ndescription", "FRONT_MATTER_INVALID", None),
    "unprintable escape": ('a: "\\xZZ"', "FRONT_MATTER_INVALID", 2),
    "code point beyond Unicode": ('a: "\\UFFFFFFFF"', "FRONT_MATTER_INVALID", 2),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_front_matter_is_a_problem_with_its_line(kind: str) -> None:
    header, code, line = HOSTILE[kind]
    front = read(header)
    assert front.is_broken
    assert front.problems[0].code == code
    assert front.problems[0].line
    assert line in (None, front.problems[0].line)
    assert front.problems[0].message().isprintable()


def test_scalars_are_json_and_nothing_else() -> None:
    values = read(
        "a: yes\nb: true\nc: 0x1F\nd: 010\ne: 1:30\nf: 2024-01-05\ng: .inf\nh: 1e999\ni: ~\nj: null\nk:\n"
        "l: 1.5\nm: -7\nn: 12345678901234567890\no: .nan\np: 1_000\nq: 1e3\nr: +1\ns: '1'\nt: 2024-01-05 10:00:00"
    ).values
    assert values == {
        "a": "yes",
        "b": True,
        "c": "0x1F",
        "d": "010",
        "e": "1:30",
        "f": "2024-01-05",
        "g": ".inf",
        "h": "1e999",
        "i": None,
        "j": None,
        "k": None,
        "l": 1.5,
        "m": -7,
        "n": "12345678901234567890",
        "o": ".nan",
        "p": "1_000",
        "q": 1000.0,
        "r": "+1",
        "s": "1",
        "t": "2024-01-05 10:00:00",
    }


def test_names_and_versions_stay_the_text_that_was_written() -> None:
    front = read(
        "name: 007\ndisplayName: true\ndescription: 1e3\nversion: 1.10\nmetadata:\n  version: 2.50\n  n: 2.50"
    )
    assert front.values == {
        "name": "007",
        "displayName": "true",
        "description": "1e3",
        "version": "1.10",
        "metadata": {"version": "2.50", "n": 2.5},
    }


def test_keys_are_texts() -> None:
    assert read("1: a\ntrue: b\n~: c\n2024-01-01: d").values == {
        "1": "a",
        "true": "b",
        "~": "c",
        "2024-01-01": "d",
    }


MENDED = {
    "a colon": ("description: Use when: always", "Use when: always"),
    "a colon at the end": ("description: Use this:", "Use this:"),
    "bold": ("description: **bold** words", "**bold** words"),
    "at": ("description: @someone", "@someone"),
    "back quote": ("description: `code` runs", "`code` runs"),
    "percent": ("description: %d things", "%d things"),
    "two brackets": ("description: [file] [mode]", "[file] [mode]"),
    "braces and more": ("description: {name} of the file", "{name} of the file"),
    "quote and more": ('description: "Foo" and: bar', '"Foo" and: bar'),
    "apostrophe": ("description: it's: a 'test'", "it's: a 'test'"),
    "over two lines": ("description: Use when: a\n  and b", "Use when: a and b"),
}


@pytest.mark.parametrize("kind", MENDED)
def test_an_unquoted_value_is_read_as_text_with_a_notice(kind: str) -> None:
    header, expected = MENDED[kind]
    front = read(f"name: x\n{header}\ntags: [a]")
    assert front.values == {"name": "x", "description": expected, "tags": ["a"]}
    assert codes(front) == [("FRONT_MATTER_QUOTED", 3)]
    assert front.problems[0].severity == "notice"


def test_what_quoting_does_not_mend_keeps_its_first_problem() -> None:
    front = read("description: a: b\n  - c\n\tx")
    assert front.problems[0].code == "FRONT_MATTER_INVALID"


def test_good_values_are_left_alone_where_one_is_mended() -> None:
    front = read(
        "name: \"a: b\"\nc: 'd''e'\nf: {g: h}\ni: [\n  j]\nk: |\n  l: m: n\n\n  q: r: s\ndescription: o: p # q"
    )
    assert front.values["name"] == "a: b"
    assert front.values["c"] == "d'e"
    assert front.values["f"] == {"g": "h"}
    assert front.values["i"] == ["j"]
    assert front.values["k"] == "l: m: n\n\nq: r: s\n"
    assert codes(front) == [("FRONT_MATTER_QUOTED", 11)]


@pytest.mark.parametrize("opening", ["", "\ufeff", "\n", "\r\n\r\n", "  \n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_blank_lines_and_line_ends_do_no_harm(opening: str, end: str) -> None:
    text = opening + end.join(["---", "name: a", "description: b", "---  ", "body", ""])
    front = read_skill_md(text.encode(), Limits())
    assert front.values == {"name": "a", "description": "b"}
    assert front.body == f"body{end}"


def test_lines_count_from_the_top_of_the_file() -> None:
    front = read_skill_md(b"\n\n---\nname: a\ntriggers:\n  phrases:\n    - x\n    - y\n---\n", Limits())
    assert front.line("name") == 4
    assert front.line("triggers", "phrases", "1") == 8
    assert front.line("triggers", "absent") == 5
    assert front.line("absent") is None
    assert front.body_line == 10


def test_text_without_front_matter_is_all_body() -> None:
    front = read_skill_md(b"# Title\n\n---\n\ntext", Limits())
    assert (front.values, front.body, codes(front)) == (
        {},
        "# Title\n\n---\n\ntext",
        [("FRONT_MATTER_MISSING", 1)],
    )


def test_front_matter_that_is_never_closed_is_a_problem() -> None:
    assert codes(read_skill_md(b"---\nname: a\n", Limits())) == [("FRONT_MATTER_UNCLOSED", 1)]


def test_empty_front_matter_is_no_problem() -> None:
    assert codes(read_skill_md(b"---\n---\nbody", Limits())) == []


@pytest.mark.parametrize("text", [b"", b"---", b"---\n---", b"---\n...\n", b"\n\n"])
def test_the_smallest_files_are_read(text: bytes) -> None:
    assert read_skill_md(text, Limits()).values == {}


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    with pytest.raises(Refusal) as caught:
        read_skill_md(b"a\nb\n\xff", Limits())
    assert (caught.value.code, caught.value.problems[0].line) == ("SKILL_NOT_TEXT", 3)
