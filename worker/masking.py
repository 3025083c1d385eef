"""Secrets of a run taken out of what it says: a courtesy to readers, no wall against a script."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote

from worker.sandbox.policy import Ended, OnOutput, Stream

LEAST = 4  # characters; what is shorter stands in too many words
_LONGEST = 4096  # bytes of a pattern: of a longer value its lines
_SHOWN = b"***"


class Mask:
    """What replaces each secret: as it is, line by line, as JSON, addresses and base64 write it."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        written = {form for value in values for form in _forms(value)}
        self._patterns = sorted((form for form in written if len(form) <= _LONGEST), key=len, reverse=True)
        self._any = re.compile(b"|".join(map(re.escape, self._patterns))) if self._patterns else None

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def text(self, said: bytes) -> bytes:
        return self._any.sub(_SHOWN, said) if self._any else said

    def ended(self, ended: Ended) -> Ended:
        """The end of a script with all that it answered masked."""
        if not self:
            return ended
        said = [self.text(stream) for stream in (ended.stdout, ended.stderr, ended.channel)]
        return replace(ended, stdout=said[0], stderr=said[1], channel=said[2])

    def blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """A stream in pieces; a secret that lies across two of them is found."""
        waiting = b""
        for block in blocks:
            said, waiting = self._whole(waiting + block)
            yield said
        yield self.text(waiting)

    def _whole(self, said: bytes) -> tuple[bytes, bytes]:
        """What may be said now, masked, and the rest with which a secret may begin."""
        end = len(said)
        ends = [found.end() for found in self._any.finditer(said)] if self._any else []
        for pattern in self._patterns:
            start = max(len(said) - len(pattern) + 1, ends[-1] if ends else 0)
            while (start := said.find(pattern[:1], start, end)) != -1:
                if pattern.startswith(said[start:]):
                    end = start
                    break
                start += 1
        return self.text(said[:end]), said[end:]


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
            yield text.encode()
            yield json.dumps(text)[1:-1].encode()
            yield json.dumps(text, ensure_ascii=False)[1:-1].encode()
            yield quote(text, safe="").encode()
            yield base64.b64encode(text.encode()).rstrip(b"=")
