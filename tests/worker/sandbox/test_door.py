"""What a script asks through its door is answered beside its streams, whatever it sends."""

from __future__ import annotations

import threading

import pytest

from worker.sandbox.limits.limits import Limits

pytestmark = [pytest.mark.row("C3"), pytest.mark.matrix("tier", at_most=1)]

ASK = """
import os, sys
asking, answering = (int(n) for n in os.environ["SKILLQUAY_REQUEST_FDS"].split(","))
answers = os.fdopen(answering, "rb")
def ask(line):
    os.write(asking, line + b"\\n")
    return answers.readline()
"""


def echo(line: bytes) -> bytes:
    return b"heard " + line


def test_a_request_is_answered_by_number_in_every_tier(go):
    ended = go("bash", "-c", 'echo hello >&4; read -r answer <&5; echo "$answer"', request_handler=echo)
    assert (ended.stdout, ended.exit_code) == (b"heard hello\n", 0)


@pytest.mark.parametrize("program", ["node", "deno"])
def test_runtimes_open_it_by_name(go, program):
    code = """
        import { open } from "node:fs/promises";
        import { Buffer } from "node:buffer";
        const [asking, answering] = process.env.SKILLQUAY_REQUEST_FDS.split(",");
        const to = await open(`/proc/self/fd/${asking}`, "w");
        const from = await open(`/proc/self/fd/${answering}`, "r");
        await to.write("hello\\n");
        const { bytesRead, buffer } = await from.read(Buffer.alloc(100), 0, 100, null);
        console.log(buffer.subarray(0, bytesRead).toString());
        process.exit(0);
    """
    if program == "deno":
        code = 'import process from "node:process";' + code
    start = ("deno", "eval") if program == "deno" else ("node", "--input-type=module", "-e")
    ended = go(*start, code, request_handler=echo)
    assert ended.stdout.strip() == b"heard hello", ended.stderr


def test_a_line_that_comes_byte_by_byte_between_blanks_is_one_request(go):
    told = """
for place in b"  \\n \\n hel lo\\n\\n\\n":
    os.write(asking, bytes([place]))
print(answers.readline(), ask(b"again"))
"""
    ended = go("python", "-I", "-S", "-c", ASK + told, request_handler=lambda line: b"heard " + line.strip())
    assert ended.stdout == b"b'heard hel lo\\n' b'heard again\\n'\n", ended.stderr


def test_without_a_door_there_is_nothing_to_ask(go):
    ended = go(
        "bash",
        "-c",
        'echo "${SKILLQUAY_REQUEST_FDS-none}"; for n in 3 4 5; do { : >&$n; } 2>&- || echo $n; done',
    )
    assert ended.stdout == b"none\n3\n4\n5\n", "none of them is open"


def test_a_channel_and_a_door_stand_side_by_side(go):
    ended = go(
        "bash",
        "-c",
        "echo hello >&4; read -r answer <&5; echo $answer >&3",
        request_handler=echo,
        channel_bytes=100,
    )
    assert ended.channel == b"heard hello\n"


def test_a_thousand_requests_are_the_most(go):
    code = ASK + "n = 0\nwhile ask(b'x'):\n    n += 1\nprint(n)\n"
    ended = go(
        "python",
        "-c",
        "import signal; signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n" + code,
        request_handler=echo,
    )
    told = ended.stdout or ended.stderr
    assert ended.stdout == b"1000\n" or b"BrokenPipeError" in told


def test_a_line_without_end_shuts_the_door_and_not_the_run(go):
    heard = []
    code = (
        ASK
        + """
try:
    for _ in range(200):
        os.write(asking, b"x" * 65536)
except BrokenPipeError:
    print("shut")
"""
    )
    ended = go("python", "-c", code, request_handler=lambda line: heard.append(line) or b"")
    assert (ended.stdout, heard) == (b"shut\n", [])


def test_garbage_is_handed_on_as_it_is_and_answers_are_one_line(go):
    code = ASK + "print(ask(b'\\x00\\xff{]'), ask(b'two'))"
    ended = go("python", "-c", code, request_handler=lambda line: b"a\nb" + line)
    assert ended.stdout == b"b'a b\\x00\\xff{]\\n' b'a btwo\\n'\n"


def test_who_does_not_read_answers_holds_up_only_itself(go):
    code = ASK + "os.write(asking, b'x\\n' * 5)\nprint('done')"
    ended = go("python", "-c", code, request_handler=lambda line: b"y" * 3_000_000)
    assert (ended.stdout, ended.ending) == (b"done\n", "exited")


def test_an_answer_under_way_does_not_keep_an_ended_run(go):
    asked, release = threading.Event(), threading.Event()

    def slow(line):
        asked.set()
        release.wait(20)
        return b"late"

    try:
        ended = go("python", "-c", ASK + "os.write(asking, b'x\\n'); print('gone')", request_handler=slow)
    finally:
        release.set()
    assert (ended.stdout, ended.ending) == (b"gone\n", "exited")


def test_time_runs_out_while_the_script_waits(go):
    release = threading.Event()
    try:
        ended = go(
            "python",
            "-c",
            ASK + "ask(b'x')",
            request_handler=lambda line: b"" if release.wait(20) else b"never",
            limits=Limits(timeout_s=1),
        )
    finally:
        release.set()
    assert ended.ending == "timed_out"
    assert ended.duration_s < 1.5
