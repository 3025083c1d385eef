"""Builds the parsers that a script creates with argparse, with their arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from registry.packages.command_lines.command_line import MAX_PARAMETERS, GapReason, ReadingGap
from registry.packages.command_lines.python.expressions import ScriptEndedError
from registry.packages.command_lines.python.statements import Evaluation
from registry.packages.command_lines.python.values import ClassValue, DottedName, MethodValue, PartialText

_MODULES = ("argparse", "configargparse", "rich_argparse")
_CLASSES = ("ArgumentParser", "ArgParser", "RichArgumentParser")
_PARSES = ("parse_args", "parse_intermixed_args")
_PARSES_SOME = ("parse_known_args", "parse_known_intermixed_args")
_UNCHANGED_METHODS = frozenset(
    {"error", "exit", "print_help", "print_usage", "format_help", "_print_message"}
)
_CONSTANTS = {
    "SUPPRESS": "==SUPPRESS==",
    "REMAINDER": "...",
    "PARSER": "A...",
    "OPTIONAL": "?",
    "ZERO_OR_MORE": "*",
    "ONE_OR_MORE": "+",
}


@dataclass(eq=False)
class Argument:
    """A call of add_argument: the names, and the keyword arguments as far as they are known."""

    names: tuple[str, ...]
    keywords: dict[str, Any]
    line: int
    group: ExclusiveArguments | None = None


@dataclass(eq=False)
class ExclusiveArguments:
    required: bool


@dataclass(eq=False)
class ParserValue:
    """A parser under construction; ``subparsers`` is None if it has no subcommands."""

    keywords: dict[str, Any]
    arguments: list[Argument] = field(default_factory=list)
    subparsers: SubparsersValue | None = None
    accepts_unknown: bool = False
    defaults: dict[str, Any] = field(default_factory=dict)
    is_subparser: bool = False


@dataclass(eq=False)
class GroupValue:
    parser: ParserValue
    exclusive: ExclusiveArguments | None


@dataclass(eq=False)
class SubparsersValue:
    keywords: dict[str, Any]
    parsers: list[tuple[str, tuple[str, ...], ParserValue]] = field(default_factory=list)


class ArgparseLibrary:
    """Builds the parsers of a script; ``found`` is the parser that reads the command line, or None.

    ``created`` contains all parsers except those of subcommands.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.created: list[ParserValue] = []
        self.found: ParserValue | None = None
        self.gaps: list[ReadingGap] = []
        self.evaluation: Evaluation | None = None
        self.count = 0

    def add_gap(self, reason: GapReason, line: int) -> None:
        text = self.lines[line - 1].strip()[:120] if 0 < line <= len(self.lines) else ""
        gap = ReadingGap(reason, line, text)
        if gap not in self.gaps and len(self.gaps) < 20:
            self.gaps.append(gap)

    def construct(self, called: Any, node: ast.Call, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """The new parser or file type; None if the called value is neither. A subclass with
        changed behaviour adds a gap.
        """
        if not _is_parser_class(called):
            return _file_type(called, arguments)
        if isinstance(called, ClassValue) and not _keeps_behaviour(called):
            self.add_gap("unknown_option", node.lineno)
        names = ("prog", "usage", "description", "epilog", "parents")
        parser = ParserValue({**dict(zip(names, arguments, strict=False)), **keywords})
        self._set_up(parser, node.lineno)
        self.created.append(parser)
        return parser

    def _set_up(self, parser: ParserValue, line: int) -> None:
        if parser.keywords.get("prefix_chars", "-") != "-" or "**" in parser.keywords:
            self.add_gap("unknown_option", line)
        parents = parser.keywords.get("parents") or []
        for parent in parents if isinstance(parents, list) else [None]:
            if isinstance(parent, ParserValue):
                parser.arguments += parent.arguments
                self._count(len(parent.arguments))
                parser.defaults.update(parent.defaults)
            else:
                self.add_gap("computed_value", line)

    def attribute(self, value: Any, name: str) -> Any:
        """The method of a parser, group or subparsers object, or the constant of argparse; None for other
        values.
        """
        if isinstance(value, DottedName):
            return _CONSTANTS.get(name) if value.text in _MODULES else None
        if name == "_action_groups" and isinstance(value, ParserValue):
            return [GroupValue(value, None), GroupValue(value, None)]
        if isinstance(value, ParserValue | GroupValue | SubparsersValue):
            return MethodValue(
                lambda node, arguments, keywords: self._call(value, name, node, arguments, keywords)
            )
        return None

    def _call(
        self,
        value: ParserValue | GroupValue | SubparsersValue,
        name: str,
        node: ast.Call,
        arguments: list[Any],
        keywords: dict[str, Any],
    ) -> Any:
        if isinstance(value, SubparsersValue):
            return self._add_parser(value, node, arguments, keywords) if name == "add_parser" else None
        parser = value if isinstance(value, ParserValue) else value.parser
        exclusive = value.exclusive if isinstance(value, GroupValue) else None
        if name == "add_argument":
            return self._add_argument(parser, exclusive, node, arguments, keywords)
        if name == "add_argument_group":
            return GroupValue(parser, exclusive)
        if name == "add_mutually_exclusive_group":
            return GroupValue(parser, ExclusiveArguments(keywords.get("required") is True))
        if name == "add_subparsers":
            parser.subparsers = parser.subparsers or SubparsersValue(keywords)
            return parser.subparsers
        if name == "set_defaults":
            parser.defaults.update(keywords)
        elif name in (*_PARSES, *_PARSES_SOME):
            self._parse(parser, accepts_unknown=name in _PARSES_SOME)
        return None

    def _parse(self, parser: ParserValue, *, accepts_unknown: bool) -> None:
        parser.accepts_unknown |= accepts_unknown
        self.found = parser
        if not accepts_unknown:
            raise ScriptEndedError

    def _add_argument(
        self,
        parser: ParserValue,
        exclusive: ExclusiveArguments | None,
        node: ast.Call,
        arguments: list[Any],
        keywords: dict[str, Any],
    ) -> None:
        if self.evaluation is not None and self.evaluation.uncertain:
            self.add_gap("conditional", node.lineno)
        names = arguments or ([keywords["dest"]] if "dest" in keywords else [])
        is_known = all(isinstance(each, str) and not isinstance(each, PartialText) for each in names)
        if not names or not is_known or ("**" in keywords and not names[0].startswith("-")):
            self.add_gap("computed_name", node.lineno)
            return
        if "**" in keywords:
            self.add_gap("computed_value", node.lineno)
        self._count(1)
        parser.arguments.append(Argument(tuple(names), keywords, node.lineno, exclusive))

    def _add_parser(
        self, subparsers: SubparsersValue, node: ast.Call, arguments: list[Any], keywords: dict[str, Any]
    ) -> Any:
        name = arguments[0] if arguments else keywords.get("name")
        if not isinstance(name, str) or isinstance(name, PartialText):
            self.add_gap("computed_subcommand", node.lineno)
            name = ""
        elif self.evaluation is not None and self.evaluation.uncertain:
            self.add_gap("conditional", node.lineno)
        parser = ParserValue(keywords, is_subparser=True)
        self._set_up(parser, node.lineno)
        self._count(1)
        aliases = keywords.get("aliases") or []
        is_known = isinstance(aliases, list) and all(isinstance(each, str) for each in aliases)
        if not is_known:
            self.add_gap("computed_value", node.lineno)
        if name:
            subparsers.parsers.append((name, tuple(aliases) if is_known else (), parser))
        return parser

    def _count(self, more: int) -> None:
        self.count += more
        if self.count > 2 * MAX_PARAMETERS:
            self.add_gap("too_many", 1)
            raise ScriptEndedError


def _is_parser_class(called: Any) -> bool:
    if isinstance(called, ClassValue):
        return called.is_a(*_CLASSES)
    return isinstance(called, DottedName) and called.text in {
        f"{module}.{name}" for module in _MODULES for name in _CLASSES
    }


def _keeps_behaviour(parser_class: ClassValue) -> bool:
    own = {name for name in parser_class.scope.names if not name.startswith("__") or name == "__init__"}
    return own <= _UNCHANGED_METHODS


def _file_type(called: Any, arguments: list[Any]) -> Any:
    """``argparse.FileType("w")`` as a dotted name with its mode; None for other calls."""
    if isinstance(called, DottedName) and called.text == "argparse.FileType":
        mode = arguments[0] if arguments and isinstance(arguments[0], str) else "r"
        return DottedName(f"argparse.FileType.{mode[:3]}")
    return None
