"""Finds the programs that a Python module calls, the hosts it names and the secret environment variables it
reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from registry.packages.needs.constants import host_of, is_secret_name
from registry.packages.needs.programs import needed_program

_RUN = frozenset(
    {"run", "call", "check_call", "check_output", "Popen", "create_subprocess_exec", "getoutput"}
)
_SHELL = frozenset({"system", "popen", "create_subprocess_shell", "getoutput", "getstatusoutput"})
_EXEC = frozenset({"execv", "execve", "execvp", "execvpe", "execl", "execlp", "spawnlp", "spawnvp"})
_CALLERS = frozenset({"subprocess", "os", "asyncio", "sp"})
_ENVIRONMENT = frozenset({"environ", "getenv"})


class PythonCalls:
    """Collects programs, hosts and names of secrets (``keys``) from each module passed to ``read``."""

    def __init__(self) -> None:
        self.programs: set[str] = set()
        self.hosts: set[str] = set()
        self.keys: set[str] = set()

    def read(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        commands = dict(_assigned_commands(nodes))
        texts = _ignored_texts(nodes)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._add_call(node, commands)
            elif isinstance(node, ast.Subscript) and _is_environment(node.value):
                self._add_key(node.slice)
            elif isinstance(node, ast.Constant) and id(node) not in texts and (host := host_of(_text(node))):
                self.hosts.add(host)

    def _add_call(self, node: ast.Call, commands: dict[str, str]) -> None:
        name, owner = _names(node.func)
        if not node.args:
            return
        first = node.args[0]
        if name == "getenv" or (name in ("get", "pop", "setdefault") and _is_environment(_owner(node.func))):
            self._add_key(first)
        elif name in _RUN | _SHELL | _EXEC and (owner in _CALLERS or not owner):
            self._add_command(first, commands)

    def _add_command(self, node: ast.expr, commands: dict[str, str]) -> None:
        if isinstance(node, ast.Name):
            self._add_word(commands.get(node.id, ""))
        elif isinstance(node, ast.BinOp):
            self._add_command(node.left, commands)
        elif text := _text(node):
            self._add_word(text.split()[0] if text.split() else "")
        else:
            self._add_word(_first_word(node))

    def _add_word(self, word: str) -> None:
        if program := needed_program(word):
            self.programs.add(program)

    def _add_key(self, node: ast.expr) -> None:
        if is_secret_name(_text(node)):
            self.keys.add(_text(node))


def _assigned_commands(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yields pairs of a variable and the first word of the list assigned to it, as in ``cmd = ["soffice",
    …]``.
    """
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value.left if isinstance(node.value, ast.BinOp) else node.value
            if word := _first_word(value):
                yield node.targets[0].id, word


def _ignored_texts(nodes: list[ast.AST]) -> set[int]:
    """The ids of nodes whose texts are only printed or explain the script. Such texts may name
    hosts that are never used.
    """
    ignored: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            ignored.add(id(node.value))
        elif isinstance(node, ast.Call) and _names(node.func)[0] in (
            "print",
            "add_argument",
            "ArgumentParser",
        ):
            explained = [*node.args, *(each.value for each in node.keywords if each.arg != "default")]
            ignored |= {id(part) for each in explained for part in ast.walk(each)}
        elif isinstance(node, ast.JoinedStr):  # only the first part is the start of the text
            ignored |= {id(part) for part in node.values[1:]}
    return ignored


def _first_word(node: ast.expr) -> str:
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        return _text(node.elts[0])
    return ""


def _text(node: ast.expr) -> str:
    """The value of a constant text, or the constant start of an f-string if it contains a space; ""
    otherwise.
    """
    if isinstance(node, ast.JoinedStr) and node.values:
        start = node.values[0]
        text = start.value if isinstance(start, ast.Constant) and isinstance(start.value, str) else ""
        return text if " " in text else ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _names(func: ast.expr) -> tuple[str, str]:
    """The name of the called function, and the name before its dot. The second is "" without a dot, and "?"
    if it is not a plain name.
    """
    if isinstance(func, ast.Attribute):
        return func.attr, func.value.id if isinstance(func.value, ast.Name) else "?"
    return (func.id, "") if isinstance(func, ast.Name) else ("", "?")


def _owner(func: ast.expr) -> ast.expr:
    return func.value if isinstance(func, ast.Attribute) else func


def _is_environment(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _ENVIRONMENT
    return isinstance(node, ast.Name) and node.id in _ENVIRONMENT
