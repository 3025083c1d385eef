"""A run's log as numbered lines: the end of it first, any page of it by line, and what came since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from portal.texts import log_line
from worker.models import LogChunk, Run

TAIL = 300  # lines that the run page shows
PAGE = 1000  # lines a page of the whole log
_PATIENCE = 8  # chunks
_LONGEST = 4000  # characters of one line that are drawn


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
    return _cut(_read(run, attempt, 0), 1, running=running, most=TAIL)


def since(run: Run, attempt: int, position: str, *, running: bool) -> Lines:
    """The lines after ``position``, as an earlier answer gave it."""
    seq, number = _position(position)
    return _cut(_read(run, attempt, seq), number, running=running, most=None, seq=seq)


def page(run: Run, attempt: int, line: int, *, running: bool) -> Lines:
    """The page of the whole log that holds the line."""
    whole = _cut(_read(run, attempt, 0), 1, running=running, most=None)
    first = (max(1, min(line, whole.total or 1)) - 1) // PAGE * PAGE
    return Lines(whole.lines[first : first + PAGE], whole.total, whole.seq, whole.number)


def raw(run: Run, attempt: int) -> Iterable[bytes]:
    """The bytes as the script wrote them."""
    for chunk in LogChunk.objects.filter(run=run, attempt=attempt).order_by("seq").iterator(chunk_size=50):
        yield bytes(chunk.data)


def _position(text: str) -> tuple[int, int]:
    seq, _dot, number = text.partition(".")
    sound = all(part.isascii() and part.isdigit() and len(part) < 10 for part in (seq, number))
    return (int(seq), int(number)) if sound else (0, 1)


def _read(run: Run, attempt: int, seq: int) -> list[tuple[int, str, bytes]]:
    rows = LogChunk.objects.filter(run=run, attempt=attempt, seq__gte=seq).order_by("seq")
    return [(n, stream, bytes(data)) for n, stream, data in rows.values_list("seq", "stream", "data")]


def _cut(
    chunks: list[tuple[int, str, bytes]], number: int, *, running: bool, most: int | None, seq: int = 0
) -> Lines:
    """Lines of each stream in the order in which they began; an unfinished end waits while it runs."""
    whole = chunks[: _complete(chunks)] if running else chunks
    found: list[tuple[str, bytes]] = []
    open_at: dict[str, int] = {}  # stream → its line that has no end yet
    for _seq, stream, data in whole:
        for piece in _pieces(data):
            if stream in open_at:
                at = open_at.pop(stream)
                found[at] = (stream, found[at][1] + piece)
            else:
                at = len(found)
                found.append((stream, piece))
            if not piece.endswith(b"\n"):
                open_at[stream] = at
    kept = found[-most:] if most else found
    first = number + len(found) - len(kept)
    lines = tuple(
        Line(first + n, log_line(data.decode("utf-8", "replace").removesuffix("\n"))[:_LONGEST], stream)
        for n, (stream, data) in enumerate(kept)
    )
    return Lines(lines, number - 1 + len(found), whole[-1][0] + 1 if whole else seq, number + len(found))


def _pieces(data: bytes) -> list[bytes]:
    """Cut after each line end; ``splitlines`` would cut at a carriage return too."""
    *whole, rest = data.split(b"\n")
    return [part + b"\n" for part in whole] + ([rest] if rest else [])


def _complete(chunks: list[tuple[int, str, bytes]]) -> int:
    """How many chunks can be shown so that no line is cut in two, unless its end is long in coming."""
    ends: dict[str, bool] = {}
    complete = 0
    for count, (_seq, stream, data) in enumerate(chunks, 1):
        ends[stream] = data.endswith(b"\n")
        if all(ends.values()) or count - complete > _PATIENCE:
            complete = count
    return complete
