from django.db import models


class RateCount(models.Model):
    """The requests that count against one rate limit of a caller until ``ends_at`` (Unix seconds)."""

    key = models.CharField(max_length=120, primary_key=True)
    count = models.BigIntegerField()
    ends_at = models.BigIntegerField(db_index=True)
