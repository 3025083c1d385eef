"""What is wrong, said so that a person can mend it: the one shape of every refusal, check and notice.

Codes are stable and never translated; their texts are English templates that the floors above translate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "notice"]


def gettext_noop(text: str) -> str:
    """Marks a text for translation; the floor that shows it translates."""
    return text


@dataclass(frozen=True)
class Code:
    """One stable code: its texts (templates with ``%(name)s``), HTTP status and whether to try again."""

    name: str
    message: str
    remedy: str
    severity: Severity = "error"
    http: int = 422
    retryable: bool = False


CODES: dict[str, Code] = {}


def declare(*codes: Code) -> None:
    """Adds codes to the one list; a code said twice is a programming error."""
    for code in codes:
        if code.name in CODES:
            raise ValueError(f"code {code.name} is declared twice")
        CODES[code.name] = code


def _as_is(text: str) -> str:
    return text


_WORDS = ("reason", "expected")  # parameters that are words of ours, also where a row keeps them as text


class Said(str):
    """A sentence within a message: English as it stands, and translated where the message is."""

    template: str
    params: Mapping[str, object]

    def __new__(cls, template: str, **params: object) -> Said:
        said = super().__new__(cls, template % params)
        said.template, said.params = template, params
        return said

    def translated(self, translate: Callable[[str], str]) -> str:
        return translate(self.template) % self.params


@dataclass(frozen=True)
class Problem:
    """A failed check: which code, where (``path`` in the package or input, ``line`` from 1)."""

    code: str
    path: str = ""
    line: int | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    severity: Severity = "error"

    def message(self, translate: Callable[[str], str] = _as_is) -> str:
        return translate(CODES[self.code].message) % self._params(translate)

    def remedy(self, translate: Callable[[str], str] = _as_is) -> str:
        return translate(CODES[self.code].remedy) % self._params(translate)

    def _params(self, translate: Callable[[str], str]) -> dict[str, object]:
        return {name: _translated(name, value, translate) for name, value in self.params.items()}

    def document(self, translate: Callable[[str], str] = _as_is) -> dict[str, object]:
        """The JSON object of commands and API: code, severity, message, path, line, remedy."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message(translate),
            "path": self.path,
            "line": self.line,
            "remedy": self.remedy(translate),
        }


def _translated(name: str, value: object, translate: Callable[[str], str]) -> object:
    if isinstance(value, Said):
        return value.translated(translate)
    return translate(value) if name in _WORDS and isinstance(value, str) and value else value


def problem(code: str, *, path: str = "", line: int | None = None, **params: object) -> Problem:
    """A problem with the severity that its code was declared with."""
    return Problem(code, path, line, params, CODES[code].severity)


_PARAMETER = re.compile(r"%\((\w+)\)[a-z]")


def filled(template: str, params: Mapping[str, object]) -> str:
    """The template with what is known of its values; what is not is left as "…"."""
    return _PARAMETER.sub(lambda found: str(params.get(found[1], "…")), template).replace("%%", "%")


class Refused(Exception):
    """The one way to say no: at least one problem, the first of them the reason."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message())
        self.problems = problems

    @property
    def code(self) -> str:
        return self.problems[0].code


def refuse(code: str, *, path: str = "", line: int | None = None, **params: object) -> Refused:
    """``raise refuse("CODE", name=…)``."""
    return Refused(problem(code, path=path, line=line, **params))
