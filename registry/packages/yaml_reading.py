"""YAML narrowed to what JSON can say: no aliases, anchors, tags, duplicate keys, dates or words for booleans.

PyYAML's own scanner and parser (never the C ones) give events; values are built here, within limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from registry.packages.limits import Limits
from registry.packages.paths import shown
from registry.packages.problems import Refused, refuse

Place = tuple[str, ...]  # keys and list positions from the top
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,4})?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}


class _Events(Reader, Scanner, Parser):
    """The parser's events, under typed names."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def next(self) -> Any:
        return self.get_event()  # type: ignore[no-untyped-call]

    def at(self, kind: type[yaml.Event]) -> bool:
        return isinstance(self.peek_event(), kind)  # type: ignore[no-untyped-call]


@dataclass
class YamlReader:
    """Reads one document; ``lines`` has the line of each place, counted from ``first_line``."""

    limits: Limits
    path: str = "SKILL.md"
    first_line: int = 1
    as_text: Collection[Place] = ()  # scalars that stay text: 1.10 is not 1.1 there
    lines: dict[Place, int] = field(default_factory=dict)
    _nodes: int = 0

    def read(self, text: str) -> Any:
        """The document's value; every flaw is Refused with its line."""
        try:
            events = _Events(text)
            events.next()  # stream start
            if events.at(yaml.StreamEndEvent):
                return None
            events.next()  # document start
            value = self._value(events, (), 0)
            events.next()  # document end
            if not events.at(yaml.StreamEndEvent):
                raise self._invalid("a second document begins", events.next().start_mark)
            return value
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise self._invalid(error.problem or error.context or "it cannot be read", mark) from None
        except (ValueError, OverflowError) as error:  # \U beyond Unicode: PyYAML lets chr() complain
            raise self._invalid(str(error), None) from None
        except yaml.YAMLError as error:
            line = text.count("\n", 0, max(0, getattr(error, "position", 0)))
            raise refuse(
                "FRONT_MATTER_INVALID",
                path=self.path,
                line=self.first_line + line,
                reason=shown(getattr(error, "reason", "it cannot be read")),
            ) from None

    def _invalid(self, reason: str, mark: Any) -> Refused:
        line = self.first_line + (mark.line if mark else 0)
        return refuse("FRONT_MATTER_INVALID", path=self.path, line=line, reason=shown(reason))

    def _line(self, event: Any) -> int:
        return self.first_line + int(event.start_mark.line)

    def _refuse(self, code: str, event: Any, **params: object) -> Refused:
        return refuse(code, path=self.path, line=self._line(event), **params)

    def _value(self, events: _Events, place: Place, depth: int) -> Any:
        event = events.next()
        self._nodes += 1
        if self._nodes > self.limits.yaml_nodes:
            raise self._refuse("FRONT_MATTER_TOO_MANY", event, limit=self.limits.yaml_nodes)
        if depth > self.limits.yaml_depth:
            raise self._refuse("FRONT_MATTER_TOO_DEEP", event, limit=self.limits.yaml_depth)
        if mark := event.anchor or getattr(event, "tag", None):
            raise self._refuse("FRONT_MATTER_REFERENCE", event, text=shown(mark))
        self.lines.setdefault(place, self._line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(events, place, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self._fields(events, place, depth)
        return self._scalar(event, place)

    def _list(self, events: _Events, place: Place, depth: int) -> list[Any]:
        values: list[Any] = []
        while not events.at(yaml.SequenceEndEvent):
            values.append(self._value(events, (*place, str(len(values))), depth + 1))
        events.next()
        return values

    def _fields(self, events: _Events, place: Place, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not events.at(yaml.MappingEndEvent):
            event = events.next()
            name = self._key(event)
            here = (*place, name)
            if name in values:
                raise self._refuse("FRONT_MATTER_DUPLICATE", event, field=shown(name), first=self.lines[here])
            self.lines[here] = self._line(event)
            values[name] = self._value(events, here, depth + 1)
        events.next()
        return values

    def _key(self, event: Any) -> str:
        if isinstance(event, yaml.AliasEvent) or event.anchor or getattr(event, "tag", None):
            raise self._refuse("FRONT_MATTER_REFERENCE", event, text=shown(event.anchor or event.tag))
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refuse("FRONT_MATTER_KEY", event)
        return self._storable(event)

    def _scalar(self, event: yaml.ScalarEvent, place: Place) -> Any:
        text = self._storable(event)
        if event.style is not None:  # quoted or a block
            return text
        if text in _WORDS and (place not in self.as_text or _WORDS[text] is None):
            return _WORDS[text]
        return text if place in self.as_text else _number(text)

    def _storable(self, event: yaml.ScalarEvent) -> str:
        text = str(event.value)
        if match := _UNSTORABLE.search(text):
            raise self._refuse("TEXT_NOT_STORABLE", event, character=f"U+{ord(match.group()):04X}")
        return text


def _number(text: str) -> Any:
    """JSON numbers only; what a double or PostgreSQL could not keep stays text."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if (
        not text.lstrip("-").isdigit()
        and len(text) <= 32
        and _NUMBER.fullmatch(text)
        and math.isfinite(number := float(text))
    ):
        return number
    return text
