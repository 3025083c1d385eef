"""Reads the commands that a Python script declares with click's decorators."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from registry.packages.command_lines.command_line import CommandLine
from registry.packages.command_lines.python.argparse_parameters import text_of
from registry.packages.command_lines.python.commands.click_parameters import argument_of, kind_of, option_of
from registry.packages.command_lines.python.commands.declared_command import (
    DeclaredCommand,
    UnreadableError,
    command_line_of,
    unreadable_command_line,
)
from registry.packages.command_lines.python.commands.module_values import ModuleValues, function_of

_WITHOUT_PARAMETERS = ("pass_context", "pass_obj", "version_option", "help_option")
_COMMAND_SETTINGS = frozenset(
    {"name", "help", "epilog", "short_help", "hidden", "deprecated", "no_args_is_help", "context_settings"}
)
_GROUP_SETTINGS = _COMMAND_SETTINGS | {"invoke_without_command"}
_CONTEXT_SETTINGS = frozenset(
    {"help_option_names", "max_content_width", "terminal_width", "show_default", "auto_envvar_prefix", "obj"}
)
_OPTION_SETTINGS = frozenset(
    {"default", "required", "type", "help", "multiple", "nargs", "is_flag", "count", "show_default", "prompt"}
    | {"hidden", "envvar", "callback", "metavar", "show_envvar", "show_choices", "expose_value", "is_eager"}
)
_SUFFIXES = ("_command", "_cmd", "_group", "_grp")  # newer versions of click remove them from names


def read_click(path: str, tree: ast.Module) -> CommandLine | None:
    """The command line of the script's root command; None if the script declares none.

    If a declaration depends on computed values, the command line has a gap instead of fields, which could be
    wrong.
    """
    try:
        root = _Reader(tree).root()
        return command_line_of(root, path, "click") if root else None
    except UnreadableError as error:
        return unreadable_command_line(path, "click", error.line)


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.values = ModuleValues("click")
        self.commands: dict[str, DeclaredCommand] = {}  # by the name of their function
        self.called: list[str] = []  # commands that the module calls
        self.read: set[ast.AST] = set()  # functions and calls

    def root(self) -> DeclaredCommand | None:
        """The command that the script runs; None if it declares none. Raises UnreadableError if it can't be
        read.
        """
        for statement in self.tree.body:
            self._read_statement(statement)
        roots = [name for name in dict.fromkeys(self.called) if name in self.commands]
        if not roots:
            roots = [name for name, each in self.commands.items() if not each.has_parent]
        if len(roots) > 1:
            raise UnreadableError(self.commands[roots[1]].line)
        self._require_all_read()
        return self.commands[roots[0]] if roots else None

    def _require_all_read(self) -> None:
        """Raises UnreadableError for a command that is declared elsewhere, such as in a function or loop."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                called = [function_of(each) for each in node.decorator_list]
                is_command = any(map(self._is_command, called)) or any(map(self.values.library_name, called))
            else:
                is_command = isinstance(node, ast.Call) and self._adds_command(node)
            if is_command and node not in self.read:
                raise UnreadableError(getattr(node, "lineno", 1))

    def _adds_command(self, call: ast.Call) -> bool:
        target = call.func
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            return False
        return target.attr == "add_command" and target.value.id in self.commands

    def _read_statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self.values.read_import(statement)
        elif isinstance(statement, ast.FunctionDef):
            self.read.add(statement)
            self._read_function(statement)
        elif isinstance(statement, ast.Assign):
            self.values.read_assignment(statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self.read.add(statement.value)
            self._read_call(statement.value)
        elif isinstance(statement, ast.If | ast.Try):
            for each in statement.body:
                self._read_statement(each)

    def _read_call(self, call: ast.Call) -> None:
        """Reads ``cli()``, ``cli.main()`` or ``cli.add_command(other)``."""
        target = call.func
        if isinstance(target, ast.Name):
            self.called.append(target.id)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            group = self.commands.get(target.value.id)
            if group is None:
                return
            if target.attr in ("main", "__call__"):
                self.called.append(target.value.id)
            elif target.attr == "add_command":
                self._attach(group, call)
            else:
                raise UnreadableError(call.lineno)

    def _attach(self, group: DeclaredCommand, call: ast.Call) -> None:
        given = {str(each.arg): each.value for each in call.keywords}
        names = [*call.args[1:], *([given["name"]] if "name" in given else [])]
        added = (
            self.commands.get(call.args[0].id) if call.args and isinstance(call.args[0], ast.Name) else None
        )
        if added is None or added is group or len(names) > 1:
            raise UnreadableError(call.lineno)
        name = self.values.value(names[0]) if names else added.name
        added.has_parent = True
        group.subcommands[str(name)] = added

    def _read_function(self, function: ast.FunctionDef) -> None:
        at = next((n for n, each in enumerate(function.decorator_list) if self._is_command(each)), None)
        if at is None:
            if any(self.values.library_name(function_of(each)) for each in function.decorator_list):
                raise UnreadableError(function.lineno)  # a decorator that other commands share
            return
        command, parent = self._create(function, function.decorator_list[at])
        for decorator in function.decorator_list[at + 1 :]:
            self._read_parameter(command, decorator)
        if at:  # a decorator around the command can change it
            raise UnreadableError(function.lineno)
        self.commands[function.name] = command
        if parent is not None:
            command.has_parent = True
            parent.subcommands[command.name] = command

    def _is_command(self, decorator: ast.expr) -> bool:
        called = function_of(decorator)
        if self.values.library_name(called) in ("command", "group"):
            return True
        return (
            isinstance(called, ast.Attribute)
            and called.attr in ("command", "group")
            and isinstance(called.value, ast.Name)
            and called.value.id not in self.values.modules
        )

    def _create(
        self, function: ast.FunctionDef, decorator: ast.expr
    ) -> tuple[DeclaredCommand, DeclaredCommand | None]:
        called, line = function_of(decorator), decorator.lineno
        kind, parent = self.values.library_name(called), None
        if not kind and isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            kind, parent = called.attr, self.commands.get(called.value.id)
            if parent is None or not parent.is_group:
                raise UnreadableError(line)
        settings, names = self._settings(decorator, _GROUP_SETTINGS if kind == "group" else _COMMAND_SETTINGS)
        context = settings.get("context_settings") or {}
        if not isinstance(context, Mapping) or not context.keys() <= _CONTEXT_SETTINGS or len(names) > 1:
            raise UnreadableError(line)
        if not names and not settings.get("name") and function.name.endswith(_SUFFIXES) and parent:
            raise UnreadableError(line)
        name = (names or [settings.get("name") or function.name.lower().replace("_", "-")])[0]
        about = settings.get("help") or (ast.get_docstring(function) or "").partition("\f")[0]
        is_group = kind == "group"
        required = is_group and not settings.get("invoke_without_command")
        return DeclaredCommand(
            str(name), is_group, text_of(about), line, subcommand_required=required
        ), parent

    def _read_parameter(self, command: DeclaredCommand, decorator: ast.expr) -> None:
        kind = self.values.library_name(function_of(decorator))
        if kind in _WITHOUT_PARAMETERS:
            return
        if kind not in ("option", "argument") or not isinstance(decorator, ast.Call):
            raise UnreadableError(decorator.lineno)
        settings, names = self._settings(decorator, _OPTION_SETTINGS)
        if not names or not all(isinstance(each, str) for each in names):
            raise UnreadableError(decorator.lineno)
        read = option_of if kind == "option" else argument_of
        parameter = read(tuple(names), settings, kind_of(decorator, self.values), decorator.lineno)
        if any(each.name == parameter.name for each in command.parameters):
            raise UnreadableError(decorator.lineno)
        command.parameters.append(parameter)

    def _settings(self, decorator: ast.expr, known: frozenset[str]) -> tuple[dict[str, Any], list[Any]]:
        """The keyword values and positional values of a decorator, except ``type``, which ``kind_of`` reads.

        Raises UnreadableError for unknown keywords and computed values.
        """
        if not isinstance(decorator, ast.Call):
            return {}, []
        settings: dict[str, Any] = {}
        for keyword in decorator.keywords:
            if keyword.arg is None or keyword.arg not in known:
                raise UnreadableError(decorator.lineno)
            if keyword.arg not in ("type", "callback"):
                is_text = keyword.arg in ("help", "epilog", "short_help", "obj")
                read = self.values.text if is_text else self.values.value
                settings[keyword.arg] = read(keyword.value)
        return settings, [self.values.value(each) for each in decorator.args]
