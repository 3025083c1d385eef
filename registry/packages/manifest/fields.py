"""Typed readers for front matter fields. Each invalid value adds a problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from registry.packages.archive.paths import printable
from registry.packages.errors import FIELD_LIST_AS_TEXT, FIELD_TYPE, FIELD_VALUE
from registry.packages.manifest.frontmatter import FrontMatter
from registry.packages.near_misses import closest
from registry.packages.problems import LazyMessage, Problem, Severity, gettext_noop

_YES, _NO = ("true", "yes", "on"), ("false", "no", "off")


class Fields:
    """The fields of a mapping in the front matter. ``unknown`` has the fields whose value has no effect.

    Readers such as ``text`` accept alternative names of one field. An invalid value counts as missing, adds a
    problem to ``problems`` and its key path to ``rejected``, which nested groups share.
    """

    def __init__(
        self,
        front: FrontMatter,
        problems: list[Problem],
        values: Mapping[str, Any],
        key_path: tuple[str, ...] = (),
        rejected: set[tuple[str, ...]] | None = None,
    ) -> None:
        self.front = front
        self.problems = problems
        self.values = values
        self.key_path = key_path
        self.rejected = set() if rejected is None else rejected
        self._read_names: set[str] = set()
        self.known_names: set[str] = set()  # all names that a reader accepts

    @property
    def unknown(self) -> dict[str, Any]:
        """The values that were not read, or were rejected as a whole or in part, as written."""
        return {
            name: value
            for name, value in self.values.items()
            if name not in self._read_names or self.is_rejected(name)
        }

    def is_rejected(self, *names: str) -> bool:
        """Whether the value at this key path, or a value inside it, was invalid."""
        path = (*self.key_path, *names)
        return any(one[: len(path)] == path for one in self.rejected)

    def spelling(self, *names: str) -> str:
        """The first of the names whose value is not None, otherwise the first name."""
        return next((name for name in names if self.values.get(name) is not None), names[0])

    def value(self, *names: str) -> Any:
        """The value of the first name that has one, or None. Other names with a value stay unknown."""
        self.known_names.update(names)
        used = self.spelling(*names)
        self._read_names.update(name for name in names if name == used or self.values.get(name) is None)
        return self.values.get(used)

    def add_problem(self, problem: Problem, name: str) -> None:
        """Appends the problem to ``problems``, with the file and line of this field."""
        path, line = self.front.at(*self.key_path, name)
        self.problems.append(problem.at(path, line))

    def note_type(self, name: str, *, expected: str, found: object) -> None:
        self._reject(FIELD_TYPE.problem(field=self.label(name), expected=expected, found=found), name)

    def note_value(self, name: str, *, expected: str, found: object, severity: Severity = "warning") -> None:
        problem = FIELD_VALUE.problem(field=self.label(name), expected=expected, found=found)
        self._reject(replace(problem, severity=severity), name)

    def _reject(self, problem: Problem, name: str) -> None:
        """Adds the problem. In ``security``, it becomes an error, because a default must not replace a
        misspelled limit.
        """
        path = (*self.key_path, name)
        self.rejected.add(path)
        self.add_problem(replace(problem, severity="error") if path[0] == "security" else problem, name)

    def label(self, name: str) -> str:
        return ".".join(printable(part) for part in (*self.key_path, name))

    def _add_type_problem(self, names: tuple[str, ...], expected: str, value: object) -> None:
        self.note_type(self.spelling(*names), expected=expected, found=LazyMessage(type_label(value)))

    def text(self, *names: str, default: str = "") -> str:
        value = self.value(*names)
        if value is None:
            return default
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, (int, float)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        self._add_type_problem(names, gettext_noop("text"), value)
        return default

    def boolean(self, *names: str, default: bool = False) -> bool:
        value = self.value(*names)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in _YES + _NO:
            self._add_type_problem(names, gettext_noop("true or false"), value)
            return default
        return word in _YES

    def number(self, *names: str, low: float, high: float) -> float | None:
        """The number if it is from ``low`` to ``high``, otherwise None. Numeric text counts as a number."""
        value = self.value(*names)
        if value is None:
            return None
        if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,15}(\.[0-9]{1,15})?\s*", value):
            value = float(value) if "." in value else int(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._add_type_problem(names, gettext_noop("a number"), value)
            return None
        if not low <= value <= high:
            expected = LazyMessage(
                gettext_noop("between %(low)s and %(high)s"), low=f"{low:g}", high=f"{high:g}"
            )
            self.note_value(self.spelling(*names), found=printable(str(value)), expected=expected)
            return None
        return value

    def integer(self, *names: str, low: int = 1, high: int = 2**31 - 1) -> int | None:
        """The number rounded to an integer, or None in the same cases as ``number``."""
        value = self.number(*names, low=low, high=high)
        return None if value is None else round(value)

    def choice(self, *names: str, options: tuple[str, ...], strict: bool = False) -> str | None:
        """The value if it is in ``options``, otherwise None. If ``strict``, a misspelled one is an error."""
        value = self.value(*names)
        if value is None or value in options:
            return None if value is None else str(value)
        self.note_value(
            self.spelling(*names),
            found=printable(str(value)),
            expected=LazyMessage(gettext_noop("one of %(names)s"), names=options),
            severity="error" if strict and closest(value, options) else "warning",
        )
        return None

    def texts(self, *names: str, split: Callable[[str], list[str]] | None = None) -> tuple[str, ...]:
        """The stripped, non-empty texts of a list; numbers and booleans in it become text.

        A single text is split with ``split``. Without ``split``, the text is split at commas and a problem is
        added.
        """
        value = self.value(*names)
        if value is None:
            return ()
        if isinstance(value, str):
            if split is None:
                name = self.spelling(*names)
                self.add_problem(FIELD_LIST_AS_TEXT.problem(field=self.label(name)), name)
            parts = split(value) if split else value.split(",")
            return tuple(part.strip() for part in parts if part.strip())
        if not isinstance(value, list):
            self._add_type_problem(names, gettext_noop("a list of text values"), value)
            return ()
        return self._items(names, value)

    def _items(self, names: tuple[str, ...], values: list[Any]) -> tuple[str, ...]:
        texts = []
        for index, value in enumerate(values):
            if isinstance(value, (str, int, float)):
                texts.append(value.strip() if isinstance(value, str) else str(value))
            elif value is not None:
                self._inner({}, names).note_type(
                    str(index), expected=gettext_noop("text"), found=LazyMessage(type_label(value))
                )
        return tuple(text for text in texts if text)

    def mapping(self, *names: str) -> dict[str, Any] | None:
        value = self.value(*names)
        if value is None or isinstance(value, dict):
            return value
        self._add_type_problem(names, gettext_noop("an object with fields"), value)
        return None

    def group(self, *names: str) -> Fields:
        """The fields of a nested mapping; empty if the value is missing or not a mapping."""
        return self._inner(self.mapping(*names) or {}, names)

    def _inner(self, values: Mapping[str, Any], names: tuple[str, ...]) -> Fields:
        key_path = (*self.key_path, self.spelling(*names))
        return Fields(self.front, self.problems, values, key_path, self.rejected)


def type_label(value: object) -> str:
    """The name of a value's type for messages, untranslated, such as "a list"."""
    if value is None:
        return gettext_noop("an empty value")
    if isinstance(value, bool):
        return gettext_noop("true or false")
    if isinstance(value, (int, float)):
        return gettext_noop("a number")
    if isinstance(value, str):
        return gettext_noop("text")
    return gettext_noop("a list") if isinstance(value, list) else gettext_noop("an object with fields")
