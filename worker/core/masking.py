"""Masks a run's secrets in its output. This prevents accidents; it does not stop a malicious script."""

import base64
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote, quote_plus

from worker.sandbox.policy import OnOutput, SandboxResult, Stream

MIN_LENGTH = 4  # characters; shorter values occur in too many words
_MAX_PATTERN_BYTES = 4096  # longer values are masked line by line
_SHORT = 2048  # bytes; in shorter data, comparing prefixes is faster than searching every pattern
_REPLACEMENT = b"***"
_MIN_BASE64 = 6  # characters; shorter base64 matches too much
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_ESCAPED_MARKUP = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"}


class Mask:
    """Masks secrets and their longer lines, plain and encoded, for example as JSON, URL, markup or base64.

    Values of less than ``MIN_LENGTH`` characters are not masked.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        written = {form for value in values for form in _forms(value)}
        self._patterns = sorted(
            (form for form in written if len(form) <= _MAX_PATTERN_BYTES), key=len, reverse=True
        )
        self._longest = max(map(len, self._patterns), default=0)
        self._starts = {pattern[:MIN_LENGTH] for pattern in self._patterns}
        self._beginning: dict[int, list[bytes]] = defaultdict(list)  # the patterns by their first byte
        for pattern in self._patterns:
            self._beginning[pattern[0]].append(pattern)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def mask(self, data: bytes) -> bytes:
        pattern = self._pattern_in(data)
        return pattern.sub(_REPLACEMENT, data) if pattern else data

    def mask_name(self, data: str) -> str:
        """The text, such as a host or a path, with its secrets masked."""
        return self.mask(data.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def _pattern_in(self, data: bytes) -> re.Pattern[bytes] | None:
        """A regular expression of the patterns that occur in ``data``; None if no pattern does.

        Usually none of hundreds of patterns occurs, and substring searches are faster than one large
        expression.
        """
        if len(data) < _SHORT and self._starts.isdisjoint(
            data[at : at + MIN_LENGTH] for at in range(len(data) - MIN_LENGTH + 1)
        ):
            return None
        there = [re.escape(pattern) for pattern in self._patterns if pattern in data]
        return re.compile(b"|".join(there)) if there else None

    def mask_result(self, result: SandboxResult) -> SandboxResult:
        """The sandbox result with stdout, stderr, answer and host names masked."""
        if not self:
            return result
        data = [self.mask(stream) for stream in (result.stdout, result.stderr, result.channel)]
        network = tuple(replace(dial, host=self.mask_name(dial.host)) for dial in result.network)
        return replace(result, stdout=data[0], stderr=data[1], channel=data[2], network=network)

    def mask_blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the blocks masked, including secrets that span several blocks."""
        waiting = b""
        for block in blocks:
            data, waiting = self.split_complete(waiting + block)
            yield data
        yield self.mask(waiting)

    def split_complete(self, data: bytes) -> tuple[bytes, bytes]:
        """The masked data, and the unmasked rest at its end that may begin a secret."""
        pattern = self._pattern_in(data)
        done = max((each.end() for each in pattern.finditer(data)), default=0) if pattern else 0
        for start in range(max(done, len(data) - self._longest + 1), len(data)):
            candidates = self._beginning.get(data[start])
            if candidates and any(pattern.startswith(data[start:]) for pattern in candidates):
                return self.mask(data[:start]), data[start:]
        return self.mask(data), b""


class MaskedOutput:
    """A callable that masks output and passes it to ``on_output``; secrets may span several calls.

    Data that may begin a secret is kept until the next call or ``close``.
    """

    def __init__(self, mask: Mask, on_output: OnOutput) -> None:
        self._mask, self._on_output = mask, on_output
        self._waiting: dict[Stream, bytes] = {}

    def __call__(self, stream: Stream, data: bytes) -> None:
        data, self._waiting[stream] = self._mask.split_complete(self._waiting.get(stream, b"") + data)
        if data:
            self._on_output(stream, data)

    def close(self) -> None:
        for stream, rest in self._waiting.items():
            if rest:
                self._on_output(stream, self._mask.mask(rest))
        self._waiting = {}


def _forms(value: str) -> Iterator[bytes]:
    lines = [line for line in value.splitlines() if len(line) >= 2 * MIN_LENGTH] if "\n" in value else []
    for text in (value, value.strip(), *lines):
        if len(text) >= MIN_LENGTH:
            yield from (form.encode() for form in _text_forms(text))
            yield from _byte_forms(text.encode())


def _text_forms(text: str) -> Iterator[str]:
    """Yields the text in its forms: unchanged, in URLs and markup, and as printed in JSON, nested JSON and
    Python.
    """
    yield from (
        text,
        quote(text, safe=""),
        quote(text),
        quote_plus(text),
        html.escape(text),
        repr(text)[1:-1],
    )
    for ensure_ascii in (True, False):
        once = json.dumps(text, ensure_ascii=ensure_ascii)[1:-1]
        yield from (once, once.replace("/", "\\/"), once.translate(_ESCAPED_MARKUP))
        yield json.dumps(once, ensure_ascii=ensure_ascii)[1:-1]


def _byte_forms(data: bytes) -> Iterator[bytes]:
    """Yields the bytes in hexadecimal, and in base64 at each alignment, because a user name may precede the
    secret.
    """
    yield data.hex().encode()
    yield base64.b64encode(data).rstrip(b"=")
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data)
        whole = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(whole) >= _MIN_BASE64:
            yield from (whole, whole.translate(_URL_SAFE))
