"""Recognizes programs: scripts with a main part, those that run as a module, and commands in SKILL.md."""

import ast
import re
from functools import lru_cache
from pathlib import PurePosixPath

from registry.packages.command_lines.python.source import parse_python

_READ_BYTES = 262_144
_EXPORTS = re.compile(r"^\s*(?:export\s|module\.exports\b|exports\.)", re.MULTILINE)
_STARTS = re.compile(
    r"require\.main\b|import\.meta\.main\b|process\.argv\b|Deno\.args\b|^\s*main\(", re.MULTILINE
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Pass, ast.Delete)
_PREPARATIONS = (
    "sys.path.",
    "logging.",
    "warnings.",
    "os.environ.",
    "load_dotenv",
    "matplotlib.use",
    "locale.",
)
_MODULE_IMPORT = re.compile(rb"^\s*(?:from|import)\s+(?:scripts\b|\.)", re.MULTILINE)
_COMMAND = re.compile(
    r"(?:(?:\b(?:python3?|bash|sh|zsh|node|tsx|ts-node|bun|(?:deno|uv|bun) run)\b(?:[ \t]+-[\w=-]+)*[ \t]+)"
    r"|(?=(?:\./|\$?\{|<)))[\"']?(?P<path>[^\s\"'`;|&()]+)"
)


@lru_cache(maxsize=64)
def has_main_part(suffix: str, source: bytes) -> bool:
    """Whether the script acts when it is started, instead of only defining names for other files.

    True in case of doubt, for example for a script with a syntax error.
    """
    text = source[:_READ_BYTES].decode("utf-8-sig", "replace")
    if suffix == ".py":
        return _is_python_program(text)
    if suffix == ".sh":
        return True
    return bool(_STARTS.search(text)) or not _EXPORTS.search(text)


def runs_as_module(path: str, source: bytes) -> bool:
    """Whether a Python script below scripts/ must run as ``python -m scripts.x``, judging by its imports."""
    return path.startswith("scripts/") and path.endswith(".py") and bool(_MODULE_IMPORT.search(source))


def module_name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def shown_commands(skill_md: bytes, paths: frozenset[str]) -> frozenset[str]:
    """The files among ``paths`` that SKILL.md calls as commands. A folder or placeholder may precede the
    path, as in ``$DIR/scripts/x.py``.
    """
    text = skill_md[:_READ_BYTES].decode("utf-8-sig", "replace")
    words = {match["path"].removeprefix("./") for match in _COMMAND.finditer(text)}
    ends = {str(PurePosixPath(*parts[start:])) for parts in map(_parts, words) for start in range(len(parts))}
    return paths & ends


def _parts(word: str) -> tuple[str, ...]:
    return PurePosixPath(word).parts[-10:]


def _is_python_program(text: str) -> bool:
    tree = parse_python(text)
    if tree is None:
        return True
    try:
        return any(_acts(node) for node in tree.body)
    except RecursionError:  # a tree that could be parsed can still be too deep to be printed
        return True


def _acts(node: ast.stmt) -> bool:
    if isinstance(node, _DEFINITIONS + _ASSIGNMENTS):
        return False
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant) and not ast.unparse(node.value).startswith(
            _PREPARATIONS
        )
    if isinstance(node, ast.If):
        if "__name__" in ast.unparse(node.test):  # some libraries refuse to be started
            return not all(isinstance(each, ast.Raise) for each in node.body)
        return any(map(_acts, node.body + node.orelse))
    if isinstance(node, ast.Try):
        return any(map(_acts, node.body + node.orelse + node.finalbody))
    return True
