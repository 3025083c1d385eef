"""Reads the command line of a JavaScript or TypeScript script."""

from __future__ import annotations

from typing import Any

from tree_sitter import Node

from registry.packages.command_lines.command_line import CommandLine, Library, ReadingGap
from registry.packages.command_lines.javascript import commander, parse_args, yargs
from registry.packages.command_lines.javascript.builders import CommandBuilder, Gaps
from registry.packages.command_lines.javascript.chains import Call, Chains
from registry.packages.command_lines.javascript.dialects import javascript_dialect
from registry.packages.command_lines.javascript.values import Names, Reference
from registry.packages.command_lines.syntax_tree import (
    TreeTooLargeError,
    parse_source,
    text_of,
    walk,
)
from registry.packages.command_lines.usage_text import usage_text

_ARGUMENTS = frozenset({"process.argv", "Deno.args", "Bun.argv", "process.execArgv"})
_OTHER_PARSERS = (
    "minimist",
    "meow",
    "cac",
    "arg",
    "mri",
    "sade",
    "citty",
    "oclif",
    "@oclif/core",
    "clipanion",
    "cleye",
    "command-line-args",
    "optionator",
    "docopt",
    "caporal",
    "@caporal/core",
    "vorpal",
)


class ScriptParsers:
    """Passes each call to the parser library that it belongs to."""

    def __init__(self, gaps: Gaps) -> None:
        self.gaps = gaps
        self.commander = commander.Commander(gaps)
        self.yargs = yargs.Yargs(gaps)
        self.parse_args: CommandBuilder | None = None

    def call(self, value: Any, call: Call, names: Names, chains: Chains) -> Any:
        """The value that the parser library returns for the call, or None for ``parseArgs`` and all other
        calls.
        """
        if isinstance(value, commander.CommanderCommand):
            return self.commander.call_command(value, call)
        if isinstance(value, commander.CommanderParameter):
            return self.commander.call_parameter(value, call)
        if isinstance(value, yargs.YargsCommand):
            return self.yargs.call_command(value, call, names, chains)
        if isinstance(value, Reference):
            return self._call_reference(value.name, call, names, chains)
        return None

    def _call_reference(self, name: str, call: Call, names: Names, chains: Chains) -> Any:
        for module in commander.MODULES:
            if name == module or name.startswith(f"{module}."):
                return self.commander.call_reference(_path(name, module), call)
        for module in yargs.MODULES:
            if name == module or name.startswith(f"{module}."):
                return self.yargs.call_reference(_path(name, module), call, names, chains)
        if name == "util.parseArgs":
            self.parse_args = self.parse_args or parse_args.node_command(call, self.gaps)
        elif name.endswith((".parseArgs", ".parse")) and ("std" in name or "flags" in name):
            self.parse_args = self.parse_args or parse_args.deno_command(call, self.gaps)
        elif call.name in ("option", "requiredOption") and str(call.argument(0)).startswith("-"):
            self.gaps.add("conditional", call.line)  # on a command that is not known
        return None

    def found(self) -> tuple[Library, CommandBuilder] | None:
        """The library and the root command of the script's parser; None if no parser was found."""
        if self.commander.program is not None:
            program = self.commander.program
            program.builder.subcommand_required = not program.has_action
            return "commander", program.builder
        if self.yargs.program is not None:
            return "yargs", self.yargs.program.builder
        return ("parseArgs", self.parse_args) if self.parse_args is not None else None


def _path(name: str, module: str) -> list[str]:
    return [part for part in name[len(module) :].split(".") if part]


def read_javascript(path: str, text: str) -> CommandLine:
    """The command line of a JavaScript or TypeScript script."""
    usage = usage_text(text)
    tree = parse_source(javascript_dialect(path), text.encode("utf-8", "replace"))
    if tree is None:
        return CommandLine(path, "line", usage=usage, gaps=(ReadingGap("time"),))
    gaps = Gaps(text.splitlines())
    parsers = ScriptParsers(gaps)
    names = Names()
    try:
        Chains(parsers).follow(tree.root_node, names)
        found = parsers.found()
        if found is None:
            return _without_parser(path, tree.root_node, usage)
    except TreeTooLargeError:
        return CommandLine(path, "line", usage=usage, gaps=(ReadingGap("size"),))
    library, builder = found
    root = builder.level()
    if not root.parameters and not root.subcommands:
        gap = tuple(gaps.found)
        return CommandLine(path, "line" if gap else "none", library, usage=usage, gaps=gap)
    return CommandLine(
        path,
        "fields",
        library,
        root=root,
        usage=builder.usage or usage,
        description=builder.description,
        gaps=tuple(gaps.found),
    )


def _without_parser(path: str, root: Node, usage: str) -> CommandLine:
    """The command line of a script without a known parser. Its kind is "line" if the script reads its
    arguments by hand or with another library, otherwise "none".
    """
    reads_arguments = False
    for node, _depth in walk(root):
        if node.type == "member_expression" and text_of(node, 40).replace("?.", ".") in _ARGUMENTS:
            reads_arguments = True
        elif node.type == "string" and text_of(node, 40)[1:-1].removeprefix("npm:") in _OTHER_PARSERS:
            return CommandLine(
                path, "line", usage=usage, gaps=(ReadingGap("no_parser", node.start_point.row + 1),)
            )
        elif node.type == "import_specifier" and text_of(node, 20) == "argv":
            reads_arguments = True
    return CommandLine(path, "line" if reads_arguments else "none", usage=usage)
