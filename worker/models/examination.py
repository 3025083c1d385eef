from django.conf import settings
from django.db import models

from registry.core.leases import LeasedJob
from registry.models.fields import DocumentField
from registry.models.identity import new_uid


class Examination(LeasedJob):
    """The attack tests of a worker's sandbox tiers; ``document`` is the output of ``sandbox_doctor``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    requested_at = models.DateTimeField()
    worker = models.CharField(max_length=120, blank=True)
    tier = models.CharField(max_length=16, blank=True)  # the tier that is being tested now
    document = DocumentField(null=True)

    def __str__(self) -> str:
        return self.uid
