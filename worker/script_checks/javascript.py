"""Finds syntax errors of JavaScript with ``node --check`` and of TypeScript with Deno; neither runs code."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from worker.sandbox.runtimes import installed
from worker.script_checks.parsers import SyntaxFault, interpreter_label, parse_with

SUFFIXES = (".js", ".mjs", ".cjs")
Kind = Literal["mjs", "cjs", "unknown"]
_MODULE_SYNTAX = re.compile(rb"^\s*(?:import\b[^(]|export\b)", re.MULTILINE)
_NODE_ERROR = re.compile(r"^\S*script\.[cm]js:(\d+)$.*?^(?:\w*Error): (.*?)$", re.MULTILINE | re.DOTALL)
_DENO_ERROR = re.compile(r"^(?:\w*Error: )?(.*)")
_DENO_LINE = re.compile(r":(\d+):\d+\s*$")


def module_kind(path: str, files: Mapping[str, bytes]) -> Kind:
    """The kind of module that Node assumes: by the extension, otherwise by ``type`` of the nearest
    package.json.
    """
    if path.endswith(".mjs"):
        return "mjs"
    if path.endswith(".cjs"):
        return "cjs"
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        if (data := files.get(f"{folder}/package.json".lstrip("/"))) is not None:
            return _declared_kind(data)
    return "unknown"


def _declared_kind(data: bytes) -> Kind:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return "unknown"
    declared = document.get("type") if isinstance(document, dict) else None
    return "mjs" if declared == "module" else "cjs" if declared == "commonjs" else "unknown"


@lru_cache(maxsize=16)  # each entry keeps a script of up to 256 kB
def find_fault(data: bytes, kind: Kind) -> SyntaxFault | None:
    """The first syntax error; None if there is none, or if Node is not installed.

    Node may read a script of unknown kind in either way, so an error is reported only if both ways fail.
    """
    if kind != "unknown":
        return _check(data, kind)
    likely: Kind = "mjs" if _MODULE_SYNTAX.search(data) else "cjs"
    fault = _check(data, likely)
    return fault if fault and _check(data, "cjs" if likely == "mjs" else "mjs") else None


def _check(data: bytes, kind: Kind) -> SyntaxFault | None:
    node = installed().get("node")
    if node is None:
        return None
    with tempfile.TemporaryDirectory(prefix="skillquay-check-") as name:
        Path(name, f"script.{kind}").write_bytes(data)
        command = (str(node.program), "--max-old-space-size=256", "--check", f"script.{kind}")
        _status, _output, errors = parse_with(command, Path(name))
    found = _NODE_ERROR.search(errors)
    return found and SyntaxFault(int(found[1]), found[2], interpreter_label("node", "Node"))


def find_typescript_faults(sources: Mapping[str, bytes]) -> dict[str, SyntaxFault]:
    """The first syntax error of each script, by path; {} if Deno is not installed. Types are not checked."""
    deno = installed().get("deno")
    if deno is None:
        return {}
    names = {f"{index}.ts": path for index, path in enumerate(sources)}
    with tempfile.TemporaryDirectory(prefix="skillquay-check-") as folder:
        for name, path in names.items():
            Path(folder, name).write_bytes(sources[path])
        command = (str(deno.program), "lint", "--quiet", "--no-config", "--json", *names)
        _status, output, _errors = parse_with(
            command, Path(folder), DENO_DIR=f"{folder}/cache", DENO_NO_UPDATE_CHECK="1"
        )
    try:
        found = json.loads(output)["errors"]
        return {names[Path(one["file_path"]).name]: _deno_fault(one["message"]) for one in found}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _deno_fault(message: str) -> SyntaxFault:
    reason, line = _DENO_ERROR.match(message), _DENO_LINE.search(message)
    return SyntaxFault(
        int(line[1]) if line else None, reason[1] if reason else "", interpreter_label("deno", "Deno")
    )
