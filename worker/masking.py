"""Secrets of a run taken out of what it says: a courtesy to readers, no wall against a script."""

from __future__ import annotations

import base64
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote, quote_plus

from worker.sandbox.policy import Ended, OnOutput, Stream

LEAST = 4  # characters; what is shorter stands in too many words
_LONGEST = 4096  # bytes of a pattern: of a longer value its lines
_SHORT = 2048  # bytes of a piece in which to look for beginnings is quicker than to look for each pattern
_SHOWN = b"***"
_LEAST_CODED = 6  # characters of base64 that are told from any other
_OF_ADDRESSES = bytes.maketrans(b"+/", b"-_")
_OF_MARKUP = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"}


class Mask:
    """What replaces each secret: as it is, line by line, as JSON, addresses, markup and base64 write it."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        written = {form for value in values for form in _forms(value)}
        self._patterns = sorted((form for form in written if len(form) <= _LONGEST), key=len, reverse=True)
        self._longest = max(map(len, self._patterns), default=0)
        self._starts = {pattern[:LEAST] for pattern in self._patterns}
        self._beginning: dict[int, list[bytes]] = defaultdict(list)  # by their first byte
        for pattern in self._patterns:
            self._beginning[pattern[0]].append(pattern)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def text(self, said: bytes) -> bytes:
        found = self._found(said)
        return found.sub(_SHOWN, said) if found else said

    def name(self, said: str) -> str:
        """A host or a path that the script chose."""
        return self.text(said.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def _found(self, said: bytes) -> re.Pattern[bytes] | None:
        """What finds the patterns that are there: of hundreds hardly any is, and to look for one is quick."""
        if len(said) < _SHORT and self._starts.isdisjoint(
            said[at : at + LEAST] for at in range(len(said) - LEAST + 1)
        ):
            return None
        there = [re.escape(pattern) for pattern in self._patterns if pattern in said]
        return re.compile(b"|".join(there)) if there else None

    def ended(self, ended: Ended) -> Ended:
        """The end of a script with all that it answered, and the hosts that it asked for, masked."""
        if not self:
            return ended
        said = [self.text(stream) for stream in (ended.stdout, ended.stderr, ended.channel)]
        network = tuple(replace(dial, host=self.name(dial.host)) for dial in ended.network)
        return replace(ended, stdout=said[0], stderr=said[1], channel=said[2], network=network)

    def blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """A stream in pieces; a secret that lies across two of them is found."""
        waiting = b""
        for block in blocks:
            said, waiting = self._whole(waiting + block)
            yield said
        yield self.text(waiting)

    def _whole(self, said: bytes) -> tuple[bytes, bytes]:
        """What may be said now, masked, and the rest with which a secret may begin."""
        found = self._found(said)
        done = max((each.end() for each in found.finditer(said)), default=0) if found else 0
        for start in range(max(done, len(said) - self._longest + 1), len(said)):
            begun = self._beginning.get(said[start])
            if begun and any(pattern.startswith(said[start:]) for pattern in begun):
                return self.text(said[:start]), said[start:]
        return self.text(said), b""


class MaskedOutput:
    """Stands before ``on_output``; what waits for its rest is said at the end."""

    def __init__(self, mask: Mask, on_output: OnOutput) -> None:
        self._mask, self._on_output = mask, on_output
        self._waiting: dict[Stream, bytes] = {}

    def __call__(self, stream: Stream, data: bytes) -> None:
        said, self._waiting[stream] = self._mask._whole(self._waiting.get(stream, b"") + data)
        if said:
            self._on_output(stream, said)

    def close(self) -> None:
        for stream, rest in self._waiting.items():
            if rest:
                self._on_output(stream, self._mask.text(rest))
        self._waiting = {}


def _forms(value: str) -> Iterator[bytes]:
    lines = [line for line in value.splitlines() if len(line) >= 2 * LEAST] if "\n" in value else []
    for text in (value, value.strip(), *lines):
        if len(text) >= LEAST:
            yield from (form.encode() for form in _as_text(text))
            yield from _as_bytes(text.encode())


def _as_text(text: str) -> Iterator[str]:
    """As it is, as addresses and markup have it, and as programs show it: JSON, JSON within JSON, Python."""
    yield from (
        text,
        quote(text, safe=""),
        quote(text),
        quote_plus(text),
        html.escape(text),
        repr(text)[1:-1],
    )
    for ascii_alone in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_alone)[1:-1]
        yield from (once, once.replace("/", "\\/"), once.translate(_OF_MARKUP))
        yield json.dumps(once, ensure_ascii=ascii_alone)[1:-1]


def _as_bytes(data: bytes) -> Iterator[bytes]:
    """In hexadecimal, and in base64 wherever in it the text begins, as after a name in credentials."""
    yield data.hex().encode()
    yield base64.b64encode(data).rstrip(b"=")
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data)
        whole = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(whole) >= _LEAST_CODED:
            yield from (whole, whole.translate(_OF_ADDRESSES))
