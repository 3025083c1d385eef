"""Reads the needs of a shell script: programs, hosts and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from registry.packages.command_lines.syntax_tree import TreeTooLargeError, parse_source, slice_of, walk
from registry.packages.needs.constants import host_of, is_secret_name
from registry.packages.needs.programs import needed_program
from registry.packages.needs.script_needs import ScriptNeeds

_DOWNLOADERS = frozenset({"curl", "wget", "http", "https", "xh"})
_CONDITIONS = frozenset(
    {"if_statement", "case_statement", "while_statement", "for_statement", "c_style_for_statement", "list"}
)
_WRAPPERS = frozenset({"sudo", "env", "exec", "time", "nohup", "command", "xargs", "timeout", "nice"})
_OPTIONS_WITH_VALUE = frozenset({"-u", "-g", "-n", "-I", "-P", "-d", "-k", "-s"})
_ASSIGNMENT = re.compile(r"\w+=")
_WORD = re.compile(r"[A-Za-z0-9./_+-]+")
_URL_START = re.compile(r"(?:https?|wss?)://[^\s\"'`<>|;)]+")


def read_shell(path: str, source: bytes) -> ScriptNeeds:
    """The needs of a shell script. Omits the functions and variables that the script defines.

    Has hosts only if the script calls a downloader, such as curl.
    """
    tree = parse_source("bash", source)
    if tree is None:
        return ScriptNeeds(path, complete=False)
    reader = _ShellReader(source)
    try:
        reader.read(tree.root_node)
    except TreeTooLargeError:
        return ScriptNeeds(path, complete=False)
    return reader.needs(path)


def programs_of_command(text: str) -> tuple[str, ...]:
    """The programs in a command line that a script passes to a shell."""
    return read_shell("", text[:4_000].encode("utf-8", "replace")).programs


class _ShellReader:
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.functions: set[str] = set()
        self.assigned: set[str] = set()
        self.used: set[str] = set()
        self.called: set[str] = set()
        self.first: set[str] = set()
        self.hosts: set[str] = set()

    def read(self, root: Node) -> None:
        function_end = condition_end = 0
        for node, _depth in walk(root):
            if node.type == "function_definition":
                self.functions.add(slice_of(self.source, node.child_by_field_name("name"), 200))
                function_end = max(function_end, node.end_byte)
            elif node.type in _CONDITIONS:
                condition_end = max(condition_end, node.end_byte)
            elif node.type == "command":
                is_first = node.start_byte >= max(function_end, condition_end)
                self._add_command(node, is_first=is_first)
            elif node.type == "variable_assignment":
                self._add_assignment(node)
            elif node.type in ("simple_expansion", "expansion"):
                self.used |= {
                    slice_of(self.source, each, 100) for each in node.children if each.type == "variable_name"
                }
            elif node.type in ("string", "raw_string", "word", "heredoc_body"):
                self.hosts |= {
                    host
                    for match in _URL_START.findall(slice_of(self.source, node))
                    if (host := host_of(match))
                }

    def needs(self, path: str) -> ScriptNeeds:
        programs = self.called - self.functions
        return ScriptNeeds(
            path,
            programs=tuple(programs),
            first_programs=tuple(self.first - self.functions),
            hosts=tuple(self.hosts) if programs & _DOWNLOADERS else (),
            keys=tuple(name for name in self.used - self.assigned if is_secret_name(name)),
        )

    def _add_command(self, node: Node, *, is_first: bool) -> None:
        words = list(self._words(node))
        while words and words[0] in _WRAPPERS:
            wrapper, *words = words
            if wrapper == "command" and words[:1] in (["-v"], ["-V"]):
                return
            while words and (words[0].startswith("-") or _ASSIGNMENT.match(words[0])):
                words = words[2 if words[0] in _OPTIONS_WITH_VALUE else 1 :]
        if words and _WORD.fullmatch(words[0]) and (program := needed_program(words[0])):
            self.called.add(program)
            if is_first:
                self.first.add(program)

    def _add_assignment(self, node: Node) -> None:
        """Records the assignment. Skips assignments such as ``A=${A:-default}``, because the variable is
        still read from the environment.
        """
        name = slice_of(self.source, node.child_by_field_name("name"), 100)
        value = slice_of(self.source, node.child_by_field_name("value"), 2_000)
        if not re.search(rf"\$\{{?{re.escape(name)}\b", value):
            self.assigned.add(name)

    def _words(self, command: Node) -> Iterator[str]:
        yield slice_of(self.source, command.child_by_field_name("name"), 300).strip("\"'")
        for argument in command.children_by_field_name("argument")[:20]:
            yield slice_of(self.source, argument, 300).strip("\"'")
