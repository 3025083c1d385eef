from __future__ import annotations

from django.conf import settings
from django.db import models

from registry.models.fields import DocumentField
from registry.models.identity import new_uid


class Examination(models.Model):
    """One examination of a worker's sandbox tiers; ``document`` is that of ``sandbox_doctor``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    asked_at = models.DateTimeField()
    worker = models.CharField(max_length=120, blank=True)
    started_at = models.DateTimeField(null=True)
    tier = models.CharField(max_length=16, blank=True)  # that is attacked now
    finished_at = models.DateTimeField(null=True)
    document = DocumentField(null=True)

    def __str__(self) -> str:
        return self.uid
