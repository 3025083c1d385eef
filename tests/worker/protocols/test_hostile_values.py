"""Values arrive exactly as they were given, however a script is spoken to."""

from __future__ import annotations

import json

import pytest

from registry.packages.problems import Refusal
from tests.worker.protocols.running import PLAIN, SINGLE, call
from worker.protocols.formats.arguments import MAX_ARGUMENT_BYTES

pytestmark = pytest.mark.row("A2", "B1", "C8", "C9")
ABP = """---
name: x
description: A skill of a test.
version: 1.0.0
type: direct
protocol: abp
abp: {kind: query, tools: [{name: echo}]}
capabilities: [a]
tags: [a]
triggers: {phrases: [a]}
input_schema: {type: object}
output_schema: {}
security: {timeout_ms: 20000}
resources: {}
---
"""


def deep(levels):
    value: object = "bottom"
    for _ in range(levels):
        value = [value]
    return value


HOSTILE = {
    "quotes": "it's \"q\" \\ `id` $(id) ${HOME} %s {0} '",
    "lines": "one\ntwo\r\nthree\ttab\x1b[31m\x7f\u2028",
    "emoji": "🙂👩‍👩‍👧‍👦\u202e二\ufeff\U0010ffff",
    "long": "长" * 40_000,
    "words": ["--x", "-", "--", "", "true", "null", "1e999"],
    "numbers": [0, -0.5, 10**15, 1e-7],
    "deep": deep(90),
    "empty": {"": {"a b": None}},
}
MEGABYTE = {"a_text": "x" * 1_048_576, "nul": "a\0b"}
ECHO_B = "import json, sys\nprint(json.dumps({'success': True, 'data': json.load(sys.stdin)['params']}))\n"
KINDS = {
    "stdin": (SINGLE, {"scripts/x.py": ECHO_B}, {"action": "echo"}),
    "python": (PLAIN, {"scripts/execute.py": "def execute(p):\n    return {'output': p}\n"}, {}),
    "node": (PLAIN, {"scripts/execute.js": "exports.execute = (p) => ({ output: p })\n"}, {}),
    "deno": (PLAIN, {"scripts/execute.ts": "export const execute = (p: unknown) => ({ output: p })\n"}, {}),
    "tool": (ABP, {"scripts/execute.js": "exports.echo = (p) => ({ output: p })\n"}, {"tool": "echo"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_arrives_exactly_where_the_request_is_json(kind, tmp_path):
    skill, files, named = KINDS[kind]
    given = HOSTILE | MEGABYTE
    ran = call(files, tmp_path, skill=skill, inputs=given, **named)
    assert ran.outcome.success, (ran.outcome.message, ran.ended.stderr[-500:])
    assert ran.outcome.output == given


def test_every_value_arrives_exactly_as_an_argument(tmp_path):
    script = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"
    ran = call({"scripts/x.py": script}, tmp_path, inputs=HOSTILE)
    words = json.loads(ran.ended.stdout)
    assert words[0::2] == [f"--{name}" for name in HOSTILE]
    texts = [given if isinstance(given, str) else json.loads(word)
             for given, word in zip(HOSTILE.values(), words[1::2], strict=True)]  # fmt: skip
    assert texts == list(HOSTILE.values())


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("x" * (MAX_ARGUMENT_BYTES + 1), "ARGUMENTS_TOO_LARGE"),
        ("a\0b", "ARGUMENT_NOT_STORABLE"),
        ("\ud800", "ARGUMENT_NOT_STORABLE"),
        ({"a": ["\udfff"]}, "ARGUMENT_NOT_STORABLE"),
    ],
)
def test_what_no_argument_can_carry_is_refused_with_a_code(value, code, tmp_path):
    with pytest.raises(Refusal) as refused:
        call({"scripts/x.py": "print(1)\n"}, tmp_path, inputs={"a_text": value})
    assert refused.value.code == code
