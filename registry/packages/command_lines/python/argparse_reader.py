"""Reads the parser that a Python script builds with argparse."""

from __future__ import annotations

import ast

from registry.packages.command_lines.command_line import CommandLevel, CommandLine
from registry.packages.command_lines.python.argparse_calls import ArgparseLibrary, ParserValue
from registry.packages.command_lines.python.argparse_parameters import command_level, text_of
from registry.packages.command_lines.python.expressions import LimitReachedError, ScriptEndedError
from registry.packages.command_lines.python.statements import Evaluation
from registry.packages.command_lines.python.values import FunctionValue, NameScope
from registry.packages.command_lines.unknown import UNKNOWN

_FUNCTIONS = 50  # that are tried one after another if following the script finds no parser


def read_argparse(path: str, tree: ast.Module, lines: list[str]) -> CommandLine | None:
    """The command line of the script's parser; None if no parser is found."""
    library = ArgparseLibrary(lines)
    parser = _find_parser(tree, library)
    if parser is None:
        return None
    root = command_level(parser, library)
    has_fields = bool(root.parameters or root.subcommands)
    return CommandLine(
        path,
        "fields" if has_fields else "line" if library.gaps else "none",
        "argparse",
        root=root if has_fields else CommandLevel(),
        usage=text_of(parser.keywords.get("usage")),
        description=text_of(parser.keywords.get("description")),
        gaps=tuple(library.gaps),
    )


def _find_parser(tree: ast.Module, library: ArgparseLibrary) -> ParserValue | None:
    """The parser that reads the arguments when the script is followed from its start.

    If the script creates no parser on this way, its functions are tried without arguments. If no parser is
    seen to read the arguments, returns the one with the most arguments, or None.
    """
    scope = NameScope()
    _follow(tree.body, scope, library)
    if library.found is None and not library.created:
        for function in _functions_with_parsers(tree)[:_FUNCTIONS]:
            _follow_function(FunctionValue(function, scope), library)
            if library.created:
                break
    if library.found is not None:
        return library.found
    return max(library.created, key=lambda each: len(each.arguments), default=None)


def _follow(statements: list[ast.stmt], scope: NameScope, library: ArgparseLibrary) -> None:
    evaluation = library.evaluation = Evaluation(library)
    try:
        evaluation.run(statements, scope)
    except ScriptEndedError:
        pass
    except (LimitReachedError, RecursionError):
        library.add_gap("time", 1)


def _follow_function(function: FunctionValue, library: ArgparseLibrary) -> None:
    evaluation = library.evaluation = Evaluation(library)
    try:
        evaluation.call(function, [UNKNOWN] * len(function.node.args.args), {})
    except ScriptEndedError:
        pass
    except (LimitReachedError, RecursionError):
        library.add_gap("time", 1)


def _functions_with_parsers(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
            names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            if names & {"ArgumentParser", "ArgParser"}:
                found.append(node)
    return found
