"""Reads the commands that a Python script declares with typer's functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.packages.command_lines.command_line import MAX_DEPTH, MAX_PARAMETERS, CommandLine, Parameter
from registry.packages.command_lines.python.argparse_parameters import text_of
from registry.packages.command_lines.python.commands.declared_command import (
    DeclaredCommand,
    UnreadableError,
    command_line_of,
    unreadable_command_line,
)
from registry.packages.command_lines.python.commands.module_values import ModuleValues, function_of
from registry.packages.command_lines.python.commands.typer_parameters import parameters_of

_SETTINGS = frozenset(
    {"name", "help", "epilog", "short_help", "hidden", "deprecated", "no_args_is_help", "rich_help_panel"}
    | {
        "options_metavar",
        "subcommand_metavar",
        "invoke_without_command",
        "add_completion",
        "context_settings",
    }
    | {"rich_markup_mode", "suggest_commands", "pretty_exceptions_enable", "pretty_exceptions_short"}
    | {"pretty_exceptions_show_locals"}
)
_CONTEXT_SETTINGS = frozenset({"help_option_names", "max_content_width", "terminal_width", "obj"})
_ENUMS = ("Enum", "StrEnum", "IntEnum")
_METHODS = ("command", "callback", "add_typer")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class _App:
    settings: Mapping[str, Any]
    line: int
    commands: list[tuple[Mapping[str, Any], _Function]] = field(default_factory=list)
    groups: list[tuple[Mapping[str, Any], _App]] = field(default_factory=list)
    callback: tuple[Mapping[str, Any], _Function] | None = None
    has_parent: bool = False


def read_typer(path: str, tree: ast.Module) -> CommandLine | None:
    """The command line of the script's app, or of the function that it passes to ``typer.run``. None if it
    has neither.

    If a declaration depends on computed values, the command line has a gap instead of fields, which could be
    wrong.
    """
    try:
        root = _Reader(tree).root()
        return command_line_of(root, path, "typer") if root else None
    except UnreadableError as error:
        return unreadable_command_line(path, "typer", error.line)


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.values = ModuleValues("typer")
        self.enums: dict[str, dict[str, str]] = {}
        self.functions: dict[str, _Function] = {}
        self.apps: dict[str, _App] = {}
        self.called: list[_App] = []
        self.registrations = 0  # those that are read
        self.count = 0  # commands and parameters

    def root(self) -> DeclaredCommand | None:
        """The command that the script runs; None if it has neither an app nor a call of ``typer.run``.

        Raises UnreadableError if it can't be read.
        """
        for statement in self.tree.body:
            self._read_statement(statement)
        runs = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and self.values.library_name(node.func) == "run"
        ]
        roots = self.called or [each for each in self.apps.values() if not each.has_parent]
        if len(runs) + len(roots) > 1:
            raise UnreadableError(runs[0].lineno if runs else roots[1].line)
        self._require_all_read()
        if runs:
            return self._command({}, self._function(runs[0]))
        return self._root_of(roots[0]) if roots else None

    def _require_all_read(self) -> None:
        """Raises UnreadableError if commands are added elsewhere, such as in a function or loop."""
        all_of_them = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute) and node.attr in _METHODS and self._app_of(node.value)
        ]
        if len(all_of_them) > self.registrations:
            raise UnreadableError(all_of_them[-1].lineno)

    def _read_statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self.values.read_import(statement)
        elif isinstance(statement, ast.ClassDef):
            self._read_class(statement)
        elif isinstance(statement, _Function):
            self.functions[statement.name] = statement
            for decorator in statement.decorator_list:
                self._read_decorator(statement, decorator)
        elif isinstance(statement, ast.Assign):
            self.values.read_assignment(statement)
            self._read_app(statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self._read_call(statement.value)
        elif isinstance(statement, ast.If | ast.Try):
            for each in statement.body:
                self._read_statement(each)

    def _read_class(self, statement: ast.ClassDef) -> None:
        """Stores the members of the class if it is an enumeration."""
        bases = {getattr(each, "attr", getattr(each, "id", "")) for each in statement.bases}
        if not bases & {*_ENUMS}:
            return
        members = [each for each in statement.body if isinstance(each, ast.Assign)]
        constants = {
            each.targets[0].id: str(each.value.value)
            for each in members
            if isinstance(each.value, ast.Constant) and isinstance(each.targets[0], ast.Name)
        }
        if len(constants) == len(members):
            self.enums[statement.name] = constants

    def _read_app(self, statement: ast.Assign) -> None:
        value = statement.value
        if isinstance(value, ast.Call) and self.values.library_name(value.func) == "Typer":
            settings, names = self._settings(value)
            target = statement.targets[0]
            if names or len(statement.targets) > 1 or not isinstance(target, ast.Name):
                raise UnreadableError(value.lineno)
            self.apps[target.id] = _App(settings, value.lineno)

    def _app_of(self, node: ast.expr) -> _App | None:
        return self.apps.get(node.id) if isinstance(node, ast.Name) else None

    def _read_decorator(self, function: _Function, decorator: ast.expr) -> None:
        called = function_of(decorator)
        app = self._app_of(called.value) if isinstance(called, ast.Attribute) else None
        if app is None or not isinstance(called, ast.Attribute):
            if any(self._is_registration(each) for each in function.decorator_list):
                raise UnreadableError(decorator.lineno)  # another decorator can change the function
            return
        self._register(app, called.attr, decorator, function)

    def _is_registration(self, decorator: ast.expr) -> bool:
        called = function_of(decorator)
        return isinstance(called, ast.Attribute) and self._app_of(called.value) is not None

    def _register(self, app: _App, kind: str, decorator: ast.expr, function: _Function) -> None:
        if not isinstance(decorator, ast.Call) or kind not in ("command", "callback"):
            raise UnreadableError(decorator.lineno)
        self.registrations += 1
        settings, names = self._settings(decorator)
        if kind == "command":
            app.commands.append(({**settings, **({"name": names[0]} if names else {})}, function))
        elif names:
            raise UnreadableError(decorator.lineno)
        else:
            app.callback = (settings, function)

    def _read_call(self, call: ast.Call) -> None:
        """Reads ``app()``, ``app.add_typer(other)`` or ``app.command()(function)``."""
        target = call.func
        if app := self._app_of(target):
            self.called.append(app)
        elif isinstance(target, ast.Attribute) and (app := self._app_of(target.value)):
            if target.attr != "add_typer":
                raise UnreadableError(call.lineno)
            added = self._app_of(call.args[0]) if len(call.args) == 1 else None
            if added is None or added is app:
                raise UnreadableError(call.lineno)
            self.registrations += 1
            added.has_parent = True
            app.groups.append((self._settings(call, names=False)[0], added))
        elif (
            isinstance(target, ast.Call)
            and isinstance(target.func, ast.Attribute)
            and (app := self._app_of(target.func.value))
        ):
            self._register(app, target.func.attr, target, self._function(call))

    def _function(self, call: ast.Call) -> _Function:
        """The function that is the call's only argument. Raises UnreadableError for other arguments."""
        given = call.args[0] if len(call.args) == 1 and not call.keywords else None
        function = self.functions.get(given.id) if isinstance(given, ast.Name) else None
        if function is None or function.decorator_list:
            raise UnreadableError(call.lineno)
        return function

    def _settings(self, call: ast.Call, *, names: bool = True) -> tuple[dict[str, Any], list[Any]]:
        """The keyword values and positional values of a call. Raises UnreadableError for computed and unknown
        ones.
        """
        settings: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg not in _SETTINGS:
                raise UnreadableError(call.lineno)
            text = keyword.arg in ("help", "epilog", "short_help", "deprecated")
            settings[keyword.arg] = (
                self.values.text(keyword.value) if text else self.values.value(keyword.value)
            )
        context = settings.get("context_settings") or {}
        if not isinstance(context, Mapping) or not context.keys() <= _CONTEXT_SETTINGS:
            raise UnreadableError(call.lineno)
        return settings, [self.values.value(each) for each in call.args] if names else []

    def _root_of(self, app: _App) -> DeclaredCommand:
        """The group of the app, or its only command if the app has no callback and no groups."""
        if app.callback or app.groups or len(app.commands) != 1:
            if not app.commands and not app.groups:
                raise UnreadableError(app.line)
            return self._group({}, app)
        return self._command(*app.commands[0])

    def _group(self, given: Mapping[str, Any], app: _App, depth: int = 0) -> DeclaredCommand:
        if depth > MAX_DEPTH:
            raise UnreadableError(app.line)
        called, function = app.callback or ({}, None)
        settings = {**app.settings, **called, **given}
        about = settings.get("help") or (ast.get_docstring(function) if function else "")
        self._count(1, app.line)
        group = DeclaredCommand(
            str(settings.get("name") or ""),
            True,
            text_of(about),
            app.line,
            subcommand_required=not settings.get("invoke_without_command"),
            parameters=self._parameters(function) if function else [],
        )
        for command in app.commands:
            below = self._command(*command)
            group.subcommands[below.name] = below
        for more, other in app.groups:
            below = self._group(more, other, depth + 1)
            if not below.name:
                raise UnreadableError(other.line)  # versions of typer differ
            group.subcommands[below.name] = below
        return group

    def _command(self, settings: Mapping[str, Any], function: _Function) -> DeclaredCommand:
        return DeclaredCommand(
            str(settings.get("name") or function.name.lower().replace("_", "-")),
            False,
            text_of(settings.get("help") or ast.get_docstring(function)),
            function.lineno,
            parameters=self._parameters(function),
        )

    def _parameters(self, function: _Function) -> list[Parameter]:
        parameters = parameters_of(function, self.values, self.enums)
        self._count(1 + len(parameters), function.lineno)
        return parameters

    def _count(self, more: int, line: int) -> None:
        """Adds to the number of parameters and commands. Raises UnreadableError above MAX_PARAMETERS, because
        an app can be part of several others.
        """
        self.count += more
        if self.count > MAX_PARAMETERS:
            raise UnreadableError(line)
