"""Finds the reason in what failed programs print: real outputs of interpreters and tools."""

from __future__ import annotations

import random
import textwrap
import time

import pytest

from worker.protocols.call import Cause
from worker.protocols.error_output import find_cause

pytestmark = pytest.mark.row("B3", "P5")

PYTHON = """
    reading data.csv
    Traceback (most recent call last):
      File "/skill/scripts/profile.py", line 41, in <module>
        main()
      File "/skill/scripts/profile.py", line 30, in main
        rows = load(path)
      File "/usr/lib/python3.11/csv.py", line 111, in __next__
        row = next(self.reader)
              ^^^^^^^^^^^^^^^^^
    ValueError: no column 'date'
"""
CHAINED = """
    Traceback (most recent call last):
      File "/skill/scripts/a.py", line 4, in <module>
        {}["x"]
        ~~^^^^^
    KeyError: 'x'

    During handling of the above exception, another exception occurred:

    Traceback (most recent call last):
      File "/skill/scripts/a.py", line 6, in <module>
        raise RuntimeError("no x") from error
    RuntimeError: no x
"""
GROUP = """
      + Exception Group Traceback (most recent call last):
      |   File "/skill/scripts/a.py", line 9, in <module>
      |     asyncio.run(main())
      |   File "/usr/lib/python3.11/asyncio/runners.py", line 190, in run
      |     return runner.run(main)
      | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
      +-+---------------- 1 ----------------
        | Traceback (most recent call last):
        |   File "/skill/scripts/a.py", line 4, in fetch
        |     raise ValueError("bad page")
        | ValueError: bad page
        +---------------- 2 ----------------
        | Traceback (most recent call last):
        |   File "/skill/scripts/a.py", line 6, in store
        |     raise TypeError("bad row")
        | TypeError: bad row
        +------------------------------------
"""
NESTED_GROUPS = """
      + Exception Group Traceback (most recent call last):
      |   File "/skill/scripts/a.py", line 10, in <module>
      |     asyncio.run(main())
      |   File "/skill/scripts/a.py", line 8, in main
      |     async with asyncio.TaskGroup() as group:
      | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
      +-+---------------- 1 ----------------
        | Exception Group Traceback (most recent call last):
        |   File "/skill/scripts/a.py", line 5, in inner
        |     async with asyncio.TaskGroup() as group:
        | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
        +-+---------------- 1 ----------------
          | Traceback (most recent call last):
          |   File "/skill/scripts/a.py", line 3, in fetch
          |     raise ValueError("bad page")
          | ValueError: bad page
          +------------------------------------
"""
SYNTAX = """
      File "/skill/scripts/a.py", line 3
        def f(
             ^
    SyntaxError: '(' was never closed
"""
MODULE = """
    Traceback (most recent call last):
      File "/skill/scripts/a.py", line 1, in <module>
        import pandas
    ModuleNotFoundError: No module named 'pandas'
"""
MULTILINE = """
    Traceback (most recent call last):
      File "scripts/lib/a.py", line 2, in <module>
        raise KeyError("first")
    acme.errors.ColumnError: columns differ:
    have a, b
    need a, c
    2026-11-20 10:00:00 INFO bye
"""
ASSERTION = """
    Traceback (most recent call last):
      File "/skill/scripts/a.py", line 2, in <module>
        assert rows > 0
    AssertionError
"""
LIBRARY = """
    Traceback (most recent call last):
      File "<frozen runpy>", line 198, in _run_module_as_main
      File "/job/.deps/lib/python3.11/site-packages/tool/__main__.py", line 5, in <module>
        run()
    urllib.error.HTTPError: HTTP Error 404: Not Found
"""
STRUCT = """
    Traceback (most recent call last):
      File "/skill/a.py", line 2, in <module>
        struct.unpack("i", b"x")
    struct.error: unpack requires a buffer of 4 bytes
"""
NODE = """
    /skill/scripts/a.js:3
    foo.bar();
        ^

    TypeError: foo.bar is not a function
        at Object.<anonymous> (/skill/scripts/a.js:3:5)
        at Module._compile (node:internal/modules/cjs/loader:1358:14)
        at node:internal/main/run_main_module:23:47

    Node.js v20.11.0
"""
NODE_SYNTAX = """
    /skill/scripts/a.js:2
    const x = ;
              ^

    SyntaxError: Unexpected token ';'
        at wrapSafe (node:internal/modules/cjs/loader:1281:20)
        at Module._compile (node:internal/modules/cjs/loader:1321:27)

    Node.js v20.11.0
"""
NODE_MODULE = """
    node:internal/modules/cjs/loader:1147
      throw err;
      ^

    Error: Cannot find module 'lodash'
    Require stack:
    - /skill/scripts/a.js
        at Module._resolveFilename (node:internal/modules/cjs/loader:1144:15)
        at Object.<anonymous> (/skill/scripts/a.js:1:11) {
      code: 'MODULE_NOT_FOUND',
      requireStack: [ '/skill/scripts/a.js' ]
    }
"""
NODE_CAUSE = """
    TypeError: fetch failed
        at node:internal/deps/undici/undici:12618:11
        at async file:///skill/scripts/a.mjs:7:15 {
      [cause]: Error: getaddrinfo ENOTFOUND nowhere.example
          at GetAddrInfoReqWrap.onlookup [as oncomplete] (node:dns:107:26) {
        errno: -3008,
        code: 'ENOTFOUND'
      }
    }
"""
NODE_STRING = """
    /skill/scripts/a.js:1
    throw "no rows";
    ^
    no rows
    (Use `node --trace-uncaught ...` to show where the exception was thrown)

    Node.js v20.11.0
"""
DENO = """
    \x1b[0m\x1b[1m\x1b[31merror\x1b[0m: Uncaught (in promise) TypeError: rows.map is not a function
      return rows.map(String);
    \x1b[31m              ^\x1b[0m
        at run (file:///skill/scripts/a.ts:3:15)
        at file:///skill/scripts/a.ts:6:1
"""
BASH_SYNTAX = """
    /skill/scripts/run.sh: line 7: syntax error near unexpected token `fi'
    /skill/scripts/run.sh: line 7: `fi'
"""
BASH_GOES_ON = """
    /skill/scripts/run.sh: line 3: fetch: command not found
    jq: error (at <stdin>:1): Cannot index number with "a"
"""
RUBY = """
    /skill/scripts/a.rb:3:in `run': undefined method `foo' for nil:NilClass (NoMethodError)
    \tfrom /skill/scripts/a.rb:6:in `<main>'
"""
RUST = """
    thread 'main' panicked at src/main.rs:2:5:
    index out of bounds: the len is 3 but the index is 7
    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
GO = """
    panic: runtime error: index out of range [5] with length 3

    goroutine 1 [running]:
    main.main()
    \t/skill/main.go:8 +0x1d
    exit status 2
"""
ARGPARSE = """
    usage: a.py [-h] --city CITY
    a.py: error: the following arguments are required: --city
"""
CURL = """
      % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
    \r  0     0    0     0    0     0      0 --:--:--     0\rcurl: (6) Could not resolve host: x.example
"""
PROGRESS = " 10%|#         |\r 50%|#####     |\r100%|##########|\rERROR: disk quota exceeded\r\n 0 warnings\n"


@pytest.mark.parametrize(
    ("stderr", "cause"),
    [
        (PYTHON, Cause("ValueError", "no column 'date'", "scripts/profile.py", 30)),
        (CHAINED, Cause("RuntimeError", "no x", "scripts/a.py", 6)),
        (
            GROUP,
            Cause(
                "ExceptionGroup",
                "unhandled errors in a TaskGroup (2 sub-exceptions): ValueError: bad page",
                "scripts/a.py",
                4,
            ),
        ),
        (
            NESTED_GROUPS,
            Cause(
                "ExceptionGroup",
                "unhandled errors in a TaskGroup (1 sub-exception): ValueError: bad page",
                "scripts/a.py",
                3,
            ),
        ),
        (SYNTAX, Cause("SyntaxError", "'(' was never closed", "scripts/a.py", 3)),
        (MODULE, Cause("ModuleNotFoundError", "No module named 'pandas'", "scripts/a.py", 1)),
        (
            MULTILINE,
            Cause("ColumnError", "columns differ:\nhave a, b\nneed a, c", "scripts/lib/a.py", 2),
        ),
        (ASSERTION, Cause("AssertionError", "assert rows > 0", "scripts/a.py", 2)),
        (LIBRARY, Cause("HTTPError", "HTTP Error 404: Not Found")),
        (STRUCT, Cause("error", "unpack requires a buffer of 4 bytes", "a.py", 2)),
        (NODE, Cause("TypeError", "foo.bar is not a function", "scripts/a.js", 3)),
        (NODE_SYNTAX, Cause("SyntaxError", "Unexpected token ';'", "scripts/a.js", 2)),
        (NODE_MODULE, Cause("Error", "Cannot find module 'lodash'", "scripts/a.js", 1)),
        (
            NODE_CAUSE,
            Cause(
                "TypeError",
                "fetch failed (Error: getaddrinfo ENOTFOUND nowhere.example)",
                "scripts/a.mjs",
                7,
            ),
        ),
        (NODE_STRING, Cause("", "no rows")),
        (DENO, Cause("TypeError", "rows.map is not a function", "scripts/a.ts", 3)),
        (
            "/skill/scripts/run.sh: line 3: foo: command not found\n",
            Cause("", "foo: command not found", "scripts/run.sh", 3),
        ),
        ("bash: line 1: foo: command not found\n", Cause("", "foo: command not found")),
        ("/skill/run.sh: 4: foo: not found", Cause("", "foo: not found", "run.sh", 4)),
        (BASH_SYNTAX, Cause("", "syntax error near unexpected token `fi'", "scripts/run.sh", 7)),
        (BASH_GOES_ON, Cause("", 'jq: error (at <stdin>:1): Cannot index number with "a"')),
        (RUBY, Cause("NoMethodError", "undefined method `foo' for nil:NilClass", "scripts/a.rb", 3)),
        ("no rows at /skill/scripts/a.pl line 8.\n", Cause("", "no rows", "scripts/a.pl", 8)),
        (
            "PHP Fatal error:  Uncaught Error: Call to undefined function f() in /skill/a.php:3",
            Cause("", "Uncaught Error: Call to undefined function f()", "a.php", 3),
        ),
        (RUST, Cause("", "index out of bounds: the len is 3 but the index is 7", "src/main.rs", 2)),
        (GO, Cause("", "panic: runtime error: index out of range [5] with length 3")),
        (ARGPARSE, Cause("", "a.py: error: the following arguments are required: --city")),
        (
            "jq: parse error: Invalid numeric literal at line 1, column 5\n",
            Cause("", "jq: parse error: Invalid numeric literal at line 1, column 5"),
        ),
        (CURL, Cause("", "curl: (6) Could not resolve host: x.example")),
        (PROGRESS, Cause("", "ERROR: disk quota exceeded")),
        ("ValueError: no column\nbye\n", Cause("ValueError", "no column")),
        ("cat: x: No such file or directory\nstopping now\n", Cause("", "cat: x: No such file or directory")),
        ("warning: 2 errors ignored\nstarted\nstopped\n\n", Cause("", "stopped")),
    ],
)
def test_stderr_has_the_cause(stderr, cause):
    assert find_cause(textwrap.dedent(stderr).encode()) == cause


def test_stdout_is_read_if_stderr_is_empty():
    assert find_cause(b"\n \n", b"reading\nno rows in data.csv\n") == Cause("", "no rows in data.csv")


def test_stdout_is_not_read_if_stderr_has_a_line():
    assert find_cause(b"stopped", b"Error: no rows") == Cause("", "stopped")


def test_silent_program_has_no_cause():
    assert find_cause(b"", b"") is None


def test_later_error_of_another_language_is_the_cause():
    both = textwrap.dedent(PYTHON) + textwrap.dedent(NODE)
    assert find_cause(both.encode()) == Cause("TypeError", "foo.bar is not a function", "scripts/a.js", 3)


def test_binary_data_is_skipped():
    noise = bytes(range(256)) * 40
    assert find_cause(noise + b"\nno rows\n" + noise.replace(b"\n", b"")) == Cause("", "no rows")
    assert find_cause(b"\xff\xfe" * 50_000) is None


def test_path_of_an_unconfined_package_is_relative():
    trace = 'Traceback (most recent call last):\n  File "/var/p/ab/scripts/a.py", line 2, in f\nOSError: no'
    assert find_cause(trace.encode(), folders=("/skill", "/var/p/ab")) == Cause(
        "OSError", "no", "scripts/a.py", 2
    )


def test_shuffled_lines_raise_nothing():
    samples = [PYTHON, CHAINED, GROUP, SYNTAX, NODE, NODE_CAUSE, DENO, BASH_SYNTAX, RUBY, RUST, GO]
    lines = [line for sample in samples for line in textwrap.dedent(sample).splitlines()]
    for seed in range(200):
        chosen = random.Random(seed).choices(lines, k=12)
        assert find_cause("\n".join(chosen).encode()) is not None or not any(chosen)


@pytest.mark.parametrize(
    "piece",
    [
        b"x",
        b" at ",
        b" at x:1:",
        b"Fatal error:  ",
        b" in a:1",
        b"a:1:in a: (A ",
        b'  File "a.py", line 1\n',
        b"    at f (/skill/a.js:1:1)\n",
        b"  + Exception Group Traceback\n",
        b"\n",
        b"\x1b[",
        b"\x1b]0;",
        b"thread ''' panicked at ",
    ],
)
def test_hostile_output_is_read_in_time(piece):
    started = time.process_time()
    find_cause(piece * (400_000 // len(piece)))
    assert time.process_time() - started < 2
