"""What is kept of an attempt: its log in chunks, its steps, its artifacts; the log read back by offset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from worker.artifacts import Kept
from worker.models import Artifact, LogChunk, Run, Step
from worker.protocols.call import StepTrace
from worker.sandbox.policy import Stream
from worker.states import ENDED, Claim
from worker.storable import clean, clean_text, json_text

CHUNK_BYTES = 65_536
_IN_TURNS = 5_000  # chunks of a run until the order between its two streams is no longer kept: each is a row
_LOG_READ_BYTES = 262_144
STREAM_BYTES = 1_048_576  # of stdout and of stderr in the document of a run; the log has all of both
_INSIDE_CHARACTER = bytes(range(0x80, 0xC0))


@dataclass(frozen=True)
class Piece:
    """One chunk of a log before it is stored, or as it is read back."""

    seq: int
    stream: str
    offset: int  # bytes of the attempt's log before it, both streams
    data: bytes

    @property
    def end(self) -> int:
        return self.offset + len(self.data)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True)
class LogSlice:
    """Part of an attempt's log: ask again with ``next_offset`` until ``ended``."""

    pieces: tuple[Piece, ...]
    next_offset: int
    ended: bool

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class LogBuffer:
    """Output on its way to the database: pieces of one stream are joined, no character is cut in two."""

    def __init__(self) -> None:
        self.size = 0  # bytes taken so far
        self._seq = 0
        self._waiting: list[tuple[Stream, bytearray]] = []

    def add(self, stream: Stream, data: bytes) -> None:
        near = self._waiting if self._seq + len(self._waiting) > _IN_TURNS else self._waiting[-1:]
        if held := next((held for name, held in reversed(near) if name == stream), None):
            held.extend(data)
        elif data:
            self._waiting.append((stream, bytearray(data)))

    def take(self, *, final: bool) -> list[Piece]:
        """What may be stored now; unless ``final``, the beginning of a character waits for its rest."""
        pieces: list[Piece] = []
        kept: list[tuple[Stream, bytearray]] = []
        for index, (stream, data) in enumerate(self._waiting):
            last = not final and all(later != stream for later, _ in self._waiting[index + 1 :])
            whole = len(data) - (_open_character(data) if last else 0)
            pieces += self._cut(stream, bytes(data[:whole]))
            if whole < len(data):
                kept.append((stream, data[whole:]))
        self._waiting = kept
        return pieces

    def _cut(self, stream: Stream, data: bytes) -> Iterable[Piece]:
        while data:
            end = min(CHUNK_BYTES, len(data))
            if end < len(data):
                end -= _open_character(data[:end])
            yield Piece(self._seq, stream, self.size, data[:end])
            self._seq += 1
            self.size += end
            data = data[end:]


def _open_character(data: bytes | bytearray) -> int:
    """How many bytes at the end begin a UTF-8 character that is not complete."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            return 0
    return 0


_PROGRESS = """
UPDATE worker_run SET log_bytes = %s, progress = %s WHERE id = %s AND claim_token = %s AND status = 'running'
"""
_CHUNK = """
INSERT INTO worker_logchunk (run_id, attempt, seq, stream, "offset", data) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""
_STEPS = "UPDATE worker_attempt SET steps = %s WHERE run_id = %s AND number = %s"


def write_live(
    claim: Claim,
    pieces: Sequence[Piece],
    *,
    progress: int | None,
    size: int,
    steps: Sequence[Any],
    own: Sequence[StepTrace] = (),
    first: int = 0,
) -> bool:
    """Stores what a running attempt has printed and done so far; False, and nothing, when fenced off.

    ``own`` are the run's steps that are new, ``first`` is the number of the first of them.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_PROGRESS, (size, progress, claim.run_id, claim.token))
        if cursor.rowcount == 0:
            return False
        cursor.execute(_STEPS, (json_text(list(steps)), claim.run_id, claim.attempt))
        write_log(claim, pieces)
        if own:
            write_steps(claim, own, first=first)
    return True


def write_log(claim: Claim, pieces: Sequence[Piece]) -> None:
    """Appends to the attempt's log; part of a transaction that holds the claim.

    What is there already was written by a commit of which the database's end kept the worker from hearing.
    """
    if not pieces:
        return
    rows = [(claim.run_id, claim.attempt, p.seq, p.stream, p.offset, p.data) for p in pieces]
    with connection.cursor() as cursor:
        cursor.executemany(_CHUNK, rows)


def write_steps(claim: Claim, steps: Sequence[StepTrace], *, first: int = 0) -> None:
    children = _keys_of([step.child for step in steps if step.child])
    Step.objects.bulk_create(
        (
            Step(
                run_id=claim.run_id,
                attempt=claim.attempt,
                seq=seq,
                step_id=clean_text(step.step_id)[:200],
                name=clean_text(step.name)[:200],
                input=clean(step.input),
                output=clean(step.output),
                error=clean(step.error),
                duration_ms=clean(step.duration_ms),
                timestamp=clean(step.timestamp),
                kind=step.kind,
                child_id=children.get(step.child),
            )
            for seq, step in enumerate(steps, first)
        ),
        ignore_conflicts=True,
    )


def _keys_of(uids: Sequence[str]) -> dict[str, int]:
    return dict(Run.objects.filter(uid__in=uids).values_list("uid", "pk")) if uids else {}


def write_artifacts(claim: Claim, artifacts: Sequence[Kept]) -> None:
    """An earlier attempt's artifacts give way to this one's: the list is that of the attempt that ended."""
    if claim.attempt > 1:
        Artifact.objects.filter(run_id=claim.run_id).delete()
    Artifact.objects.bulk_create(
        Artifact(run_id=claim.run_id, path=file.path, size=file.size, digest=file.digest)
        for file in artifacts
    )


def copy_records(source: Run, run: Run) -> None:
    """Gives a run that is answered from the cache its own log, steps and artifacts."""
    for chunk in LogChunk.objects.filter(run=source, attempt=source.attempt).iterator(chunk_size=16):
        chunk.pk, chunk.run = None, run
        chunk.save(force_insert=True)
    steps = Step.objects.filter(run=source, attempt=source.attempt)
    for step in steps:
        step.pk, step.run = None, run
    Step.objects.bulk_create(steps)
    Artifact.objects.bulk_create(
        Artifact(run=run, path=a.path, size=a.size, digest=a.digest) for a in source.artifacts.all()
    )


def log_after(run: Run, attempt: int, offset: int = 0, limit: int = _LOG_READ_BYTES) -> LogSlice:
    """The attempt's log from a byte offset on, whole chunks until ``limit`` bytes are reached."""
    pieces = pieces_after(run.pk, attempt, offset, limit)
    end = pieces[-1].end if pieces else offset
    return LogSlice(tuple(pieces), end, _no_more(run, attempt, end))


def pieces_after(run_id: int, attempt: int, offset: int, limit: int) -> list[Piece]:
    chunks = LogChunk.objects.filter(run_id=run_id, attempt=attempt)
    first = chunks.filter(offset__lte=offset).order_by("-offset").values_list("offset", flat=True).first()
    pieces: list[Piece] = []
    most = limit // CHUNK_BYTES + 64
    rows = (
        chunks.filter(offset__gte=first or 0).order_by("seq").values_list("seq", "stream", "offset", "data")
    )
    for seq, stream, start, data in rows[:most]:
        data = bytes(data)[max(offset - start, 0) :]
        if data:
            pieces.append(Piece(seq, stream, max(start, offset), data))
        if pieces and pieces[-1].end - offset >= limit:
            break
    return pieces


def _no_more(run: Run, attempt: int, end: int) -> bool:
    if LogChunk.objects.filter(run=run, attempt=attempt, offset__gte=end).exists():
        return False
    if attempt < run.attempt:
        return True
    row = Run.objects.filter(pk=run.pk).values("status", "log_bytes").first()
    if row is None or row["status"] not in ENDED:
        return row is None
    return attempt > run.attempt or end >= row["log_bytes"]


def streams_of(run: Run, *, most: int = STREAM_BYTES) -> tuple[str, str]:
    """The end of what the last attempt printed to stdout and to stderr, ``most`` bytes of each."""
    return _end_of(run, "stdout", most), _end_of(run, "stderr", most)


def _end_of(run: Run, stream: str, most: int) -> str:
    chunks = LogChunk.objects.filter(run=run, attempt=run.attempt, stream=stream).order_by("-seq")
    found: list[bytes] = []
    size = 0
    for data in chunks.values_list("data", flat=True).iterator(chunk_size=16):
        found.append(bytes(data))
        size += len(data)
        if size > most:
            break
    whole = b"".join(reversed(found))
    cut = whole if size <= most else whole[-most:].lstrip(_INSIDE_CHARACTER)
    return cut.decode("utf-8", "replace")
