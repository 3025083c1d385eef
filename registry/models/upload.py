from django.conf import settings
from django.db import models

from registry.models.identity import new_uid


class ResumableUpload(models.Model):
    """A file that its owner uploads in chunks, until it expires. Only ``registry.uploads`` writes it."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()  # bytes of the whole file
    received = models.PositiveBigIntegerField(default=0)  # bytes
    key = models.CharField(max_length=300, blank=True)  # identifies the file for its owner
    expected_digest = models.CharField(max_length=71, blank=True)
    digest = models.CharField(max_length=71, blank=True)  # of the whole file; "" until all chunks are joined
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)


class UploadChunk(models.Model):
    """A part of an upload. Its blob is kept until the chunks are joined."""

    upload = models.ForeignKey(ResumableUpload, models.CASCADE, related_name="chunks")
    offset = models.PositiveBigIntegerField()  # bytes before the chunk
    digest = models.CharField(max_length=71)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["upload", "offset"], name="one_chunk_per_offset")]
