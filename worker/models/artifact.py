from django.db import models

from registry.models.identity import new_uid
from worker.models.run import Run


class Artifact(models.Model):
    """A file that a run wrote; its content is stored under the digest."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="artifacts")
    team_key = models.BigIntegerField(null=True)  # primary key of the run's team, for sums by team
    path = models.CharField(max_length=500)
    size = models.PositiveBigIntegerField()  # bytes
    digest = models.CharField(max_length=71)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="one_artifact_per_path")]
        indexes = [models.Index(fields=["team_key", "size"], name="artifact_team")]
