from __future__ import annotations

from django.db import models

from worker.models.run import Run


class LogChunk(models.Model):
    """A piece of a run's log, append-only: an earlier attempt's log stays."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="log_chunks")
    attempt = models.PositiveSmallIntegerField()
    seq = models.PositiveIntegerField()
    stream = models.CharField(max_length=6)  # stdout or stderr
    offset = models.PositiveIntegerField()  # bytes of this attempt's log before this chunk, both streams
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "attempt", "seq"], name="one_chunk_a_seq")]
