#!/usr/bin/env -S python3 -I -S -B
"""Runs another skill and prints its answer as JSON: skillquay-run SKILL [PARAMETERS as JSON].

--script ID, --action A or --tool T choose the entry point if the skill has several. Exit status: 0 if the
skill succeeded, 1 if it failed or the channel is closed, 2 if the call is invalid. Standard library only,
because this program runs inside the sandbox.
"""

import argparse
import json
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="skillquay-run")
    parser.add_argument("skill")
    parser.add_argument("parameters", nargs="?", default="{}")
    for name in ("script", "action", "tool"):
        parser.add_argument(f"--{name}")
    options = parser.parse_args()
    try:
        request = {**vars(options), "parameters": json.loads(options.parameters)}
    except ValueError as error:
        parser.error(f"PARAMETERS are not JSON: {error}")
    request_fd, _, answer_fd = os.environ.get("SKILLQUAY_REQUEST_FDS", "").partition(",")
    if not answer_fd:
        parser.error("this skill lists no other skill in requires")
    try:
        out = os.fdopen(int(request_fd), "wb", closefd=False)
    except OSError:
        parser.error("the parent process closed the request channel; in Python, use close_fds=False")
    with out:
        out.write(json.dumps(request).encode() + b"\n")
    line = _read_line(int(answer_fd))
    sys.stdout.write(line)
    return 0 if line and json.loads(line)["ok"] else 1


def _read_line(answer_fd: int) -> str:
    """Reads the answer; "" if the channel is closed. Requests are sequential, so only one answer can
    arrive.
    """
    answer = b""
    while not answer.endswith(b"\n"):
        chunk = os.read(answer_fd, 65536)
        if not chunk:
            return ""
        answer += chunk
    return answer.decode()


sys.exit(main())
