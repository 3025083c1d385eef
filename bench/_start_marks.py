"""Writes to descriptor 3 how far a Python script gets; ``bench real`` mounts a copy as ``sitecustomize``.

Writes ``parsed`` once argparse has returned to the script, and ``refused`` if the script then still refuses
its arguments through the parser. Subprocesses write nothing, because only the first process has the
descriptor.
"""

import argparse
import contextlib
import os
import sys

_CHANNEL = 3


def _mark(text):
    with contextlib.suppress(OSError):
        os.write(_CHANNEL, f"{text}\n".encode())


def _marked(name):
    original = getattr(argparse.ArgumentParser, name)

    def parse(parser, *arguments, **keywords):
        values = original(parser, *arguments, **keywords)
        if sys._getframe(1).f_globals.get("__name__") != "argparse":
            _mark("parsed")
        return values

    setattr(argparse.ArgumentParser, name, parse)


def _marked_error():
    original = argparse.ArgumentParser.error

    def error(parser, message):
        _mark("refused")
        return original(parser, message)

    argparse.ArgumentParser.error = error


for _name in ("parse_args", "parse_known_args", "parse_intermixed_args"):
    _marked(_name)
_marked_error()
