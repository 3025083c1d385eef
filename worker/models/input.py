from django.conf import settings
from django.db import models

from registry.models.identity import new_uid


class InputFile(models.Model):
    """An uploaded input file: private to its owner, removed when it expires."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()  # bytes
    digest = models.CharField(max_length=71)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)
