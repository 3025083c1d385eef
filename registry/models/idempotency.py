from django.db import models

from registry.models.fields import DocumentField


class IdempotencyKey(models.Model):
    """The stored response to a POST with an ``Idempotency-Key``. For 24 hours, the same caller gets this
    response to the same request.
    """

    caller = models.CharField(max_length=64)
    key = models.CharField(max_length=200)
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.BinaryField()
    content_type = models.CharField(max_length=100, blank=True)
    headers = DocumentField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="one_key_per_caller")]
