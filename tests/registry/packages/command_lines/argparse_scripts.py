"""Scripts in the styles in which authors use argparse, and their real parsers."""

from __future__ import annotations

import argparse
from unittest.mock import patch

FLAT = """
import argparse
from pathlib import Path
MODES = {"fast": 1, "slow": 2}
def main():
    parser = argparse.ArgumentParser(description="Converts.", epilog="x")
    parser.add_argument("input", type=Path, help="file, %(default)s")
    parser.add_argument("rest", nargs="*")
    parser.add_argument("-o", "--out-file", default="a" + ".pdf", metavar="PDF")
    parser.add_argument("--mode", choices=sorted(MODES), default="fast", help="50%% of %(choices)s")
    parser.add_argument("--size", type=int, nargs=2)
    parser.add_argument("--tag", action="append", required=True)
    parser.add_argument("--names", nargs="+", default=["a", "b"])
    parser.add_argument("--level", nargs="?", const="9", type=int, choices=range(-2, 10))
    parser.add_argument("-v", action="count", default=0)
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--cache", action=argparse.BooleanOptionalAction)
    parser.add_argument("--secret", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="version", version="1")
    args = parser.parse_args()
    print(args)
if __name__ == "__main__":
    main()
"""
SUBCOMMANDS = """
from argparse import ArgumentParser as Parser, SUPPRESS
def common(parser, *, out=True):
    parser.add_argument("--token")
    if out:
        parser.add_argument("--out", default=SUPPRESS)
def build_parser():
    base = Parser(add_help=False)
    group = base.add_argument_group("general")
    group.add_argument("--debug", action="store_true")
    parser = Parser(parents=[base])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("get", "list"):
        each = commands.add_parser(name, help=f"{name} it", aliases=[name[0]])
        each.add_argument("id", choices=[n * 10 for n in range(3)], type=int)
        common(each, out=name == "get")
    nested = commands.add_parser("keys").add_subparsers(dest="key")
    add = nested.add_parser("add", parents=[base])
    one = add.add_mutually_exclusive_group(required=True)
    one.add_argument("--file")
    one.add_argument("--text", nargs="?")
    return parser
class Tool:
    def __init__(self, argv=None):
        self.parser = build_parser()
    def run(self):
        return self.parser.parse_args()
if __name__ == "__main__":
    import sys
    if len(sys.argv) < 0:
        print("usage")
        sys.exit(1)
    sys.exit(Tool().run())
"""
COMPUTED = """
import argparse, os
p = argparse.ArgumentParser()
p.add_argument(os.environ["NAME"])
p.add_argument("--model", choices=load(), default=os.getcwd())
if os.environ.get("MORE"):
    p.add_argument("--more")
p.parse_known_args()
"""


class _ParsedError(Exception):
    pass


def real_parser(source: str) -> argparse.ArgumentParser:
    """The parser that the script has when it parses its arguments."""
    found: list[argparse.ArgumentParser] = []

    def catch(self, args=None, namespace=None):
        found.append(self)
        raise _ParsedError

    try:
        with patch.object(argparse.ArgumentParser, "parse_known_args", catch):
            exec(compile(source, "script.py", "exec"), {"__name__": "__main__"})
    except _ParsedError:
        return found[0]
    raise AssertionError("the script parses nothing")
