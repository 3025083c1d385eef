"""Reads the parameters of the functions that a script registers with typer."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from registry.packages.command_lines.command_line import MAX_CHOICES, Parameter
from registry.packages.command_lines.python.commands.declared_command import UnreadableError
from registry.packages.command_lines.python.commands.module_values import ModuleValues
from registry.packages.command_lines.python.commands.parameters import ValueKind, build_parameter

Function = ast.FunctionDef | ast.AsyncFunctionDef
Enums = Mapping[str, Mapping[str, str]]  # the members and values of the script's enumerations, by name
_KINDS = {
    **{name: ValueKind(name) for name in ("str", "int", "float", "bool", "Path", "UUID", "datetime")},
    "FileText": ValueKind("File", file="input"),
    "FileBinaryRead": ValueKind("File", file="input"),
    "FileTextWrite": ValueKind("File", file="output"),
    "FileBinaryWrite": ValueKind("File", file="output"),
}
_READ = frozenset({"help", "metavar", "hidden", "prompt", "count", "exists", "file_okay", "dir_okay"})
_IGNORED = frozenset(
    {"default", "default_factory", "callback", "envvar", "show_default", "show_choices", "show_envvar"}
    | {"expose_value", "is_eager", "shell_complete", "autocompletion", "confirmation_prompt", "hide_input"}
    | {"prompt_required", "allow_from_autoenv", "case_sensitive", "min", "max", "clamp", "formats", "mode"}
    | {"encoding", "errors", "lazy", "atomic", "writable", "readable", "resolve_path", "allow_dash"}
    | {"path_type", "rich_help_panel"}
)


@dataclass(frozen=True)
class _Declared:
    """An argument of the function; ``call`` is its ``typer.Option()`` or ``typer.Argument()``."""

    name: str
    type: ast.expr | None
    default: ast.expr | None  # None: the parameter has no default
    line: int
    call: ast.Call | None = None
    flags: tuple[ast.expr, ...] = ()


@dataclass(frozen=True)
class _Kind:
    """The type of a parameter: a list if ``many`` is set, or a tuple of ``length`` values."""

    value: ValueKind
    many: bool = False
    length: int = 1


def parameters_of(function: Function, values: ModuleValues, enums: Enums) -> list[Parameter]:
    """The parameters of the command, without typer's context. Raises UnreadableError for declarations that
    this reader does not support.
    """
    if function.args.vararg or function.args.kwarg:
        raise UnreadableError(function.lineno)
    return [
        _parameter(declared, values, enums)
        for declared in _declared_arguments(function, values)
        if declared.type is None or _last_name(declared.type) != "Context"
    ]


def _declared_arguments(function: Function, values: ModuleValues) -> Iterator[_Declared]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
        line, (kind, call) = argument.lineno, _split(argument, values)
        if call is None and isinstance(default, ast.Call) and _is_declaration(default, values):
            given = [each.value for each in default.keywords if each.arg == "default"]
            first = [*default.args[:1], *given]
            yield _Declared(
                argument.arg, kind, first[0] if first else None, line, default, tuple(default.args[1:])
            )
        else:
            yield _Declared(argument.arg, kind, default, line, call, tuple(call.args) if call else ())


def _split(argument: ast.arg, values: ModuleValues) -> tuple[ast.expr | None, ast.Call | None]:
    """The type and the declaration of an argument with ``Annotated[type, declaration]``; otherwise the
    annotation and None. Raises UnreadableError for several declarations.
    """
    annotation = _without_quotes(argument.annotation) if argument.annotation else None
    if not isinstance(annotation, ast.Subscript) or _last_name(annotation.value) != "Annotated":
        return annotation, None
    items = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    calls = [each for each in items[1:] if isinstance(each, ast.Call) and _is_declaration(each, values)]
    if len(calls) > 1:
        raise UnreadableError(argument.lineno)
    return _without_quotes(items[0]), calls[0] if calls else None


def _is_declaration(call: ast.Call, values: ModuleValues) -> bool:
    return values.library_name(call.func) in ("Option", "Argument")


def _without_quotes(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return node
    try:
        return ast.parse(node.value[:200], mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnreadableError(node.lineno) from None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _parameter(declared: _Declared, values: ModuleValues, enums: Enums) -> Parameter:
    kind = _kind_of(declared.type, declared.line, values, enums)
    settings = _settings(declared, values)
    default, is_required, is_computed = _default(declared, values, enums)
    is_option = values.library_name(declared.call.func) == "Option" if declared.call else not is_required
    settings["default"] = default
    kind = replace(kind, value=_with_path(kind.value, settings))
    build = _option if is_option else _argument
    parameter = build(declared, settings, kind, values, is_required)
    if is_computed:
        return replace(parameter, default=None, default_computed=True)
    return parameter


def _settings(declared: _Declared, values: ModuleValues) -> dict[str, Any]:
    """The settings of the declaration that this reader uses. Raises UnreadableError for unknown ones."""
    found: dict[str, Any] = {}
    for keyword in declared.call.keywords if declared.call else ():
        if keyword.arg in _READ:
            is_text = keyword.arg in ("help", "prompt")
            found[keyword.arg] = values.text(keyword.value) if is_text else values.value(keyword.value)
        elif keyword.arg not in _IGNORED:
            raise UnreadableError(declared.line)
    found["prompt"] = found.get("prompt") not in (None, "False")
    return found


def _default(declared: _Declared, values: ModuleValues, enums: Enums) -> tuple[Any, bool, bool]:
    """The default, whether the parameter is required, and whether the default is computed by the script."""
    if declared.call and any(each.arg == "default_factory" for each in declared.call.keywords):
        return None, False, True
    node = declared.default
    if node is None:
        return None, True, False
    if isinstance(node, ast.Call) and _last_name(node.func) == "Path" and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Attribute) and _last_name(node.value) in enums:
        return enums[_last_name(node.value)].get(node.attr), False, False
    try:
        value = values.value(node)
    except UnreadableError:
        return None, False, True
    return (None, True, False) if value is Ellipsis else (value, False, False)


def _with_path(kind: ValueKind, settings: Mapping[str, Any]) -> ValueKind:
    """The kind with the settings of a ``Path`` parameter: a folder, or an input file if the path must
    exist.
    """
    if kind.name != "Path":
        return kind
    if settings.get("file_okay") is False:
        return replace(kind, is_folder=True)
    return replace(kind, file="input" if settings.get("exists") else "")


def _option(
    declared: _Declared, settings: Mapping[str, Any], kind: _Kind, values: ModuleValues, is_required: bool
) -> Parameter:
    is_flag = kind.value.name == "bool"
    is_counted = bool(settings.get("count"))
    if is_flag and (kind.many or is_counted):
        raise UnreadableError(declared.line)
    flags, negative = _flags(declared, settings, values, is_flag=is_flag)
    count = 0 if is_flag or is_counted else kind.length
    return build_parameter(
        declared.name,
        settings,
        ValueKind() if is_flag or is_counted else kind.value,
        flags=flags,
        negative_flags=negative,
        min_values=count,
        max_values=count,
        repeated=is_counted or kind.many,
        required=is_required or bool(settings["prompt"] and settings["default"] is None),
    )


def _flags(
    declared: _Declared, settings: Mapping[str, Any], values: ModuleValues, *, is_flag: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags that set or enable the option, and those that disable it."""
    given = [values.value(each) for each in declared.flags]
    if not all(isinstance(each, str) and each.strip()[:1] in ("-", "/") for each in given):
        raise UnreadableError(declared.line)
    if not given:
        name = declared.name.replace("_", "-")
        metavar = str(settings.get("metavar") or "").replace("_", "-")
        name = metavar if metavar.lower() == name.lower() else name
        given = [f"--{name}/--no-{name}" if is_flag else f"--{name}"]
    pairs = [each.partition(";" if each[:1] == "/" else "/") for each in given]
    flags = tuple(on.strip() for on, _mark, _off in pairs if on.strip())
    negative = tuple(off.strip() for _on, _mark, off in pairs if off.strip())
    if not flags or (negative and not is_flag):
        raise UnreadableError(declared.line)
    return flags, negative


def _argument(
    declared: _Declared, settings: Mapping[str, Any], kind: _Kind, values: ModuleValues, is_required: bool
) -> Parameter:
    if kind.value.name == "bool" or declared.flags or (kind.length > 1 and not is_required):
        raise UnreadableError(declared.line)
    return build_parameter(
        declared.name,
        settings,
        kind.value,
        min_values=kind.length if is_required else 0,
        max_values=None if kind.many else kind.length,
        required=is_required,
    )


def _kind_of(node: ast.expr | None, line: int, values: ModuleValues, enums: Enums) -> _Kind:
    """The kind of an annotation. Raises UnreadableError for types that typer or this reader does
    not support.
    """
    if node is None:
        return _Kind(_KINDS["str"])
    node = _without_quotes(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _one_of((node.left, node.right), line, values, enums)
    if not isinstance(node, ast.Subscript):
        return _Kind(_simple(node, line, enums))
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    name = _last_name(node.value)
    if name in ("Optional", "Union"):
        return _one_of(items, line, values, enums)
    if name in ("list", "List") and len(items) == 1:
        return _Kind(_simple(_without_quotes(items[0]), line, enums), many=True)
    if name in ("tuple", "Tuple"):
        kinds = {_simple(_without_quotes(each), line, enums) for each in items}
        if len(kinds) == 1 and len(items) <= MAX_CHOICES:
            return _Kind(kinds.pop(), length=len(items))
    if name == "Literal" and len(items) <= MAX_CHOICES:
        return _Kind(ValueKind("Choice", tuple(str(values.value(each)) for each in items)))
    raise UnreadableError(line)


def _one_of(
    nodes: tuple[ast.expr, ...] | list[ast.expr], line: int, values: ModuleValues, enums: Enums
) -> _Kind:
    """The kind of the only type in the union that is not None. Raises UnreadableError for several types."""
    kinds = [
        _kind_of(each, line, values, enums)
        for each in nodes
        if not (isinstance(each, ast.Constant) and each.value is None)
    ]
    if len(kinds) != 1:
        raise UnreadableError(line)
    return kinds[0]


def _simple(node: ast.expr, line: int, enums: Enums) -> ValueKind:
    name = _last_name(node)
    if name in enums:
        return ValueKind("Choice", tuple(dict.fromkeys(enums[name].values())))
    if name not in _KINDS:
        raise UnreadableError(line)
    return _KINDS[name]
