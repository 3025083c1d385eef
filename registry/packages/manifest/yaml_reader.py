"""Reads a YAML subset equivalent to JSON.

Aliases, anchors, tags and duplicate keys are refused; dates and yes/no stay text. PyYAML's pure Python
scanner and parser produce events. This module builds values from them, within limits.
"""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from registry.packages import errors
from registry.packages.archive.paths import printable
from registry.packages.limits import Limits
from registry.packages.problems import Refusal, gettext_noop

KeyPath = tuple[str, ...]  # keys and list indexes from the top
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,4})?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}


class _Events(Reader, Scanner, Parser):
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
    """Reads one YAML document. ``read`` sets the ``lines`` of all key paths, counted from ``first_line``."""

    limits: Limits
    path: str = "SKILL.md"
    first_line: int = 1
    as_text: Collection[KeyPath] = ()  # key paths of scalars that stay text, so that 1.10 does not become 1.1
    lines: dict[KeyPath, int] = field(default_factory=dict)
    _nodes: int = 0

    def read(self, text: str) -> Any:
        """The value of the document; None if the document is empty.

        Raises Refusal for the first error, at its line, or at ``first_line`` if PyYAML reports no line.
        """
        try:
            events = _Events(text)
            events.next()  # stream start
            if events.at(yaml.StreamEndEvent):
                return None
            events.next()  # document start
            value = self._value(events, (), 0)
            events.next()  # document end
            if not events.at(yaml.StreamEndEvent):
                raise self._invalid(gettext_noop("a second document begins"), events.next().start_mark)
            return value
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise self._invalid(
                error.problem or error.context or gettext_noop("it cannot be read"), mark
            ) from None
        # a \U escape above Unicode's range makes chr() fail inside PyYAML
        except (ValueError, OverflowError) as error:
            raise self._invalid(str(error), None) from None
        except yaml.YAMLError as error:
            line = text.count("\n", 0, max(0, getattr(error, "position", 0)))
            raise errors.FRONT_MATTER_INVALID.refusal(
                reason=printable(getattr(error, "reason", gettext_noop("it cannot be read")))
            ).at(self.path, self.first_line + line) from None

    def _invalid(self, reason: str, mark: Any) -> Refusal:
        line = self.first_line + (mark.line if mark else 0)
        return errors.FRONT_MATTER_INVALID.refusal(reason=printable(reason)).at(self.path, line)

    def _line(self, event: Any) -> int:
        return self.first_line + int(event.start_mark.line)

    def _place(self, event: Any) -> tuple[str, int]:
        return self.path, self._line(event)

    def _value(self, events: _Events, key_path: KeyPath, depth: int) -> Any:
        event = events.next()
        self._nodes += 1
        if self._nodes > self.limits.yaml_nodes:
            raise errors.FRONT_MATTER_TOO_MANY.refusal(limit=self.limits.yaml_nodes).at(*self._place(event))
        if depth > self.limits.yaml_depth:
            raise errors.FRONT_MATTER_TOO_DEEP.refusal(limit=self.limits.yaml_depth).at(*self._place(event))
        if mark := event.anchor or getattr(event, "tag", None):
            raise errors.FRONT_MATTER_REFERENCE.refusal(text=printable(mark)).at(*self._place(event))
        self.lines.setdefault(key_path, self._line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(events, key_path, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self._fields(events, key_path, depth)
        return self._scalar(event, key_path)

    def _list(self, events: _Events, key_path: KeyPath, depth: int) -> list[Any]:
        values: list[Any] = []
        while not events.at(yaml.SequenceEndEvent):
            values.append(self._value(events, (*key_path, str(len(values))), depth + 1))
        events.next()
        return values

    def _fields(self, events: _Events, key_path: KeyPath, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not events.at(yaml.MappingEndEvent):
            event = events.next()
            name = self._key(event)
            child_path = (*key_path, name)
            if name in values:
                raise errors.FRONT_MATTER_DUPLICATE.refusal(
                    field=printable(name), first=self.lines[child_path]
                ).at(*self._place(event))
            self.lines[child_path] = self._line(event)
            values[name] = self._value(events, child_path, depth + 1)
        events.next()
        return values

    def _key(self, event: Any) -> str:
        if isinstance(event, yaml.AliasEvent) or event.anchor or getattr(event, "tag", None):
            raise errors.FRONT_MATTER_REFERENCE.refusal(text=printable(event.anchor or event.tag)).at(
                *self._place(event)
            )
        if not isinstance(event, yaml.ScalarEvent):
            raise errors.FRONT_MATTER_KEY.refusal().at(*self._place(event))
        return self._storable(event)

    def _scalar(self, event: yaml.ScalarEvent, key_path: KeyPath) -> Any:
        text = self._storable(event)
        if event.style is not None:  # a quoted or block scalar
            return text
        if text in _WORDS and (key_path not in self.as_text or _WORDS[text] is None):
            return _WORDS[text]
        return text if key_path in self.as_text else _number(text)

    def _storable(self, event: yaml.ScalarEvent) -> str:
        text = str(event.value)
        if match := _UNSTORABLE.search(text):
            raise errors.TEXT_NOT_STORABLE.refusal(character=f"U+{ord(match.group()):04X}").at(
                *self._place(event)
            )
        return text


def _number(text: str) -> Any:
    """The number if the text is a JSON number, otherwise the text.

    Integers of more than 18 digits and other numbers of more than 32 characters stay text.
    """
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
