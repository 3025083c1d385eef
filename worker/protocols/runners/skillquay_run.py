#!/usr/bin/env -S python3 -I -S -B
"""Starts another skill and prints its answer as JSON: skillquay-run SKILL [PARAMETERS as JSON].

--script ID, --action A or --tool T name one of several. Ends with 0 where the skill succeeded, 1 where it did
not, 2 where the call is wrong. Standard library only: it runs inside the sandbox.
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
    given = parser.parse_args()
    try:
        request = {**vars(given), "parameters": json.loads(given.parameters)}
    except ValueError as error:
        parser.error(f"PARAMETERS are not JSON: {error}")
    asking, _, answering = os.environ.get("SKILLQUAY_DOOR", "").partition(",")
    if not answering:
        parser.error("this skill names no other one in requires")
    try:
        out = os.fdopen(int(asking), "wb", closefd=False)
    except OSError:
        parser.error("what started this program has shut its way out; from Python: close_fds=False")
    with out:
        out.write(json.dumps(request).encode() + b"\n")
    line = _line(int(answering))
    sys.stdout.write(line)
    return 0 if line and json.loads(line)["ok"] else 1


def _line(answering: int) -> str:
    """The answer; "" where the door is shut. One request at a time: no two answers come together."""
    found = b""
    while not found.endswith(b"\n"):
        piece = os.read(answering, 65536)
        if not piece:
            return ""
        found += piece
    return found.decode()


sys.exit(main())
