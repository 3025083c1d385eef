"""Which messages are the same: normalization and the keys of groups."""

from __future__ import annotations

import random

import pytest

from worker.failures.grouping import MAX_MESSAGE, kind_of, normalize

pytestmark = pytest.mark.row("P6")

_WORDS = ("orders", "Zhang Wei", "北京", "it is", "a.b", "résumé")
# Each has values in braces; twelve causes as scripts, shells, databases and the platform word them.
_CAUSES = (
    ("ValueError", "no column {quoted} in {path}", "run.py"),
    ("KeyError", "{quoted}", "run.py"),
    ("HTTPError", "{n} Client Error: Not Found for url: {url}", "api.py"),
    ("ConnectionError", "connect ECONNREFUSED {address}", "api.py"),
    ("", "scripts/go.sh: line {n}: {path}: No such file or directory", ""),
    ("TimeoutError", "order {id} was not ready after {n} seconds", "run.py"),
    (
        "UnicodeDecodeError",
        "'utf-8' codec can't decode byte {hex} in position {n}: invalid start byte",
        "io.py",
    ),
    ("IndexError", "expected [{list}] for {email}", "run.py"),
    ("OperationalError", "duplicate key ({id}) at {date}", "db.py"),
    ("", "找不到文件「{word}{n}.xlsx」", ""),
    ("TypeError", "Cannot read properties of undefined (reading {quoted})", "run.js"),
    ("", "The script exceeded its limit of {n} seconds.", ""),
)


def _values(draw: random.Random) -> dict[str, str]:
    number = draw.randrange(10**9)
    word = draw.choice(_WORDS)
    hexed = f"{draw.getrandbits(128):032x}"
    return {
        "n": str(draw.choice((number, number / 1000, -number))),
        "word": word,
        "quoted": draw.choice((f"'{word} {number}'", f'"{word}"', f"'{hexed}'")),
        "path": draw.choice(("/tmp/{}/{}.csv", "data/{}/x{}", "C:\\data\\{}\\{}", "../{}/{}.json")).format(
            hexed[:6], number
        ),
        "url": f"https://api.example.com/v{number % 9}/{hexed}?page={number}",
        "address": draw.choice((f"10.0.{number % 256}.7:{number % 60000}", f"fe80::{hexed[:4]}:1")),
        "id": draw.choice(
            (f"{hexed[:8]}-{hexed[8:12]}-4abc-8abc-{hexed[:12]}", f"ORD-2026-{number}", str(number))
        ),
        "hex": f"0x{hexed[:2]}",
        "list": ", ".join(str(draw.randrange(99)) for _ in range(draw.randrange(1, 9))),
        "email": f"user{number}@mail{number % 7}.example.com",
        "date": draw.choice(
            ("2026-11-23T10:00:{:02}Z", "2026-11-23 09:{:02}:00.123", "2026-10-{:02}")
        ).format(number % 28 + 1),
    }


def test_ten_thousand_failures_of_twelve_causes_form_twelve_groups():
    draw = random.Random(19)
    keys = set()
    for number in range(10_000):
        name, template, file = _CAUSES[number % len(_CAUSES)]
        cause = {"type": name, "message": template.format(**_values(draw)), "file": file, "line": number}
        keys.add(kind_of("SCRIPT_FAILED", "", cause).key(1))
    assert abs(len(keys) - len(_CAUSES)) <= 1, len(keys)


@pytest.mark.parametrize(
    ("message", "normalized"),
    [
        ("no column 'date' in /tmp/a/b.csv, line 12", "no column <value> in <path>, line <n>"),
        ("can't open it, isn't there", "can't open it, isn't there"),
        ("expected [1, 2, 3], got [4]", "expected [<n>], got [<n>]"),
        ("token *** was refused", "token *** was refused"),
        ("invalid literal: '" + "x" * 5000, "invalid literal: <value>"),
        ("a\n\n  b\tc", "a b c"),
        ("", ""),
    ],
)
def test_values_become_placeholders(message, normalized):
    assert normalize(message) == normalized


def test_skill_code_type_file_and_message_make_the_key():
    cause = {"type": "ValueError", "message": "no rows", "file": "run.py", "line": 3}
    key = kind_of("SCRIPT_FAILED", "", cause).key(1)
    assert kind_of("SCRIPT_FAILED", "other", cause | {"line": 9}).key(1) == key
    others = [
        kind_of("SCRIPT_FAILED", "", cause).key(2),
        kind_of("OUTPUT_INVALID", "", cause).key(1),
        *(kind_of("SCRIPT_FAILED", "", cause | {name: "x"}).key(1) for name in ("type", "message", "file")),
    ]
    assert len({key, *others}) == 6


def test_failure_without_cause_is_grouped_by_its_message():
    assert kind_of("TIMEOUT", "Stopped after 30 s.", {}).message == "Stopped after <n> s."
    assert kind_of("TIMEOUT", "x", {"type": "TIMEOUT", "message": "y"}).type == ""


@pytest.mark.parametrize(
    "piece",
    ["'", "'a", "a.b-", "@a", "a/", "1.", ":", "<n>", "1,", "0x", "“", "\\", "\ud800", "\0", "9" * 99, "a1"],
)
def test_hostile_messages_are_bounded(piece):
    text = normalize(piece * 1_000_000)
    assert len(text) <= MAX_MESSAGE
    assert len(kind_of("C", piece * 1_000_000, {"type": piece * 999, "file": piece * 999}).key(1)) == 32
