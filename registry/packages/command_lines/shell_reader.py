"""Reads how a shell script is called: by options that getopts reads, or by arguments that the script reads by
hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from registry.packages.command_lines.command_line import CommandLevel, CommandLine, Parameter, ReadingGap
from registry.packages.command_lines.file_use import file_use
from registry.packages.command_lines.syntax_tree import (
    TreeTooLargeError,
    parse_source,
    slice_of,
    text_of,
    walk,
)
from registry.packages.command_lines.usage_text import usage_text

_OPTIONS = re.compile(r":?(?:[a-zA-Z0-9]:?){1,62}")
_ASSIGNED = re.compile(r"""(?:local\s+)?([A-Za-z_]\w*)\+?=["'(]*\$\{?OPTARG\b""")
_ALL = "@*#"
_MAY_READ_ARGUMENTS = re.compile(r"getopts|\$\{?[!#]?[1-9@*#]")


def read_shell(path: str, text: str) -> CommandLine:
    """The command line of a shell script."""
    if not _MAY_READ_ARGUMENTS.search(text):
        return CommandLine(path, "none", usage=usage_text(text))
    source = text.encode("utf-8", "replace")
    tree = parse_source("bash", source)
    usage = usage_text(text)
    if tree is None:
        return CommandLine(path, "line", usage=usage, gaps=(ReadingGap("time"),))
    try:
        optstring, names, reads_arguments, line = _scan(source, tree.root_node)
    except TreeTooLargeError:
        return CommandLine(path, "line", usage=usage, gaps=(ReadingGap("size"),))
    if optstring is None:
        return CommandLine(path, "line" if reads_arguments else "none", usage=usage)
    if not _OPTIONS.fullmatch(optstring):
        gap = ReadingGap("computed_name", line, optstring[:120])
        return CommandLine(path, "line", "getopts", usage=usage, gaps=(gap,))
    parameters = [*_options(optstring, names)]
    if reads_arguments:
        name = "arguments"
        parameters.append(Parameter(name, name, min_values=0, max_values=None))
    root = CommandLevel(parameters=tuple(parameters))
    return CommandLine(path, "fields" if parameters else "none", "getopts", root=root, usage=usage)


def _scan(source: bytes, root: Node) -> tuple[str | None, dict[str, str], bool, int | None]:
    """The options of getopts or None, variables by option, whether arguments are read, and the line of
    getopts.

    Functions have their own positional parameters, so only those outside functions belong to the script.
    """
    optstring: str | None = None
    line: int | None = None
    names: dict[str, str] = {}
    reads_arguments = False
    function_end = 0
    for node, _depth in walk(root):
        if node.type == "function_definition" and node.start_byte >= function_end:
            function_end = node.end_byte
        elif node.type == "command" and optstring is None and _is_getopts(source, node):
            arguments = node.children_by_field_name("argument")
            optstring = text_of(arguments[0]).strip("\"'") if arguments else ""
            line = node.start_point.row + 1
        elif node.type == "case_item":
            names.update(_variables(node))
        elif node.start_byte >= function_end:
            reads_arguments |= _is_argument(source, node)
    return optstring, names, reads_arguments, line


def _is_getopts(source: bytes, command: Node) -> bool:
    return slice_of(source, command.child_by_field_name("name"), 20) == "getopts"


def _variables(item: Node) -> Iterator[tuple[str, str]]:
    assigned = _ASSIGNED.search(text_of(item))
    for value in item.children_by_field_name("value"):
        if assigned:
            yield text_of(value, 20).strip("\"'"), assigned[1]


def _is_argument(source: bytes, node: Node) -> bool:
    """Whether the node is a variable of arguments such as "$1", "$@", "$*" or "$#".

    A script that only calls getopts uses none of them.
    """
    if node.type == "variable_name":
        return slice_of(source, node, 5).isdigit() and slice_of(source, node) != "0"
    return node.type == "special_variable_name" and slice_of(source, node, 5) in _ALL


def _options(optstring: str, names: dict[str, str]) -> Iterator[Parameter]:
    for match in re.finditer(r"([a-zA-Z0-9])(:?)", optstring):
        letter, has_value = match[1], bool(match[2])
        if letter == "h" and not has_value:
            continue  # the usage text
        name = names.get(letter, "").lower() if has_value else ""
        yield Parameter(
            id=letter,
            name=name or letter,
            flags=(f"-{letter}",),
            min_values=int(has_value),
            max_values=int(has_value),
            file=file_use(name) if has_value else "",
        )
