"""SQL that stores the progress, steps and log of a running attempt.

The statements bypass the ORM, which would build them again for every call.
"""

from collections.abc import Iterable

from registry.core.sql import execute, insert_rows
from worker.models import LogChunk

_PROGRESS = """
UPDATE worker_run SET log_bytes = %s, progress = %s WHERE id = %s AND claim_token = %s AND status = 'running'
"""
_STEPS = "UPDATE worker_attempt SET steps = %s WHERE run_id = %s AND number = %s"
_LOG_COLUMNS = ("run_id", "attempt", "seq", "stream", "offset", "data")


def update_progress(run_id: int, token: str, *, log_bytes: int, progress: int | None) -> bool:
    """Stores log size and progress (percent) of a claimed run; returns False if the claim no longer holds."""
    return bool(execute(_PROGRESS, (log_bytes, progress, run_id, token)))


def update_steps(run_id: int, attempt: int, steps: str) -> None:
    """Stores the platform's steps (a JSON list) of the attempt."""
    execute(_STEPS, (steps, run_id, attempt))


def insert_log_chunks(chunks: Iterable[tuple[int, int, int, str, int, bytes]]) -> None:
    """Appends chunks (run id, attempt, seq, stream, offset, data) to logs; ignores chunks that exist."""
    insert_rows(LogChunk, _LOG_COLUMNS, chunks, on_conflict="ON CONFLICT DO NOTHING")
