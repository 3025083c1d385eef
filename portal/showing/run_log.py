"""A run's log as numbered lines: the end of it first, any page of it by line, and what came since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from portal.showing.texts import log_line
from worker.models import LogChunk, Run

TAIL = 300  # lines that the run page shows
PAGE = 1000  # lines a page of the whole log
_PATIENCE = 8  # chunks
_LONGEST = 4000  # characters of one line that are drawn
_MOST_OF_A_LINE = 262_144  # bytes that are read of it: a log can be one line
Chunk = tuple[int, str, bytes]  # seq, stream, data


@dataclass(frozen=True)
class Line:
    number: int  # from 1 within its attempt
    text: str
    stream: str  # stdout or stderr


@dataclass(frozen=True)
class Lines:
    """Some lines of one attempt's log. ``seq`` and ``number`` are where the next ones begin."""

    lines: tuple[Line, ...]
    total: int
    seq: int
    number: int

    @property
    def position(self) -> str:
        return f"{self.seq}.{self.number}"


def tail(run: Run, attempt: int, *, running: bool) -> Lines:
    """The last lines; of a running attempt only whole ones, so that the next look continues cleanly."""
    return _last(_read(run, attempt, 0), TAIL, running=running)


def since(run: Run, attempt: int, position: str, *, running: bool) -> Lines:
    """The lines after ``position``, as an earlier answer gave it; of very many the last."""
    seq, number = _position(position)
    return _last(_read(run, attempt, seq), PAGE, running=running, seq=seq, number=number)


def page(run: Run, attempt: int, line: int, *, running: bool) -> Lines:
    """The page of the whole log that holds the line."""
    chunks = _whole(_read(run, attempt, 0), running)
    total = _lines(chunks, range(0))[1]
    first = (max(1, min(line, total or 1)) - 1) // PAGE * PAGE
    return _drawn(chunks, range(first, first + PAGE))


def raw(run: Run, attempt: int) -> Iterable[bytes]:
    """The bytes as the script wrote them."""
    for chunk in LogChunk.objects.filter(run=run, attempt=attempt).order_by("seq").iterator(chunk_size=50):
        yield bytes(chunk.data)


def _position(text: str) -> tuple[int, int]:
    seq, _dot, number = text.partition(".")
    sound = all(part.isascii() and part.isdigit() and len(part) < 10 for part in (seq, number))
    return (int(seq), int(number)) if sound else (0, 1)


def _read(run: Run, attempt: int, seq: int) -> list[Chunk]:
    rows = LogChunk.objects.filter(run=run, attempt=attempt, seq__gte=seq).order_by("seq")
    return [(n, stream, bytes(data)) for n, stream, data in rows.values_list("seq", "stream", "data")]


def _last(chunks: list[Chunk], most: int, *, running: bool, seq: int = 0, number: int = 1) -> Lines:
    whole = _whole(chunks, running)
    total = _lines(whole, range(0))[1]
    return _drawn(whole, range(max(0, total - most), total), seq=seq, number=number)


def _drawn(chunks: list[Chunk], wanted: range, *, seq: int = 0, number: int = 1) -> Lines:
    """The wanted lines, counted from 0, of chunks whose first line is ``number``."""
    found, total = _lines(chunks, wanted)
    lines = tuple(
        Line(number + at, log_line(data.decode("utf-8", "replace").removesuffix("\n"))[:_LONGEST], stream)
        for at, (stream, data) in sorted(found.items())
    )
    return Lines(lines, number - 1 + total, chunks[-1][0] + 1 if chunks else seq, number + total)


def _lines(chunks: list[Chunk], wanted: range) -> tuple[dict[int, tuple[str, bytes]], int]:
    """The wanted lines of both streams, in the order in which they began, and how many there are.

    The others are counted, never made: a log can be ten million empty lines.
    """
    found: dict[int, tuple[str, bytes]] = {}
    open_at: dict[str, int] = {}  # stream → its line that has no end yet
    total = 0
    for _seq, stream, data in chunks:
        rest = data
        if stream in open_at:
            at = open_at.pop(stream)
            end = data.find(b"\n") + 1 or len(data)
            if at in wanted and len(found[at][1]) < _MOST_OF_A_LINE:
                found[at] = (stream, found[at][1] + data[:end])
            if data[end - 1 : end] != b"\n":
                open_at[stream] = at
            rest = data[end:]
        begun = rest.count(b"\n") + (rest[-1:] not in (b"", b"\n"))
        if wanted.start < total + begun and total < wanted.stop:
            numbered = enumerate(_pieces(rest), total)
            found.update((at, (stream, piece)) for at, piece in numbered if at in wanted)
        total += begun
        if rest[-1:] not in (b"", b"\n"):
            open_at[stream] = total - 1
    return found, total


def _pieces(data: bytes) -> list[bytes]:
    """Cut after each line end; ``splitlines`` would cut at a carriage return too."""
    *whole, rest = data.split(b"\n")
    return [part + b"\n" for part in whole] + ([rest] if rest else [])


def _whole(chunks: list[Chunk], running: bool) -> list[Chunk]:
    """Of a running attempt the chunks that can be shown: an unfinished end waits."""
    return chunks[: _complete(chunks)] if running else chunks


def _complete(chunks: list[Chunk]) -> int:
    """How many chunks can be shown so that no line is cut in two, unless its end is long in coming."""
    ends: dict[str, bool] = {}
    complete = 0
    for count, (_seq, stream, data) in enumerate(chunks, 1):
        ends[stream] = data.endswith(b"\n")
        if all(ends.values()) or count - complete > _PATIENCE:
            complete = count
    return complete
