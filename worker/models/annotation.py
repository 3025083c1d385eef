from django.conf import settings
from django.db import models

from registry.models.fields import BytewiseCharField
from registry.models.identity import new_uid
from worker.models.run import Run


class RunLabel(models.Model):
    """A label of a run. Written only by ``worker.annotations``."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="labels")
    name = BytewiseCharField(max_length=40)  # stored in lower case

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_label_per_run_and_name")]
        indexes = [models.Index(fields=["name", "run"], name="run_label_name")]

    def __str__(self) -> str:
        return str(self.name)


class RunNote(models.Model):
    """A note on a run, visible to everyone who can read the run's content."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="run_notes")
    text = models.TextField()
    created_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.uid
