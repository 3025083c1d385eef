from django.db import models


class RateCount(models.Model):
    """Requests of one caller that count against one rate limit until ``ends_at``, in Unix seconds."""

    key = models.CharField(max_length=120, primary_key=True)
    count = models.BigIntegerField()
    ends_at = models.BigIntegerField(db_index=True)
