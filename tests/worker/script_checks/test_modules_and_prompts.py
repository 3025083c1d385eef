"""Modules without ``execute``, imports of absent files, and placeholders that stay empty are named."""

from __future__ import annotations

import pytest

from registry.packages.read_package import read_files
from worker.script_checks.check_scripts import check_scripts
from worker.script_checks.prompts import check_prompt

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C2")]


def _package(files, body="# Text\n", front=""):
    head = f"---\nname: broken\ndescription: For tests.\n{front}---\n"
    return read_files([("SKILL.md", (head + body).encode()), *files.items()])


def _script_problems(files):
    return [(one.code, one.path, one.line) for one in check_scripts(_package(files))]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("execute.py", b"def run(parameters):\n    execute(parameters)\n"),
        ("execute.ts", b"export function run(parameters: object) {}\nfunction execute() {}\n"),
        ("execute.js", b"import { execute } from 'x';\nexecute();\n"),
    ],
)
def test_module_without_execute_is_named(name, source):
    assert _script_problems({f"scripts/{name}": source}) == [("EXPORT_MISSING", f"scripts/{name}", 1)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("execute.py", b"async def execute(p):\n    pass\n"),
        ("execute.py", b"from absent import execute\n"),
        ("execute.py", b"try:\n    import x\nexcept ImportError:\n    execute = None\n"),
        ("execute.py", b"from x import *\n"),
        ("execute.ts", b"export async function execute(p: object) {}\n"),
        ("execute.ts", b"export const execute = async () => {};\n"),
        ("execute.ts", b"const a = () => 1;\nexport { a as execute };\n"),
        ("execute.ts", b"export default { execute() {} };\n"),
        ("execute.js", b"export * from './lib.js';\n"),
        ("execute.js", b"module.exports = { execute: () => 1 };\n"),
        ("other.js", b"export const x = 1;\n"),
    ],
)
def test_module_with_execute_has_no_problem(name, source):
    assert (
        _script_problems({f"scripts/{name}": source, "scripts/lib.js": b"export const execute = 1;\n"}) == []
    )


ABSENT = {
    "a.js": (b"const x = 1;\nconst y = require('./gone');\n", 2),
    "a.mjs": (b"import {\n  x,\n} from './gone.mjs';\n", 3),
    "a.ts": (b"import './lib.ts';\nimport { x } from '../gone.ts';\n", 2),
    "b.ts": (b"import { x } from './lib';\n", 1),
    "a.py": (b"import os\nfrom .gone import x\n", 2),
    "sub/a.py": (b"from ..sub.gone import x\n", 1),
}


@pytest.mark.parametrize("name", ABSENT)
def test_import_of_an_absent_file_is_named_with_its_line(name):
    source, line = ABSENT[name]
    files = {f"scripts/{name}": source, "scripts/lib.ts": b"export const x = 1;\n"}
    assert _script_problems(files) == [("IMPORTED_FILE_MISSING", f"scripts/{name}", line)]


PRESENT = {
    "a.js": b"const x = require('./lib');\nconst y = require('./folder');\nconst z = require('fs');\n",
    "b.js": b"try {\n  require('./optional');\n} catch {}\nconst t = `\nimport x from './gone.js';\n`;\n",
    "a.ts": b"import type { T } from './types.ts';\nimport { x } from './lib.js';\n",
    "a.py": b"from .pkg import x\nfrom .helper import y\n"
    b"try:\n    from .gone import z\nexcept ImportError:\n    pass\n",
}


@pytest.mark.parametrize("name", PRESENT)
def test_import_of_a_file_of_the_package_has_no_problem(name):
    others = {"lib.js": b"exports.x = 1;\n", "folder/index.js": b"", "pkg/x.py": b"", "helper.py": b""}
    files = {f"scripts/{name}": PRESENT[name], **{f"scripts/{path}": data for path, data in others.items()}}
    assert _script_problems(files) == []


def _prompt_problems(body, front=""):
    return [(one.code, one.line, one.params) for one in check_prompt(_package({}, body, front))]


@pytest.mark.row("E4")
def test_commands_and_empty_placeholders_of_a_prompt_are_shown_with_their_lines():
    body = "Review $1 with $2.\n\nIt costs $100.\n\nStatus: !`git status $1`\n"
    assert _prompt_problems(body) == [
        ("PROMPT_COMMAND", 9, {"command": "git status $1"}),
        ("PROMPT_PLACEHOLDER_EMPTY", 7, {"placeholder": "$100", "count": 2}),
    ]


@pytest.mark.row("E4")
@pytest.mark.parametrize(
    ("front", "body", "empty"),
    [
        ("arguments: [file]\n", "Read $1 and $2.\n", ["$2"]),
        ("argument-hint: <file> [mode]\n", "Read $1, $2 and $3.\n", ["$3"]),
        ("arguments: [file]\n", "Read $0 and $1 and $ARGUMENTS[1].\n", ["$1", "$ARGUMENTS[1]"]),
        ("", "Read $ARGUMENTS and $1.\n", []),
        ("", "Print `awk '{print $2}'`.\n", ["$2"]),
        ("", "Costs 5$ or $x or $1a.\n", []),
    ],
)
def test_placeholder_beyond_the_declared_arguments_is_empty(front, body, empty):
    found = [
        params["placeholder"] for code, _line, params in _prompt_problems(body, front) if "EMPTY" in code
    ]
    assert found == empty


def test_text_of_a_skill_with_scripts_is_no_prompt():
    package = _package({"scripts/a.py": b"print(1)\n"}, "Costs $100. !`date`\n")
    assert check_prompt(package) == ()
