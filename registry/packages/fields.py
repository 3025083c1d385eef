"""Typed reading of front matter: each reader gives the value or its default, and notes what was wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from registry.packages.frontmatter import FrontMatter
from registry.packages.paths import shown
from registry.packages.problems import Problem, Said, gettext_noop, problem

_YES, _NO = ("true", "yes", "on"), ("false", "no", "off")


class Fields:
    """The fields of one mapping of the front matter; ``left`` is what nobody has asked for."""

    def __init__(
        self,
        front: FrontMatter,
        problems: list[Problem],
        values: Mapping[str, Any],
        place: tuple[str, ...] = (),
    ) -> None:
        self.front = front
        self.problems = problems
        self.values = values
        self.place = place
        self._asked: set[str] = set()

    @property
    def left(self) -> dict[str, Any]:
        return {name: value for name, value in self.values.items() if name not in self._asked}

    def written(self, *names: str) -> str:
        """The spelling that the author used, else the first."""
        return next((name for name in names if self.values.get(name) is not None), names[0])

    def value(self, *names: str) -> Any:
        """The first of several spellings that is there."""
        self._asked.update(names)
        return self.values.get(self.written(*names))

    def note(self, code: str, name: str, /, **params: object) -> None:
        """A problem at the line of this field."""
        path, line = self.front.at(*self.place, name)
        self.problems.append(problem(code, path=path, line=line, field=self.label(name), **params))

    def label(self, name: str) -> str:
        return ".".join(shown(part) for part in (*self.place, name))

    def _mistyped(self, names: tuple[str, ...], expected: str, value: object) -> None:
        self.note("FIELD_TYPE", self.written(*names), expected=expected, found=Said(kind_of(value)))

    def text(self, *names: str, default: str = "") -> str:
        value = self.value(*names)
        if value is None:
            return default
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, (int, float)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        self._mistyped(names, gettext_noop("text"), value)
        return default

    def boolean(self, *names: str, default: bool = False) -> bool:
        value = self.value(*names)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in _YES + _NO:
            self._mistyped(names, gettext_noop("true or false"), value)
            return default
        return word in _YES

    def number(self, *names: str, low: float, high: float) -> float | None:
        """A number within bounds, which numeric text counts as."""
        value = self.value(*names)
        if value is None:
            return None
        if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,15}(\.[0-9]{1,15})?\s*", value):
            value = float(value) if "." in value else int(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._mistyped(names, gettext_noop("a number"), value)
            return None
        if not low <= value <= high:
            self.note(
                "FIELD_VALUE",
                self.written(*names),
                found=shown(str(value)),
                expected=f"between {low:g} and {high:g}",
            )
            return None
        return value

    def integer(self, *names: str, low: int = 1, high: int = 2**31 - 1) -> int | None:
        value = self.number(*names, low=low, high=high)
        return None if value is None else round(value)

    def choice(self, *names: str, options: tuple[str, ...]) -> str | None:
        """One of the options; what is none of them stays among the unknown fields."""
        value = self.value(*names)
        if value is None or value in options:
            return None if value is None else str(value)
        self._asked.difference_update(names)
        self.note(
            "FIELD_VALUE",
            self.written(*names),
            found=shown(str(value)),
            expected="one of " + ", ".join(options),
        )
        return None

    def texts(self, *names: str, split: Callable[[str], list[str]] | None = None) -> tuple[str, ...]:
        """A list of texts. Text is split, by ``split`` quietly, else at commas with a problem."""
        value = self.value(*names)
        if value is None:
            return ()
        if isinstance(value, str):
            if split is None:
                self.note("FIELD_LIST_AS_TEXT", self.written(*names))
            parts = split(value) if split else value.split(",")
            return tuple(part.strip() for part in parts if part.strip())
        if not isinstance(value, list):
            self._mistyped(names, gettext_noop("a list of texts"), value)
            return ()
        return self._items(names, value)

    def _items(self, names: tuple[str, ...], values: list[Any]) -> tuple[str, ...]:
        texts = []
        for index, value in enumerate(values):
            if isinstance(value, (str, int, float)):
                texts.append(value.strip() if isinstance(value, str) else str(value))
            elif value is not None:
                inside = Fields(self.front, self.problems, {}, (*self.place, self.written(*names)))
                inside.note(
                    "FIELD_TYPE", str(index), expected=gettext_noop("text"), found=Said(kind_of(value))
                )
        return tuple(text for text in texts if text)

    def mapping(self, *names: str) -> dict[str, Any] | None:
        value = self.value(*names)
        if value is None or isinstance(value, dict):
            return value
        self._mistyped(names, gettext_noop("a group of fields"), value)
        return None

    def inner(self, *names: str) -> Fields:
        """The fields of a group; of an empty one where there is none."""
        value = self.mapping(*names)
        return Fields(self.front, self.problems, value or {}, (*self.place, self.written(*names)))


def kind_of(value: object) -> str:
    """What a value is, in words for people."""
    if value is None:
        return gettext_noop("nothing")
    if isinstance(value, bool):
        return gettext_noop("true or false")
    if isinstance(value, (int, float)):
        return gettext_noop("a number")
    if isinstance(value, str):
        return gettext_noop("text")
    return gettext_noop("a list") if isinstance(value, list) else gettext_noop("a group of fields")
