"""Presents a run's log as numbered lines: the last lines, one page, or the lines since a position."""

from collections.abc import Iterable
from dataclasses import dataclass

from portal.presenters.content.text import log_line
from worker.core.display_budget import line_limit
from worker.models import LogChunk, Run

TAIL = 300  # number of lines that the run page shows
PAGE = 1000  # number of lines per page of the full log
_MAX_OPEN_CHUNKS = 8  # number of chunks that may wait for the end of a line
_MAX_LINE_CHARACTERS = 4000  # number of characters shown, fewer if many lines are long
_MAX_LINE_BYTES = 262_144  # number of bytes read per line, because a log can be one line
Chunk = tuple[int, str, bytes]  # seq, stream, data


@dataclass(frozen=True)
class LogLine:
    number: int  # line number within the attempt, from 1
    text: str
    stream: str  # stdout or stderr


@dataclass(frozen=True)
class LogLines:
    """Some lines of one attempt's log. ``total`` is the number of lines in the log so far.

    The next lines begin at chunk ``seq`` and have numbers from ``number`` on.
    """

    lines: tuple[LogLine, ...]
    total: int
    seq: int
    number: int

    @property
    def position(self) -> str:
        return f"{self.seq}.{self.number}"


def tail(run: Run, attempt: int, *, running: bool) -> LogLines:
    """The last ``TAIL`` lines. For a running attempt, only complete lines, so that the next request starts at
    the beginning of a line.
    """
    return _last(_read(run, attempt, 0), TAIL, running=running)


def since(run: Run, attempt: int, position: str, *, running: bool) -> LogLines:
    """The lines after ``position`` of an earlier ``LogLines``, at most the last ``PAGE`` of them.

    An invalid position means the start of the log.
    """
    seq, number = _position(position)
    return _last(_read(run, attempt, seq), PAGE, running=running, seq=seq, number=number)


def page(run: Run, attempt: int, line: int, *, running: bool) -> LogLines:
    """The page of the log that contains line number ``line``, otherwise the nearest page."""
    chunks = _showable(_read(run, attempt, 0), running)
    total = _lines(chunks, range(0))[1]
    first = (max(1, min(line, total or 1)) - 1) // PAGE * PAGE
    return _numbered(chunks, range(first, first + PAGE))


def raw(run: Run, attempt: int) -> Iterable[bytes]:
    """Yields the log's bytes as the script wrote them, standard output and standard error together."""
    for chunk in LogChunk.objects.filter(run=run, attempt=attempt).order_by("seq").iterator(chunk_size=50):
        yield bytes(chunk.data)


def _position(text: str) -> tuple[int, int]:
    seq, _dot, number = text.partition(".")
    sound = all(part.isascii() and part.isdigit() and len(part) < 10 for part in (seq, number))
    return (int(seq), int(number)) if sound else (0, 1)


def _read(run: Run, attempt: int, seq: int) -> list[Chunk]:
    rows = LogChunk.objects.filter(run=run, attempt=attempt, seq__gte=seq).order_by("seq")
    return [(n, stream, bytes(data)) for n, stream, data in rows.values_list("seq", "stream", "data")]


def _last(chunks: list[Chunk], limit: int, *, running: bool, seq: int = 0, number: int = 1) -> LogLines:
    whole = _showable(chunks, running)
    total = _lines(whole, range(0))[1]
    return _numbered(whole, range(max(0, total - limit), total), seq=seq, number=number)


def _numbered(chunks: list[Chunk], wanted: range, *, seq: int = 0, number: int = 1) -> LogLines:
    """The ``wanted`` lines of the chunks, counted from 0.

    ``number`` is the line number of the first line in ``chunks``. If ``chunks`` is empty, ``seq`` is the next
    chunk.
    """
    found, total = _lines(chunks, wanted)
    limit = line_limit([len(data) for _stream, data in found.values()], longest=_MAX_LINE_CHARACTERS)
    lines = tuple(
        LogLine(number + at, log_line(data.decode("utf-8", "replace").removesuffix("\n"))[:limit], stream)
        for at, (stream, data) in sorted(found.items())
    )
    return LogLines(lines, number - 1 + total, chunks[-1][0] + 1 if chunks else seq, number + total)


def _lines(chunks: list[Chunk], wanted: range) -> tuple[dict[int, tuple[str, bytes]], int]:
    """The wanted lines by index, each with its stream, and the total number of lines.

    Lines of both streams are counted in the order in which they begin. Other lines are not stored: a log can
    have ten million empty lines.
    """
    found: dict[int, tuple[str, bytes]] = {}
    open_at: dict[str, int] = {}  # stream → number of its unfinished line
    total = 0
    for _seq, stream, data in chunks:
        rest = data
        if stream in open_at:
            at = open_at.pop(stream)
            end = data.find(b"\n") + 1 or len(data)
            if at in wanted and len(found[at][1]) < _MAX_LINE_BYTES:
                found[at] = (stream, found[at][1] + data[:end])
            if data[end - 1 : end] != b"\n":
                open_at[stream] = at
            rest = data[end:]
        started = rest.count(b"\n") + (rest[-1:] not in (b"", b"\n"))
        if wanted.start < total + started and total < wanted.stop:
            numbered = enumerate(_split_lines(rest), total)
            found.update((at, (stream, piece)) for at, piece in numbered if at in wanted)
        total += started
        if rest[-1:] not in (b"", b"\n"):
            open_at[stream] = total - 1
    return found, total


def _split_lines(data: bytes) -> list[bytes]:
    """The lines with their newlines. ``splitlines`` would split at carriage returns, too."""
    *whole, rest = data.split(b"\n")
    return [part + b"\n" for part in whole] + ([rest] if rest else [])


def _showable(chunks: list[Chunk], running: bool) -> list[Chunk]:
    """The chunks to show. For a running attempt, omits the chunks of unfinished last lines."""
    return chunks[: _complete(chunks)] if running else chunks


def _complete(chunks: list[Chunk]) -> int:
    """The number of chunks up to the last one after which both streams end with a newline.

    A line without newline counts as complete after ``_MAX_OPEN_CHUNKS`` further chunks.
    """
    ends: dict[str, bool] = {}
    complete = 0
    for count, (_seq, stream, data) in enumerate(chunks, 1):
        ends[stream] = data.endswith(b"\n")
        if all(ends.values()) or count - complete > _MAX_OPEN_CHUNKS:
            complete = count
    return complete
