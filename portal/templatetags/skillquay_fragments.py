"""Fragments: templates that depend only on the values passed to them. Their HTML is kept in memory.

The HTML is kept by template, language and values. A change of a value needs other HTML, so kept HTML is never
outdated and nothing invalidates it.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from secrets import token_hex
from threading import Lock
from typing import Any

from django import template
from django.urls import get_script_prefix
from django.utils.functional import LazyObject, Promise, empty
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

register = template.Library()
MAX_BYTES = 8 * 2**20  # limit for all fragments of a process
_OVERHEAD_BYTES = 250  # memory of a fragment besides its HTML
# Values that the site's context processors add to pages. A fragment may use only those that it gets.
REQUEST_VALUES = {
    *("request", "user", "perms", "messages", "DEFAULT_MESSAGE_LEVELS", "actor", "request_id", "unsafe"),
    *("LANGUAGES", "LANGUAGE_CODE", "LANGUAGE_BIDI", "theme", "reader_zone", "here", "current_area"),
    *("waiting_approvals", "unread_notifications", "unfinished_uploads"),
}
_PLAIN = {str, type(None), int, bool, float}  # their ``repr`` also tells their types apart
_MARK = token_hex(16)  # random, so that no text of a user contains it
_TOKEN_MARK = f"{_MARK}token"


class UndeclaredValueError(Exception):
    """Raised if a fragment uses a value of the request that it did not get."""


class UnkeyableValueError(TypeError):
    """Raised for a value that is no plain value, such as a database row or a request."""


class Deferred:
    """A value of a fragment that ``make`` returns and that is made only if no HTML is kept. ``key`` is a text
    that differs for values that a template may write differently.
    """

    def __init__(self, key: str, make: Callable[[], object]) -> None:
        self.key, self.make = key, make


class _Hole:
    def __init__(self, value: Any) -> None:
        self.value = value


class FragmentStore:
    """HTML by key; the least recently used is dropped above ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._known, self._lock = max_bytes, OrderedDict[bytes, SafeString](), Lock()
        self.bytes = 0

    def find(self, key: bytes) -> SafeString | None:
        with self._lock:
            if (html := self._known.get(key)) is not None:
                self._known.move_to_end(key)
            return html

    def put(self, key: bytes, html: SafeString) -> None:
        with self._lock:
            if key in self._known:  # from another thread
                return
            self._known[key] = html
            self.bytes += _size(html)
            while self.bytes > self._max_bytes:
                self.bytes -= _size(self._known.popitem(last=False)[1])


def _size(html: str) -> int:
    return sys.getsizeof(html) + _OVERHEAD_BYTES


STORE = FragmentStore(MAX_BYTES)


@register.filter
def hole(value: object) -> _Hole:
    """A value that is inserted, escaped, into the kept HTML instead of being part of its key. The fragment's
    template can only write it, without filters.
    """
    return _Hole(value)


@register.simple_tag(takes_context=True)
def fragment(context: template.Context, template_name: str, **values: object) -> SafeString:
    """The HTML of the template with these values only, without white space around it. ``{% csrf_token %}`` in
    it writes the request's token.

    Raises ``UndeclaredValueError`` and ``UnkeyableValueError``.
    """
    key = fragment_key(template_name, values, _place(context))
    html = STORE.find(key)
    if html is None:
        html = _render(context, template_name, values)
        STORE.put(key, html)
    if _MARK not in html:
        return html
    filled: str = html
    for name, value in values.items():
        if isinstance(value, _Hole):
            filled = filled.replace(_hole_mark(name), conditional_escape(value.value))
    if _TOKEN_MARK in filled:
        filled = filled.replace(_TOKEN_MARK, str(context["csrf_token"]))
    return mark_safe(filled)


def fragment_key(template_name: str, values: Mapping[str, object], place: object = None) -> bytes:
    """A digest of all parts on which the HTML depends. ``place`` is that of ``_current_place``, if known."""
    key = (template_name, place or _current_place(), [*values], _keys(values.values()))
    return blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _current_place() -> tuple[str | None, str]:
    """The language and the prefix of all paths."""
    return get_language(), get_script_prefix()


def _place(context: template.Context) -> object:
    """The result of ``_current_place``, read once per page, because no template changes it."""
    kept: Any = context.render_context.dicts[0]
    place: object = kept.get(_current_place)
    if place is None:
        place = kept[_current_place] = _current_place()
    return place


def _key(value: object) -> object:
    """A part of the key, whose ``repr`` differs for values that a template may write differently."""
    kind: Any = type(value)
    return value if kind in _PLAIN else _key_maker(kind)(value)


def _keys(values: Iterable[object]) -> list[object]:
    return [value if type(value) in _PLAIN else _key(value) for value in values]


@lru_cache(maxsize=512)
def _key_maker(kind: Any) -> Callable[[Any], object]:
    """A function that returns the key of values of this type: its name, and the keys of their parts."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind is SafeString:
        return lambda value: (name, str.__str__(value))
    if kind is _Hole:
        return lambda value: (name,)
    if kind is Deferred:
        return lambda value: (name, value.key)
    if issubclass(kind, Promise):
        return lambda value: _key(str(value))
    if issubclass(kind, LazyObject):
        return lambda value: _key(_evaluated(value))
    if issubclass(kind, Enum):
        return lambda value: (name, value.name)
    if issubclass(kind, date):  # or datetime
        return lambda value: (name, value.isoformat())
    if issubclass(kind, tuple | list):
        return lambda value: (name, _keys(value))
    if issubclass(kind, Mapping):
        return lambda value: (name, _keys(value), _keys(value.values()))
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        if len(names) < 2:
            return lambda value: (name, [_key(getattr(value, each)) for each in names])
        parts = attrgetter(*names)
        return lambda value: (name, _keys(parts(value)))
    raise UnkeyableValueError(f"A fragment can't depend on a {kind.__name__}.")


def _evaluated(value: Any) -> object:
    if value._wrapped is empty:
        value._setup()
    return value._wrapped


class _FragmentContext(template.Context):
    """Refuses values of the request, because a missing variable is empty in a template."""

    def __getitem__(self, key: Any) -> Any:
        self._refuse_undeclared(key)
        return super().__getitem__(key)

    def get(self, key: Any, otherwise: Any = None) -> Any:
        self._refuse_undeclared(key)
        return super().get(key, otherwise)

    def _refuse_undeclared(self, key: Any) -> None:
        if key in REQUEST_VALUES and key not in self:
            raise UndeclaredValueError(f"The fragment did not get {key!r}.")


def _hole_mark(name: str) -> str:
    return f"{_MARK}-{name}-"


def _render(context: Any, template_name: str, values: Mapping[str, object]) -> SafeString:
    given = {name: _given(name, value) for name, value in values.items()}
    inner = _FragmentContext({**given, "csrf_token": _TOKEN_MARK})
    html: str = context.template.engine.get_template(template_name).render(inner)
    return mark_safe(html.strip())


def _given(name: str, value: object) -> object:
    if isinstance(value, _Hole):
        return mark_safe(_hole_mark(name))
    return value.make() if isinstance(value, Deferred) else value
