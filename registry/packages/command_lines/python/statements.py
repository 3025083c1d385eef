"""Follows the statements of a Python script up to the call of its parser, without running the script."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from registry.packages.command_lines.python import constants
from registry.packages.command_lines.python.expressions import (
    EXITS,
    ExpressionEvaluation,
    Library,
    ReturnError,
    ScriptEndedError,
    truth_of,
)
from registry.packages.command_lines.python.values import (
    ClassValue,
    DottedName,
    EnumMember,
    FunctionValue,
    NameScope,
)
from registry.packages.command_lines.unknown import UNKNOWN

_MAX_CALLS = 12  # of nested calls
_ENDINGS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class _LoopEndedError(Exception):
    pass


class Evaluation(ExpressionEvaluation):
    """Executes the statements of a script in order."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.depth = 0

    def run(self, statements: Sequence[ast.stmt], scope: NameScope) -> None:
        """Executes the statements. Raises ScriptEndedError, LimitReachedError or RecursionError."""
        try:
            for statement in statements:
                self._execute(statement, scope)
        except (ReturnError, _LoopEndedError):
            pass

    def call(self, function: FunctionValue, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The value that the function returns; UNKNOWN for too many nested calls."""
        if self.depth >= _MAX_CALLS:
            return UNKNOWN
        scope = NameScope(parent=function.scope)
        receiver = [] if function.receiver is None else [function.receiver]
        self._bind_parameters(function, [*receiver, *arguments], keywords, scope)
        self.depth += 1
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body, scope)
            for statement in function.node.body:
                self._execute(statement, scope)
        except ReturnError as returned:
            return returned.value
        except _LoopEndedError:
            return UNKNOWN
        finally:
            self.depth -= 1
        return None

    def _bind_parameters(
        self, function: FunctionValue, arguments: Sequence[Any], keywords: Mapping[str, Any], scope: NameScope
    ) -> None:
        declared = function.node.args
        names = [each.arg for each in (*declared.posonlyargs, *declared.args)]
        for parameter in (*names, *(each.arg for each in declared.kwonlyargs)):
            scope.names[parameter] = UNKNOWN
        defaults = [*zip(reversed(names), reversed(declared.defaults), strict=False)]
        defaults += [
            (each.arg, default)
            for each, default in zip(declared.kwonlyargs, declared.kw_defaults, strict=True)
            if default is not None
        ]
        for name, default in defaults:
            scope.names[name] = self.value(default, function.scope)
        scope.names.update(zip(names, arguments, strict=False))
        scope.names.update((name, value) for name, value in keywords.items() if name in scope.names)
        if declared.vararg:
            scope.names[declared.vararg.arg] = list(arguments[len(names) :])
        if declared.kwarg:
            rest = {name: value for name, value in keywords.items() if name not in scope.names}
            scope.names[declared.kwarg.arg] = rest

    def _execute(self, node: ast.stmt, scope: NameScope) -> None:
        self.step()
        execute = getattr(self, f"_execute_{type(node).__name__.lower()}", None)
        if execute is not None:
            execute(node, scope)

    def _block(self, statements: Sequence[ast.stmt], scope: NameScope) -> None:
        for statement in statements:
            self._execute(statement, scope)

    def _uncertain_block(self, statements: Sequence[ast.stmt], scope: NameScope) -> None:
        self.uncertain += 1
        try:
            self._block(statements, scope)
        except (ReturnError, _LoopEndedError):
            pass
        finally:
            self.uncertain -= 1

    def _execute_expr(self, node: ast.Expr, scope: NameScope) -> None:
        self.value(node.value, scope)

    def _execute_assign(self, node: ast.Assign, scope: NameScope) -> None:
        value = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def _execute_annassign(self, node: ast.AnnAssign, scope: NameScope) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def _execute_augassign(self, node: ast.AugAssign, scope: NameScope) -> None:
        value = constants.binary(node.op, self.value(node.target, scope), self.value(node.value, scope))
        self.assign(node.target, value, scope)

    def _execute_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: NameScope) -> None:
        scope.names[node.name] = FunctionValue(node, scope)

    _execute_asyncfunctiondef = _execute_functiondef

    def _execute_classdef(self, node: ast.ClassDef, scope: NameScope) -> None:
        bases = tuple(self.value(each, scope) for each in node.bases)
        value = ClassValue(node, bases, NameScope(parent=scope))
        self._block(node.body, value.scope)
        if value.is_a("Enum", "StrEnum", "IntEnum"):
            names = value.scope.names
            for name, each in names.items():
                if not isinstance(each, FunctionValue) and not name.startswith("_"):
                    names[name] = EnumMember(name, each)
        scope.names[node.name] = value

    def _execute_import(self, node: ast.Import, scope: NameScope) -> None:
        for each in node.names:
            name = each.name if each.asname else each.name.partition(".")[0]
            scope.names[each.asname or name] = DottedName(name)

    def _execute_importfrom(self, node: ast.ImportFrom, scope: NameScope) -> None:
        prefix = "." * node.level + (node.module or "")
        for each in node.names:
            scope.names[each.asname or each.name] = self.attribute(DottedName(prefix), each.name)

    def _execute_return(self, node: ast.Return, scope: NameScope) -> None:
        raise ReturnError(self.value(node.value, scope) if node.value else None)

    def _execute_raise(self, node: ast.Raise, scope: NameScope) -> None:
        if not self.uncertain:
            raise ScriptEndedError
        raise ReturnError(UNKNOWN)

    def _execute_break(self, node: ast.Break, scope: NameScope) -> None:
        raise _LoopEndedError

    _execute_continue = _execute_break

    def _execute_if(self, node: ast.If, scope: NameScope) -> None:
        truth = truth_of(self.value(node.test, scope))
        if truth is not None:
            self._block(node.body if truth else node.orelse, scope)
        elif _ends(node.body):
            self._block(node.orelse, scope)
        elif _ends(node.orelse):
            self._block(node.body, scope)
        else:
            self._uncertain_block(node.body, scope)
            self._uncertain_block(node.orelse, scope)

    def _execute_try(self, node: ast.Try, scope: NameScope) -> None:
        self._block(node.body, scope)
        self._block(node.orelse, scope)
        self._block(node.finalbody, scope)

    _execute_trystar = _execute_try

    def _execute_with(self, node: ast.With | ast.AsyncWith, scope: NameScope) -> None:
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        self._block(node.body, scope)

    _execute_asyncwith = _execute_with

    def _execute_for(self, node: ast.For | ast.AsyncFor, scope: NameScope) -> None:
        items = constants.items_of(self.value(node.iter, scope))
        if items is None:
            self.assign(node.target, UNKNOWN, scope)
            self._uncertain_block(node.body, scope)
            return
        for item in items:
            self.step()
            self.assign(node.target, item, scope)
            try:
                self._block(node.body, scope)
            except _LoopEndedError:
                continue  # ``break`` under a known condition is too rare to be followed
        self._block(node.orelse, scope)

    _execute_asyncfor = _execute_for

    def _execute_while(self, node: ast.While, scope: NameScope) -> None:
        self._uncertain_block(node.body, scope)

    def _execute_match(self, node: ast.Match, scope: NameScope) -> None:
        for case in node.cases:
            self._uncertain_block(case.body, scope)


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Whether the statements leave their block, also by a call that ends the script, such as
    ``parser.error()``.
    """
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        called = last.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in (*EXITS, "error")
    return isinstance(last, _ENDINGS)
