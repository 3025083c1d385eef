from django.conf import settings
from django.db import models

from registry.models import Version


class RuntimeChoice(models.Model):
    """The runtime that a maintainer chose for a version. Written only by ``worker.dependencies.runtimes``."""

    version = models.OneToOneField(Version, models.CASCADE, related_name="runtime_choice")
    name = models.CharField(max_length=32)
    chosen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    chosen_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name
