"""The types of all errors, warnings and notices: codes, problems and refusals.

Codes never change and are not translated. Their texts are English templates that are translated on display.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from inspect import signature
from typing import Generic, Literal, ParamSpec, overload

P = ParamSpec("P")
Severity = Literal["error", "warning", "notice"]


def gettext_noop(text: str) -> str:
    """Marks a text for translation and returns it unchanged. It is translated on display."""
    return text


@dataclass(frozen=True)
class Code(Generic[P]):
    """A stable code. ``message`` and ``remedy`` are templates with ``%(name)s`` parameters, typed by ``P``.

    ``http`` is the status of a response whose first problem has this code.
    """

    name: str
    message: str
    remedy: str
    parameters: frozenset[str] = frozenset()
    severity: Severity = "error"
    http: int = 422
    retryable: bool = False

    def problem(self, *args: P.args, **params: P.kwargs) -> Problem:
        """A problem with this code. ``.at(path, line)`` sets its place."""
        return Problem(self.name, params=params, severity=self.severity)

    def refusal(self, *args: P.args, **params: P.kwargs) -> Refusal:
        """A ``Refusal`` with one problem, for ``raise NOT_FOUND.refusal(what="skill", name=name)``."""
        return Refusal(self.problem(*args, **params))


CODES: dict[str, Code[...]] = {}


@overload
def declare(
    name: str, *, http: int = ..., severity: Severity = ..., retryable: bool = ...
) -> Callable[[str, str], Code[[]]]: ...


@overload
def declare(
    name: str,
    parameters: Callable[P, object],
    *,
    http: int = ...,
    severity: Severity = ...,
    retryable: bool = ...,
) -> Callable[[str, str], Code[P]]: ...


def declare(
    name: str,
    parameters: Callable[..., object] = lambda: ...,
    *,
    http: int = 422,
    severity: Severity = "error",
    retryable: bool = False,
) -> Callable[[str, str], Code[...]]:
    """Declares a code: returns a function that takes message and remedy and adds the code to CODES.

    The returned function raises ValueError if the name is already declared. ``parameters`` is never called;
    its signature declares the parameters of the texts:

        X = declare("X", lambda *, skill: ..., http=409)(_("… %(skill)s …"), _("…"))
    """

    def add(message: str, remedy: str) -> Code[...]:
        if name in CODES:
            raise ValueError(f"code {name} is declared twice")
        known = frozenset(signature(parameters).parameters)
        CODES[name] = Code(name, message, remedy, known, severity, http, retryable)
        return CODES[name]

    return add


def code_named(name: str) -> Code[...]:
    """The code with this name, for names known only at run time: its parameters are not type-checked.

    Raises KeyError if no code has the name.
    """
    return CODES[name]


def _as_is(text: str) -> str:
    return text


# Parameters with translatable texts, even if stored.
_TRANSLATED = ("reason", "expected", "unit", "what", "action")


class LazyMessage(str):
    """A translatable part of a message. Its value as a ``str`` is the English text.

    Its parameters are shown like those of a problem, so they can be lists and other LazyMessages.
    """

    template: str
    params: Mapping[str, object]

    def __new__(cls, template: str, **params: object) -> LazyMessage:
        message = super().__new__(cls, template % _shown(params, _as_is))
        message.template, message.params = template, params
        return message

    def translated(self, translate: Callable[[str], str]) -> str:
        return translate(self.template) % _shown(self.params, translate)


@dataclass(frozen=True)
class Problem:
    """An error, warning or notice with its place: ``path`` in the package or input, ``line`` from 1."""

    code: str
    path: str = ""
    line: int | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    severity: Severity = "error"
    detail: str = ""  # a more exact message than the code's; a LazyMessage is translated

    def at(self, path: str = "", line: int | None = None) -> Problem:
        """A copy of the problem with this path in the package or input, and this line."""
        return replace(self, path=path, line=line)

    def message(self, translate: Callable[[str], str] = _as_is) -> str:
        if self.detail:
            return str(_translated("detail", self.detail, translate))
        return translate(code_named(self.code).message) % _shown(self.params, translate)

    def remedy(self, translate: Callable[[str], str] = _as_is) -> str:
        return translate(code_named(self.code).remedy) % _shown(self.params, translate)

    def document(self, translate: Callable[[str], str] = _as_is) -> dict[str, object]:
        """The problem as a JSON object for commands and API: code, severity, message, path, line, remedy."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message(translate),
            "path": self.path,
            "line": self.line,
            "remedy": self.remedy(translate),
        }


_LIST = gettext_noop("%(items)s, %(item)s")


def storable(value: object) -> object:
    """The value of a parameter for a JSON column. Messages show it like the value itself."""
    if isinstance(value, LazyMessage):
        params = {name: storable(each) for name, each in value.params.items()}
        return {"template": value.template, "params": params}
    if isinstance(value, list | tuple):
        return list(map(str, value))
    return value if isinstance(value, str | int | float) else str(value)


def _shown(params: Mapping[str, object], translate: Callable[[str], str]) -> dict[str, object]:
    return {name: _translated(name, value, translate) for name, value in params.items()}


def _translated(name: str, value: object, translate: Callable[[str], str]) -> object:
    """The value as the message shows it: translated, or the items of a list with the language's separator."""
    if isinstance(value, Mapping):  # a LazyMessage from a JSON column
        value = LazyMessage(value["template"], **value["params"])
    if isinstance(value, LazyMessage):
        return value.translated(translate)
    if isinstance(value, list | tuple) and (texts := list(map(str, value))):
        return reduce(lambda items, item: translate(_LIST) % {"items": items, "item": item}, texts)
    return translate(value) if name in _TRANSLATED and isinstance(value, str) and value else value


_PARAMETER = re.compile(r"%\((\w+)\)[a-z]")


def fill_known(template: str, params: Mapping[str, object]) -> str:
    """The template with the known values filled in, "…" for the others, and ``%`` for ``%%``."""
    return _PARAMETER.sub(lambda match: str(params.get(match[1], "…")), template).replace("%%", "%")


def with_names(template: str) -> str:
    """The template with names for its parameters, such as ``<skill>``, and ``%`` for ``%%``."""
    return _PARAMETER.sub(r"<\1>", template).replace("%%", "%")


class Refusal(Exception):
    """The exception for every refused request. It has one or more problems; the first is the main reason."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message())
        self.problems = problems

    @property
    def code(self) -> str:
        return self.problems[0].code

    def at(self, path: str = "", line: int | None = None) -> Refusal:
        """A copy of the refusal with its first problem at this path and line."""
        first, *others = self.problems
        return Refusal(first.at(path, line), *others)
