from django.db import models

from registry.models.fields import DocumentField


class ProcessKind(models.TextChoices):
    WORKER = "worker"
    REAPER = "reaper"


class ServiceProcess(models.Model):
    """A worker or reaper process. Written only by ``worker.health.heartbeats``."""

    name = models.CharField(max_length=160, unique=True)
    kind = models.CharField(max_length=8, choices=ProcessKind.choices)
    version = models.CharField(max_length=64)  # version of its code
    slots = models.PositiveSmallIntegerField(default=0)
    busy = models.PositiveSmallIntegerField(default=0)
    details = DocumentField(default=dict)  # {tier, reason, fix, enforcement, disk_free, disk_total}
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()  # according to the database's clock

    def __str__(self) -> str:
        return self.name
