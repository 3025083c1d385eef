from django.db import models

from worker.models.run import Run


class LogChunk(models.Model):
    """A chunk of a run's log. Chunks are only appended, so the logs of earlier attempts are kept."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="log_chunks")
    attempt = models.PositiveSmallIntegerField()
    seq = models.PositiveIntegerField()
    stream = models.CharField(max_length=6)  # stdout or stderr
    offset = models.PositiveIntegerField()  # bytes of this attempt's log before this chunk, both streams
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "attempt", "seq"], name="one_chunk_per_seq")]
