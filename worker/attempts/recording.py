"""Stores an attempt's log, steps and artifacts, and reads the log by offset."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from worker.attempts import sql
from worker.core.storable import clean, clean_text, json_text
from worker.files.artifacts import StoredArtifact
from worker.models import Artifact, LogChunk, Run, Step
from worker.protocols.call import StepTrace
from worker.queue.claims import Claim
from worker.queue.states import ENDED
from worker.sandbox.policy import Stream

CHUNK_BYTES = 65_536
# Number of pieces, one row each; later output is not interleaved between stdout and stderr.
_MAX_INTERLEAVED_CHUNKS = 5_000
_DEFAULT_LOG_BYTES = 262_144
STREAM_BYTES = 1_048_576  # size of each of stdout and stderr in a run's document; the log is complete
_UTF8_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


@dataclass(frozen=True)
class LogPiece:
    """A chunk of a log, before it is stored or after it is read."""

    seq: int
    stream: str
    offset: int  # offset of this piece in the attempt's log of both streams, in bytes
    data: bytes

    @property
    def end(self) -> int:
        return self.offset + len(self.data)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True)
class LogSlice:
    """Part of an attempt's log; the next part begins at ``next_offset``, unless ``ended``."""

    pieces: tuple[LogPiece, ...]
    next_offset: int
    ended: bool

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class LogBuffer:
    """Buffers output for the database: joins pieces of one stream and never splits a character."""

    def __init__(self) -> None:
        self.size = 0  # number of bytes that ``take`` has returned
        self._seq = 0
        self._waiting: list[tuple[Stream, bytearray]] = []

    def add(self, stream: Stream, data: bytes) -> None:
        candidates = (
            self._waiting if self._seq + len(self._waiting) > _MAX_INTERLEAVED_CHUNKS else self._waiting[-1:]
        )
        if buffer := next((buffer for name, buffer in reversed(candidates) if name == stream), None):
            buffer.extend(data)
        elif data:
            self._waiting.append((stream, bytearray(data)))

    def take(self, *, final: bool) -> list[LogPiece]:
        """Removes and returns the storable pieces. Unless ``final``, keeps an incomplete character for the
        next call.
        """
        pieces: list[LogPiece] = []
        remaining: list[tuple[Stream, bytearray]] = []
        for index, (stream, data) in enumerate(self._waiting):
            last = not final and all(later != stream for later, _ in self._waiting[index + 1 :])
            whole = len(data) - (_count_incomplete_character(data) if last else 0)
            pieces += self._cut(stream, bytes(data[:whole]))
            if whole < len(data):
                remaining.append((stream, data[whole:]))
        self._waiting = remaining
        return pieces

    def _cut(self, stream: Stream, data: bytes) -> Iterable[LogPiece]:
        while data:
            end = min(CHUNK_BYTES, len(data))
            if end < len(data):
                end -= _count_incomplete_character(data[:end])
            yield LogPiece(self._seq, stream, self.size, data[:end])
            self._seq += 1
            self.size += end
            data = data[end:]


def _count_incomplete_character(data: bytes | bytearray) -> int:
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            return 0
    return 0


def write_live(
    claim: Claim,
    pieces: Sequence[LogPiece],
    *,
    progress: int | None,
    size: int,
    steps: Sequence[Any],
    skill_steps: Sequence[StepTrace] = (),
    first_seq: int = 0,
) -> bool:
    """Stores log, progress and steps of a running attempt.

    If its claim was lost, stores nothing and returns False. ``size`` is the length of the full log in bytes,
    ``steps`` are all steps of the platform. ``skill_steps`` are only the skill's new steps, and ``first_seq``
    is the ``seq`` of the first of them.
    """
    with transaction.atomic():
        if not sql.update_progress(claim.run_id, claim.token, log_bytes=size, progress=progress):
            return False
        sql.update_steps(claim.run_id, claim.attempt, json_text(list(steps)))
        write_log(claim, pieces)
        if skill_steps:
            write_steps(claim, skill_steps, first_seq=first_seq)
    return True


def write_log(claim: Claim, pieces: Sequence[LogPiece]) -> None:
    """Appends to the attempt's log; the caller's transaction must hold the claim.

    Ignores chunks that exist: after a commit whose confirmation was lost, the same chunks are written again.
    """
    sql.insert_log_chunks((claim.run_id, claim.attempt, p.seq, p.stream, p.offset, p.data) for p in pieces)


def write_steps(claim: Claim, steps: Sequence[StepTrace], *, first_seq: int = 0) -> None:
    children = _load_run_keys([step.child for step in steps if step.child])
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
            for seq, step in enumerate(steps, first_seq)
        ),
        ignore_conflicts=True,
    )


def _load_run_keys(uids: Sequence[str]) -> dict[str, int]:
    return dict(Run.objects.filter(uid__in=uids).values_list("uid", "pk")) if uids else {}


def write_artifacts(claim: Claim, artifacts: Sequence[StoredArtifact]) -> None:
    """Stores the attempt's artifacts and deletes those of earlier attempts."""
    if claim.attempt > 1:
        Artifact.objects.filter(run_id=claim.run_id).delete()
    Artifact.objects.bulk_create(
        Artifact(
            run_id=claim.run_id, team_key=claim.team_id, path=file.path, size=file.size, digest=file.digest
        )
        for file in artifacts
    )


def copy_records(source: Run, run: Run) -> None:
    """Copies log, steps and artifacts of the last attempt of ``source`` to ``run``."""
    for chunk in LogChunk.objects.filter(run=source, attempt=source.attempt).iterator(chunk_size=16):
        chunk.pk, chunk.run = None, run
        chunk.save(force_insert=True)
    steps = Step.objects.filter(run=source, attempt=source.attempt)
    for step in steps:
        step.pk, step.run = None, run
    Step.objects.bulk_create(steps)
    Artifact.objects.bulk_create(
        Artifact(run=run, team_key=run.team_id, path=a.path, size=a.size, digest=a.digest)
        for a in source.artifacts.all()
    )


def read_log(run: Run, attempt: int, offset: int = 0, limit: int = _DEFAULT_LOG_BYTES) -> LogSlice:
    """The attempt's log from byte ``offset`` to the end of the first chunk that reaches ``limit`` bytes."""
    pieces = read_log_pieces(run.pk, attempt, offset, limit)
    end = pieces[-1].end if pieces else offset
    return LogSlice(tuple(pieces), end, _is_log_complete(run, attempt, end))


def read_log_pieces(run_id: int, attempt: int, offset: int, limit: int) -> list[LogPiece]:
    chunks = LogChunk.objects.filter(run_id=run_id, attempt=attempt)
    first = chunks.filter(offset__lte=offset).order_by("-offset").values_list("offset", flat=True).first()
    pieces: list[LogPiece] = []
    max_rows = limit // CHUNK_BYTES + 64
    rows = (
        chunks.filter(offset__gte=first or 0).order_by("seq").values_list("seq", "stream", "offset", "data")
    )
    for seq, stream, start, data in rows[:max_rows]:
        data = bytes(data)[max(offset - start, 0) :]
        if data:
            pieces.append(LogPiece(seq, stream, max(start, offset), data))
        if pieces and pieces[-1].end - offset >= limit:
            break
    return pieces


def _is_log_complete(run: Run, attempt: int, end: int) -> bool:
    if LogChunk.objects.filter(run=run, attempt=attempt, offset__gte=end).exists():
        return False
    if attempt < run.attempt:
        return True
    row = Run.objects.filter(pk=run.pk).values("status", "log_bytes").first()
    if row is None or row["status"] not in ENDED:
        return row is None
    return attempt > run.attempt or end >= row["log_bytes"]


def read_stream_ends(run: Run, *, max_bytes: int = STREAM_BYTES) -> tuple[str, str]:
    """The last ``max_bytes`` of stdout and of stderr of the last attempt, each decoded as UTF-8."""
    return _read_stream_end(run, "stdout", max_bytes), _read_stream_end(run, "stderr", max_bytes)


def _read_stream_end(run: Run, stream: str, max_bytes: int) -> str:
    chunks = LogChunk.objects.filter(run=run, attempt=run.attempt, stream=stream).order_by("-seq")
    chunks_read: list[bytes] = []
    size = 0
    for data in chunks.values_list("data", flat=True).iterator(chunk_size=16):
        chunks_read.append(bytes(data))
        size += len(data)
        if size > max_bytes:
            break
    whole = b"".join(reversed(chunks_read))
    cut = whole if size <= max_bytes else whole[-max_bytes:].lstrip(_UTF8_CONTINUATION_BYTES)
    return cut.decode("utf-8", "replace")
