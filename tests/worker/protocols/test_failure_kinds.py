"""Recognizes common reasons of failures in real outputs of interpreters, tools and scripts."""

from __future__ import annotations

import random
import time

import pytest

from worker.executors.failure_cause import explain_failure
from worker.protocols.call import Call, Request
from worker.protocols.failure_kinds import usage_lines
from worker.protocols.outcome import interpret
from worker.sandbox.policy import HostAccess, SandboxResult

pytestmark = pytest.mark.row("B3", "P5")
REFUSED = (HostAccess("api.example.com", 443, allowed=False, code="NETWORK_HOST_REFUSED"),)
REACHED = (HostAccess("api.example.com", 443, allowed=True),)
TUNNEL = "urllib.error.URLError: <urlopen error Tunnel connection failed: 403 Forbidden>"


def python(error: str, *frames: str) -> str:
    head = (
        'Traceback (most recent call last):\n  File "/skill/scripts/a.py", line 3, in <module>\n    run()\n'
    )
    return head + "".join(f"  {frame}\n" for frame in frames) + error + "\n"


def explained(stderr, *, stdout="", exit_code=1, network=(), protocol="script"):
    printed = (stdout.encode(), stderr.encode())
    result = SandboxResult("exited", exit_code, None, *printed, b"", 1.0, "bwrap", {}, "", network)
    call = Call(protocol, "scripts/a.py", ("python",), request=Request(action="read"))
    return explain_failure(interpret(call, result), result, ["scripts/a.py"])


MODULES = [
    (python("ModuleNotFoundError: No module named 'google.genai'"), "google.genai"),
    ("/usr/bin/python3: No module named pytest", "pytest"),
    (
        "Error: Cannot find module 'left-pad'\n    at require (node:internal/modules/helpers:153:16)",
        "left-pad",
    ),
    ('error: Import "chalk" not a dependency\n    at file:///skill/scripts/a.ts:1:19', "chalk"),
    ('error: Module not found "file:///skill/scripts/b.ts".', "scripts/b.ts"),
    ("a.rb:1:in `require': cannot load such file -- nokogiri (LoadError)", "nokogiri"),
    ("Error: python-docx not installed. Run: pip install python-docx", "python-docx"),
    ("Missing dependency.\nInstall it with:\n  pip3 install --user 'openpyxl>=3.1'", "openpyxl"),
    ("The requests library is required but not installed.", "requests"),
    ("Please run: npm install -g @scope/tool", "@scope/tool"),
]


@pytest.mark.parametrize(("stderr", "module"), MODULES)
def test_missing_module_is_named(stderr, module):
    outcome, _result = explained(stderr)
    assert (outcome.failure_code, outcome.cause.type) == ("MODULE_MISSING", "MODULE_MISSING")
    assert outcome.message == f"The script needs the module {module}, which is not installed."


PROGRAMS = [
    ("/skill/scripts/a.sh: line 3: jq: command not found", "jq", 127),
    (
        "/bin/sh: 1: pdftoppm: not found\n" + python("E: Command 'x' returned non-zero exit status 127."),
        "",
        1,
    ),
    ("/usr/bin/env: ‘rg’: No such file or directory", "rg", 127),
    ("jq is required but not installed", "jq", 1),
    ("Error: 'ffmpeg' not found in PATH", "ffmpeg", 1),
    ("Nothing to do.\nInstall it: sudo apt-get install -y poppler-utils", "poppler-utils", 1),
    (
        "node:events:487\n\nError: spawn magick ENOENT\n    at f (node:internal/child_process:285:19)",
        "magick",
        1,
    ),
    ("error: Uncaught (in promise) NotFound: Failed to spawn 'gs': entity not found", "gs", 1),
    (
        python(
            "FileNotFoundError: [Errno 2] No such file or directory: 'soffice'",
            'File "/usr/lib/python3.11/subprocess.py", line 1950, in _execute_child',
        ),
        "soffice",
        1,
    ),
]


@pytest.mark.parametrize(("stderr", "program", "exit_code"), PROGRAMS)
def test_missing_program_is_named(stderr, program, exit_code):
    outcome, _result = explained(stderr, exit_code=exit_code)
    assert (outcome.failure_code, outcome.cause.type) == ("PROGRAM_MISSING", "PROGRAM_MISSING")
    assert f"the program {program or 'pdftoppm'}, " in outcome.message


def test_program_that_only_standard_output_names_is_found():
    assert explained("", stdout="jq is required but not installed")[0].failure_code == "PROGRAM_MISSING"


@pytest.mark.parametrize(
    "stderr",
    [
        python(TUNNEL),
        "curl: (22) The requested URL returned error: 403",
        "",
        "TypeError: fetch failed\n    at f (node:internal/deps/undici/undici:1:2)",
        "can't read https://api.example.com/works",
    ],
)
def test_refused_host_is_named(stderr):
    outcome, _result = explained(stderr, network=REFUSED)
    assert (outcome.failure_code, outcome.cause.type) == ("HOST_REFUSED", "HOST_REFUSED")
    assert "api.example.com" in outcome.message


@pytest.mark.parametrize(
    ("stderr", "host"),
    [
        ("curl: (6) Could not resolve host: api.example.org", "api.example.org"),
        ("Error: getaddrinfo EAI_AGAIN db.example.org\n    at f (node:dns:120:26)", "db.example.org"),
        ("E: HTTPConnectionPool(host='x.example.org', port=80): Name or service not known", "x.example.org"),
    ],
)
def test_host_that_only_the_output_names_is_recorded_as_refused(stderr, host):
    outcome, result = explained(stderr)
    assert outcome.failure_code == "HOST_REFUSED"
    assert [(each.host, each.allowed, each.code) for each in result.network] == [
        (host, False, "NETWORK_HOST_REFUSED")
    ]


USAGES = [
    "usage: a.py [-h] --rows N\na.py: error: the following arguments are required: --rows",
    "Usage: a.py [OPTIONS] NAME\nTry 'a.py --help' for help.\n\nError: Missing argument 'NAME'.",
    "Usage: /skill/scripts/a.sh <file> [--json]",
    "/skill/scripts/a.sh: line 3: $1: unbound variable",
    "/skill/scripts/a.sh: line 2: 1: usage: a.sh FILE",
    "/skill/scripts/a.sh: illegal option -- z",
    "error: unknown option '--zz'",
    "error: missing required argument 'file'",
    "a.js <file>\n\nNot enough non-option arguments: got 0, need at least 1",
    "TypeError [ERR_PARSE_ARGS_UNKNOWN_OPTION]: Unknown option '--zz'\n    at f (node:internal/x:1:2)",
    'Traceback (most recent call last):\n  File "/skill/scripts/a.py", line 2, in <module>\n'
    "    path = sys.argv[1]\n           ~~~~~~~~^^^\nIndexError: list index out of range",
    "用法：a.sh 文件",
]


@pytest.mark.parametrize("stderr", USAGES)
def test_wrong_arguments_are_recognized(stderr):
    outcome, _result = explained(stderr, exit_code=2)
    assert (outcome.failure_code, outcome.cause.type) == ("USAGE", "USAGE")


@pytest.mark.parametrize(
    ("stderr", "network"),
    [
        (python("FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'"), ()),
        (python("ValueError: no column 'date'"), REFUSED),
        (python(TUNNEL), REACHED),
        ("ffmpeg not installed, so previews are skipped\n" + python("KeyError: 'rows'"), ()),
        ('  File "/skill/scripts/a.py", line 2\n    x = rows[5]\nIndexError: list index out of range', ()),
        ("Error: config.json not found", ()),
        ("Error: the service is not available", ()),
        ("API_KEY is required", ()),
    ],
)
def test_other_failures_keep_their_code(stderr, network):
    outcome, _result = explained(stderr, network=network)
    assert outcome.failure_code == "SCRIPT_FAILED"


def test_json_answer_keeps_its_standard_code():
    outcome, _result = explained(python("ModuleNotFoundError: No module named 'x'"), protocol="stdin_json")
    assert (outcome.failure_code, outcome.error["code"]) == ("MODULE_MISSING", "INTERNAL_ERROR")


def test_usage_lines_end_at_an_empty_line():
    lines = ["starting", "usage: a.py [-h]", "            [--rows N]", "", "a.py: error: x"]
    assert usage_lines(lines) == ["usage: a.py [-h]", "            [--rows N]"]
    assert usage_lines(["no help"]) == []


def test_hostile_output_is_read_quickly():
    pieces = ["a: ", "'", "not found ", "https://", "resolve ", "1: ", "pip install ", "-", "x" * 300]
    rng = random.Random(7)
    for piece in pieces:
        text = "\n".join("".join(rng.choices([piece, piece, "x"], k=3000)) for _ in range(60))
        began = time.monotonic()
        explained(text, network=REFUSED)
        assert time.monotonic() - began < 2
