"""Scripts that no interpreter can read are named with file and line, before anybody runs them."""

from __future__ import annotations

import platform

import pytest

from registry.packages.read_package import read_files
from worker.script_checks.check_scripts import check_scripts
from worker.script_checks.cut_limits import find_cut_limits
from worker.script_checks.python import find_fault

pytestmark = [pytest.mark.row("P3"), pytest.mark.row("C2")]
FRONT = "name: broken\ndescription: For tests.\n"


def _problems(files, front=FRONT):
    package = read_files(
        [("SKILL.md", f"---\n{front}---\n# Text\n\n{files.pop('text', '')}".encode()), *files.items()]
    )
    return [(one.code, one.path, one.line) for one in check_scripts(package)]


BROKEN = {
    "a.py": (b"x = 1\ndef f(:\n    pass\n", 2),
    "null.py": (b"x = 1\0\n", None),
    "a.sh": (b"if true; then\n  case x in\nfi\n", 3),
    "a.js": (b"const a = 1;\nfoo(;\n", 2),
    "a.mjs": (b"import x from 'y';\nfoo(;\n", 2),
    "a.cjs": (b"import x from 'y';\n", 1),
    "a.ts": (b"enum A { B }\nexport function f(a: string {}\n", 2),
}


@pytest.mark.parametrize("name", BROKEN)
def test_syntax_error_is_named_with_its_line(name):
    data, line = BROKEN[name]
    assert _problems({f"scripts/{name}": data}) == [("SCRIPT_SYNTAX", f"scripts/{name}", line)]


def test_syntax_error_names_the_interpreter_of_runs():
    package = read_files([("SKILL.md", f"---\n{FRONT}---\n# T\n".encode()), ("scripts/a.py", b"def f(:\n")])
    (problem,) = check_scripts(package)
    assert problem.severity == "warning"
    assert problem.params["interpreter"] == f"Python {platform.python_version()}"


SOUND = {
    "a.py": "﻿print('ä')\r\n".encode(),
    "latin.py": b"# -*- coding: latin-1 -*-\nx = '\xe4'\n",
    "a.sh": b'#!/bin/bash\nfor x in 1 2; do echo "$x"; done\n',
    "module.js": b"import x from 'absent';\nawait x;\n",
    "script.js": b"#!/usr/bin/env node\nconst x = require('absent');\nreturn x;\n",
    "sloppy.js": b"with (a) { b = 010 }\n",
    "a.ts": b"enum A { B }\nimport x from 'npm:absent';\nconst y: number = 'x';\nexport default x as any;\n",
    "a.d.ts": b"nonsense (\n",
    "templates/a.py": b"{{ code }} def\n",
    "a.txt": b"def f(:\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_script_has_no_problem(name):
    assert _problems({f"scripts/{name}": SOUND[name]}) == []


def test_type_of_package_json_decides_how_a_script_is_read():
    files = {"scripts/a.js": b"import x from 'y';\n", "package.json": b'{"type": "commonjs"}'}
    assert _problems(dict(files)) == [("SCRIPT_SYNTAX", "scripts/a.js", 1)]
    assert _problems({**files, "scripts/package.json": b'{"type": "module"}'}) == []


def test_line_ends_of_shell_scripts_are_named_instead_of_their_effects():
    crlf = b"#!/bin/bash\nif true; then\r\n  echo\r\nfi\r\n"
    assert _problems({"scripts/a.sh": crlf}) == [("SCRIPT_LINE_ENDS", "scripts/a.sh", 2)]


def test_scripts_outside_the_folder_are_checked_if_skill_md_shows_them():
    broken = {"run.py": b"def f(:\n", "other.py": b"def f(:\n"}
    assert _problems({**broken, "text": "Run `python run.py`.\n"}) == [("SCRIPT_SYNTAX", "run.py", 1)]


def test_scripts_of_an_absent_interpreter_are_not_checked(monkeypatch):
    monkeypatch.setattr("worker.script_checks.javascript.installed", dict)
    assert _problems({"scripts/b.ts": b"function (", "scripts/b.cjs": b"function f( {{"}) == []


@pytest.mark.parametrize("part", [".a", "\\\n.a", "\\\r\n.a"])
def test_import_that_takes_minutes_to_parse_is_not_parsed(part):
    script = "import a" + part * 60_000 + "\n)"
    assert find_fault(script.encode()) is None
    assert find_fault(b"import a.b\n)") is not None


@pytest.mark.row("C6")
def test_value_above_a_site_limit_is_named_with_its_line(settings):
    settings.SKILLQUAY_MAX_RUN_SECONDS, settings.SKILLQUAY_MAX_RUN_MEMORY_MB = 10, 256
    front = "security:\n  timeoutMs: 20000\n  memory_mb: 256\ncacheable: true\nttl: 9999999\n"
    package = read_files([("SKILL.md", f"---\n{FRONT}{front}---\n# T\n".encode())])
    problems = find_cut_limits(package)
    assert {problem.code for problem in problems} == {"LIMIT_EXCEEDED"}
    assert [(one.params["field"], one.params["limit"], one.line) for one in problems] == [
        ("security.timeout_ms", 10_000, 5),
        ("ttl", 30 * 24 * 3600, 8),
    ]
