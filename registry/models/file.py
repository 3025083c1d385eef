from django.db import models

from registry.models.version import Version


class File(models.Model):
    """A file of a version. Its bytes are in the version's archive."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    size = models.PositiveIntegerField()  # bytes
    digest = models.CharField(max_length=71)  # "sha256:…"
    is_text = models.BooleanField()
    executable = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "path"], name="one_path_per_version")]
