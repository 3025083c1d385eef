from django.db import models

from registry.models.fields import DocumentField
from worker.models.run import Run, RunStatus


class Attempt(models.Model):
    """One claimed execution of a run. ``steps`` are the platform's steps, such as unpack and execute."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    worker = models.CharField(max_length=120)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=16, choices=RunStatus.choices, default=RunStatus.RUNNING)
    failure_code = models.CharField(max_length=64, blank=True)
    steps = DocumentField(default=list)
    sandbox = DocumentField(default=dict)
    network = DocumentField(default=list)  # worker.sandbox.policy.HostAccess documents

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_row_per_attempt")]
